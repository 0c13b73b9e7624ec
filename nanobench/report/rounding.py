"""Figures of documents: six digits, below which libraries of different machines may disagree."""

from nanobench.report.measures import Estimate, Interval
from nanobench.stats import compare, interval

_DIGITS = 6


def rounded(value: float) -> float:
    """Six digits, and no negative zero."""
    return round(value, _DIGITS) + 0.0


def share(part: float, whole: float) -> float | None:
    """A part of a whole, or null if there is no whole."""
    return rounded(part / whole) if whole else None


def ends(found: interval.Interval) -> Interval:
    """The document of an interval."""
    return Interval(low=rounded(found.low), high=rounded(found.high))


def estimate(found: compare.Estimate) -> Estimate:
    """The document of an estimate."""
    low, high = found.interval
    return Estimate(value=rounded(found.value), low=rounded(low), high=rounded(high))
