"""Pieces of Markdown pages: tables, lists, and how figures are written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from nanobench.report.measures import Estimate, Interval

Item = TypeVar("Item")
NONE = "–"  # noqa: RUF001 - the sign readers know for an empty cell


_LISTED = 100


def listed(title: str, items: Sequence[str]) -> list[str]:
    """A heading and a list of at most 100 below it; nothing if there is nothing to list."""
    shown = [f"- {item}" for item in items[:_LISTED]]
    if len(items) > _LISTED:
        shown.append(f"- and {len(items) - _LISTED:,} more")
    return [f"## {title}", "\n".join(shown)] if items else []


def shortened(
    heads: str,
    items: Sequence[Item],
    row: Callable[[Item], Sequence[str]],
    limit: int,
    elsewhere: str,
) -> Iterator[str]:
    """A table of at most `limit` items, and where the rest is."""
    yield table(heads, map(row, items[:limit]))
    if len(items) > limit:
        yield f"{len(items) - limit:,} more are in {elsewhere}."


def table(heads: str, rows: Iterable[Sequence[str]]) -> str:
    """A table; `heads` are divided by `" | "`."""
    names = heads.split(" | ")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def percent(share: float | None) -> str:
    """A share of 1 in per cent."""
    return NONE if share is None else f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def number(value: float | None) -> str:
    """A score."""
    return NONE if value is None else f"{value:.3f}".removesuffix("00")


def rate(value: float | None, interval: Interval | None) -> str:
    """A share and its interval, in per cent."""
    if value is None or interval is None:
        return NONE
    return f"{100 * value:.1f} % ({100 * interval.low:.0f} to {100 * interval.high:.0f})"


def estimated(estimate: Estimate | None) -> str:
    """As `rate`."""
    return NONE if estimate is None else rate(estimate.value, _ends(estimate))


def score(value: float | None, interval: Interval | None) -> str:
    """A mean score, and its interval if it has one."""
    if value is None or interval is None:
        return number(value)
    return f"{number(value)} ({interval.low:.2f} to {interval.high:.2f})"


def difference(estimate: Estimate | None) -> str:
    """A difference of shares and its interval, in percentage points."""
    if estimate is None:
        return NONE
    return f"{points(estimate.value)} ({points(estimate.low)} to {points(estimate.high)})"


def _ends(estimate: Estimate) -> Interval:
    return Interval(low=estimate.low, high=estimate.high)
