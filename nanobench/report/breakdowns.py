"""The blocks of a section divided by what models and tasks are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from nanobench.model.plan import ModelRef
from nanobench.report.blocks import Block, together
from nanobench.report.breakdown_document import UNKNOWN, Dimension, Group, TaskCard, TokenDensity

_DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
_DENSITIES: tuple[TokenDensity, ...] = get_args(TokenDensity)
_OF_MODELS: tuple[Dimension, ...] = ("provider", "model", "mode")
Cards = Mapping[str, TaskCard]


def token_density(tokens: int) -> TokenDensity:
    """The bucket of a token estimate: edges are half-open upward, 80,000 itself is below."""
    return _DENSITIES[(tokens >= 20_000) + (tokens >= 50_000) + (tokens > 80_000)]


def breakdowns(blocks: Sequence[Block], cards: Cards) -> Iterator[Group]:
    """Every group of a section; also of each model, if there are several."""
    several = len({block.cell.model for block in blocks}) > 1
    found: dict[tuple[int, str, str, str], list[Block]] = {}
    for block in blocks:
        cell = block.cell
        for number, dimension in enumerate(_DIMENSIONS):
            of_each = several and dimension not in _OF_MODELS
            for value in _values(dimension, block, cards):
                for model in ("", str(cell.model)) if of_each else ("",):
                    found.setdefault((number, value, cell.mode, model), []).append(block)
    for number, value, mode, model in sorted(found, key=_order):
        own = found[number, value, mode, model]
        yield Group(
            dimension=_DIMENSIONS[number],
            value=value,
            mode=own[0].cell.mode,
            model=ModelRef.parse(model) if model else None,
            **together(own),
        )


def _values(dimension: Dimension, block: Block, cards: Cards) -> Sequence[str]:
    cell, card = block.cell, cards[block.cell.task_id]
    if dimension in _OF_MODELS:
        return (cell.model.provider if dimension == "provider" else str(getattr(cell, dimension)),)
    if dimension == "tier":
        return (str(card.tier or UNKNOWN),)
    if card.facts is None:
        return (UNKNOWN,)
    if dimension == "language":
        return tuple(dict.fromkeys(card.facts.languages))
    if dimension == "token_density":
        return (card.token_density or UNKNOWN,)
    return (str(getattr(card.facts, dimension)),)


def _order(key: tuple[int, str, str, str]) -> tuple[int, int, str, str, str]:
    """Buckets by size, `unknown` last, all else by name."""
    number, value, mode, model = key
    buckets: tuple[str, ...] = _DENSITIES
    place = buckets.index(value) if value in buckets else len(buckets) * (value == UNKNOWN)
    return number, place, value, mode, model
