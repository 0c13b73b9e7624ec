"""Mistakes in what is asked of recordings and ceilings, found before a cell runs."""

from collections.abc import Iterable, Sequence

from nanobench.agent.gateway.cassette import Cassette
from nanobench.agent.gateway.prices import EXTRA
from nanobench.agent.gateway.redirect import upstream_of
from nanobench.errors import WHERE_INDENT, InvalidInputError, UsageError
from nanobench.model.plan import Cell, ModelRef
from nanobench.pipeline.bench import SCRIPTED, Bench
from nanobench.pipeline.providing import goes_through_gateway
from nanobench.pipeline.taping import cassette_of, live_product, recorded_product

_NAMED = 5


def check_live(models: Iterable[ModelRef], bench: Bench) -> None:
    """Check that what is asked of the gateway can be had for providers that are really asked.

    Raises:
        UsageError: a model does not go through the gateway.
        InvalidInputError: there is a ceiling on cost, and a model without a known price.
    """
    models = tuple(models)
    wanted = _needing_gateway(bench)
    direct = [str(model) for model in models if not goes_through_gateway(model, bench)]
    if wanted and direct:
        raise UsageError(
            f"{', '.join(wanted)}: possible only where the gateway stands before the provider",
            where=", ".join(direct),
            remedy="use --gateway on, and leave out models that it cannot reach",
        )
    if bench.plan.limits.max_cost is not None:
        products = (live_product(model, _address(model, bench)) for model in models)
        _check_priced([str(one) for one in products if not bench.taping.prices.knows(one)])


def check_replayed(cells: Sequence[Cell], bench: Bench) -> dict[Cell, dict[str, object]]:
    """The recorded provider of every cell, each cassette read and checked.

    Raises:
        UsageError: the gateway is off.
        InvalidInputError: a cassette is missing or cannot be used, or a model has no known
            price where there is a ceiling on cost.
    """
    directory, prices = bench.taping.replay, bench.taping.prices
    if directory is None:
        return {}
    if bench.gateway is None:
        raise UsageError("a replay needs the gateway", where="--replay", remedy="use --gateway on")
    providers, wrong, unpriced = {}, [], []
    for cell in cells:
        try:
            cassette: Cassette = cassette_of(cell, directory)
        except InvalidInputError as error:
            wrong.append(f"{error.what} ({error.where})")
            continue
        providers[cell] = dict(cassette.provider)
        product = recorded_product(cell, cassette)
        if not prices.knows(product):
            unpriced.append(str(product))
    if wrong:
        more = [f"and {len(wrong) - _NAMED} more"] if len(wrong) > _NAMED else []
        raise InvalidInputError(
            f"{len(wrong)} of {len(cells)} cells cannot be replayed",
            where=WHERE_INDENT.join([*wrong[:_NAMED], *more]),
            remedy="record this bench with --record, or ask for the cells that were recorded",
        )
    if bench.plan.limits.max_cost is not None:
        _check_priced(list(dict.fromkeys(unpriced)))
    return providers


def _needing_gateway(bench: Bench) -> list[str]:
    limits = bench.plan.limits
    options = {
        "--record": bench.taping.record,
        "--max-requests": limits.max_requests,
        "--max-tokens": limits.max_tokens,
        "--max-cost": limits.max_cost,
    }
    return [name for name, value in options.items() if value is not None]


def _address(model: ModelRef, bench: Bench) -> str:
    if model.provider == SCRIPTED:
        return ""
    return upstream_of(bench.provider(model.provider)).base_url


def _check_priced(unpriced: list[str]) -> None:
    if unpriced:
        raise InvalidInputError(
            "--max-cost is set, but no price is known of a model",
            where=", ".join(unpriced),
            remedy=f"give its price in a file with --prices, or install {EXTRA}",
        )
