"""What every interval is: two ends at 95 % confidence."""

from statistics import NormalDist
from typing import NamedTuple

LEVEL = 0.95
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


class Interval(NamedTuple):
    """The ends of a 95 % confidence interval, both included."""

    low: float
    high: float

    def overlaps(self, other: "Interval") -> bool:
        """Whether they share a point; touching ends do."""
        return self.low <= other.high and other.low <= self.high

    def within(self, lowest: float, highest: float) -> "Interval":
        """The part of it that is possible."""
        return Interval(max(self.low, lowest), min(self.high, highest))
