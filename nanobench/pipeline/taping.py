"""Recordings and ceilings, as the cells of one bench use them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from nanobench.agent.gateway.budget import Budget, Meter, Purse
from nanobench.agent.gateway.cassette import Cassette, read_cassette
from nanobench.agent.gateway.prices import PriceList, Product
from nanobench.agent.gateway.recording import Recorder, Subject
from nanobench.agent.gateway.redirect import redirected, route_options, upstream_of
from nanobench.agent.gateway.replaying import Replay, check_replayable
from nanobench.agent.gateway.route import RouteOptions, Upstream
from nanobench.agent.gateway.scrubbing import Scrubber
from nanobench.agent.gateway.substitution import Locations
from nanobench.model.plan import Cell, ModelRef, Plan

_NOWHERE = "http://replay.invalid/v1"


@dataclass(frozen=True)
class Taping:
    """What one command asks of recordings, and what its cells may spend together.

    Attributes:
        record: the directory that gets a cassette per cell; null: none is made.
        replay: the directory whose cassettes answer in the place of providers; null: none do.
        prices: what tokens cost.
        purse: what is spent of `--max-cost`.
    """

    record: Path | None = None
    replay: Path | None = None
    prices: PriceList = field(default_factory=lambda: PriceList(()))
    purse: Purse = field(default_factory=lambda: Purse(None))


@dataclass(frozen=True)
class Line:
    """The gateway's part of one cell.

    Attributes:
        provider: Nanocoder's provider object, still with its address.
        upstream: what is asked.
        options: of the route.
        save: keeps what was recorded, if anything is to be; once the route is closed.
    """

    provider: dict[str, Any]
    upstream: Upstream
    options: RouteOptions
    save: Callable[[], object]


def live_line(
    cell: Cell, provider: dict[str, Any], locations: Locations, plan: Plan, taping: Taping
) -> Line:
    """A provider that is really asked, and recorded if that is wanted.

    Raises:
        InvalidInputError: the provider's description cannot be used.
    """
    upstream = upstream_of(provider)
    product = live_product(cell.model, upstream.base_url)
    options = replace(route_options(provider), guard=_meter(product, plan, taping))
    if taping.record is None:
        return Line(provider, upstream, options, lambda: None)
    subject = Subject(
        cell=cell,
        nanocoder=plan.agent.nanocoder,
        provider=redirected(provider, ""),
        priced_as=taping.prices.provider_id(product),
        locations=locations,
    )
    recorder = Recorder(subject, Scrubber(upstream))
    return Line(
        provider=provider,
        upstream=upstream,
        options=replace(options, through=recorder.transport),
        save=partial(recorder.save, taping.record),
    )


def replayed_line(
    cell: Cell, cassette: Cassette, locations: Locations, plan: Plan, taping: Taping
) -> Line:
    """A cassette in the place of a provider."""
    provider = dict(cassette.provider)
    name = str(provider.get("name", ""))
    product = recorded_product(cell, cassette)
    options = route_options(provider)
    return Line(
        provider=provider,
        upstream=Upstream(_NOWHERE, None, {}, "unknown", None, name),
        options=replace(
            options,
            retry=replace(options.retry, waits=False),
            guard=_meter(product, plan, taping),
            through=lambda wire: Replay(cassette, locations),
        ),
        save=lambda: None,
    )


def cassette_of(cell: Cell, directory: Path) -> Cassette:
    """The cassette of a cell, checked.

    Raises:
        InvalidInputError: there is none, or it cannot be replayed.
    """
    cassette = read_cassette(directory, cell)
    check_replayable(cassette)
    return cassette


def live_product(model: ModelRef, base_url: str) -> Product:
    """What is paid for at a provider."""
    return Product(model.provider, model.model, base_url)


def recorded_product(cell: Cell, cassette: Cassette) -> Product:
    """What was paid for when the cassette was recorded."""
    return Product(cell.model.provider, cell.model.model, "", cassette.priced_as)


def _meter(product: Product, plan: Plan, taping: Taping) -> Meter:
    budget = Budget(plan.limits.max_requests, plan.limits.max_tokens)
    return Meter(budget, taping.purse, product, taping.prices)
