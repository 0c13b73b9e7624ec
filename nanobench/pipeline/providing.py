"""The provider of one cell, as the agent gets it: through the gateway, or directly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.redirect import can_redirect, redirected
from nanobench.agent.gateway.server import Gateway
from nanobench.agent.gateway.substitution import Locations
from nanobench.agent.scripted.behaviours import script_for
from nanobench.model.plan import Cell, ModelRef
from nanobench.pipeline.bench import SCRIPTED, Bench, Material
from nanobench.pipeline.taping import Line, cassette_of, live_line, replayed_line

Seen = tuple[Exchange, ...] | None


@dataclass(frozen=True)
class Provided:
    """A provider that is ready to be asked.

    Attributes:
        provider: Nanocoder's provider object, without secrets when the gateway holds them.
        name: stands for its address where two runs must say the same; null: the user's own.
        exchanges: what was asked so far; null when nobody counts.
        finish: ends what is still under way, and returns all exchanges; to be called once.
    """

    provider: dict[str, Any]
    name: str | None
    exchanges: Callable[[], Seen]
    finish: Callable[[], Seen]

    def without_address(self, text: str) -> str:
        """Take out a port and a key that no two runs share."""
        return text.replace(self.provider["baseUrl"], f"http://{self.name}") if self.name else text


def scripted_provider(url: str) -> dict[str, Any]:
    """Nanocoder's provider object for the scripted server at `url`."""
    return {"name": SCRIPTED, "baseUrl": url, "apiKey": "none", "models": []}


def goes_through_gateway(model: ModelRef, bench: Bench) -> bool:
    """Whether the gateway stands between the agent and this model's provider."""
    if bench.gateway is None:
        return False
    if bench.taping.replay is not None or model.provider == SCRIPTED:
        return True
    return can_redirect(bench.provider(model.provider))


@contextmanager
def provided(
    cell: Cell,
    material: Material,
    bench: Bench,
    locations: Locations,
    socket: Path | None = None,
) -> Iterator[Provided]:
    """The cell's provider, for as long as the agent runs at `locations`.

    Args:
        socket: where the gateway, if the cell has one, is to be the agent's only way out.

    Raises:
        InvalidInputError: the provider's description, or the cell's cassette, cannot be used.
        InfrastructureError: the socket cannot be made.
    """
    taping = bench.taping
    if taping.replay is not None and bench.gateway is not None:
        cassette = cassette_of(cell, taping.replay)
        line = replayed_line(cell, cassette, locations, bench.plan, taping)
        with _connected(line, bench.gateway, socket) as ready:
            yield ready
        return
    with _addressed(cell, material, bench) as (provider, seen):
        if bench.gateway is None or not can_redirect(provider):
            yield Provided(provider, SCRIPTED if seen else None, seen or _nobody, seen or _nobody)
            return
        line = live_line(cell, provider, locations, bench.plan, taping)
        with _connected(line, bench.gateway, socket) as ready:
            yield ready


@contextmanager
def _addressed(
    cell: Cell, material: Material, bench: Bench
) -> Iterator[tuple[dict[str, Any], Callable[[], Seen] | None]]:
    """Nanocoder's provider object; for a scripted model also what its server has seen."""
    if cell.model.provider != SCRIPTED:
        yield bench.provider(cell.model.provider), None
        return
    key = token_hex(8)
    url = bench.scripted.register(key, script_for(cell.model.model, material.view))
    try:
        yield scripted_provider(url), lambda: bench.scripted.exchanges(key)
    finally:
        bench.scripted.release(key)


@contextmanager
def _connected(line: Line, gateway: Gateway, socket: Path | None) -> Iterator[Provided]:
    key = token_hex(16)
    url = gateway.open(key, line.upstream, line.options, socket)

    def finish() -> Seen:
        exchanges = gateway.close(key)
        line.save()
        return exchanges

    try:
        yield Provided(
            provider=redirected(line.provider, url),
            name="gateway",
            exchanges=lambda: gateway.exchanges(key),
            finish=finish,
        )
    finally:
        gateway.close(key)


def _nobody() -> Seen:
    """What was seen where nobody looks."""
    return None
