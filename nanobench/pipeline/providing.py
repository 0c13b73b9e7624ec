"""The provider of one cell, as the agent gets it: through the gateway, or directly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.redirect import (
    can_redirect,
    redirected,
    route_options,
    upstream_of,
)
from nanobench.agent.scripted.behaviours import script_for
from nanobench.model.plan import Cell, ModelRef
from nanobench.pipeline.bench import SCRIPTED, Bench, Material

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
    return model.provider == SCRIPTED or can_redirect(bench.provider(model.provider))


@contextmanager
def provided(cell: Cell, material: Material, bench: Bench) -> Iterator[Provided]:
    """The cell's provider, for as long as the agent runs.

    Raises:
        InvalidInputError: the provider's description cannot be used.
    """
    if cell.model.provider != SCRIPTED:
        with _reached(bench.provider(cell.model.provider), bench) as ready:
            yield ready
        return
    key = token_hex(8)
    url = bench.scripted.register(key, script_for(cell.model.model, material.view))
    try:
        if bench.gateway is None:
            seen = lambda: bench.scripted.exchanges(key)  # noqa: E731
            yield Provided(scripted_provider(url), SCRIPTED, seen, seen)
        else:
            with _reached(scripted_provider(url), bench) as ready:
                yield ready
    finally:
        bench.scripted.release(key)


@contextmanager
def _reached(provider: dict[str, Any], bench: Bench) -> Iterator[Provided]:
    gateway = bench.gateway
    if gateway is None or not can_redirect(provider):
        yield Provided(provider, None, lambda: None, lambda: None)
        return
    key = token_hex(16)
    url = gateway.open(key, upstream_of(provider), route_options(provider))
    try:
        yield Provided(
            provider=redirected(provider, url),
            name="gateway",
            exchanges=lambda: gateway.exchanges(key),
            finish=lambda: gateway.close(key),
        )
    finally:
        gateway.close(key)
