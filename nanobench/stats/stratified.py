"""Intervals of means and differences over tasks, when the same tasks are run again.

Every task is a stratum of its own: what differs between tasks is no uncertainty here, only what
differs between the runs of a task. The ends of each task's Wilson interval are combined by the
square root of the sum of squared distances (MOVER: Zou and Donner, Stat. Med. 27, 2008; for one
difference it is Newcombe's method 10, Stat. Med. 17, 1998). Never of width zero.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from nanobench.stats.interval import Interval
from nanobench.stats.wilson import wilson


class Tally(NamedTuple):
    """Runs of one task: how many, and the sum of their scores (or how many are solved)."""

    total: float
    runs: int

    @property
    def rate(self) -> float:
        """The mean of its runs."""
        return self.total / self.runs


def mean_rate(tallies: Sequence[Tally]) -> float:
    """The mean over tasks of each task's mean."""
    return math.fsum(tally.rate for tally in tallies) / len(tallies)


def stratified_mean(tallies: Sequence[Tally]) -> Interval:
    """The interval of `mean_rate`.

    Args:
        tallies: one per task, each with at least one run; at least one task.
    """
    spans = [(tally.rate, wilson(*tally)) for tally in tallies]
    mean, tasks = mean_rate(tallies), len(tallies)
    down = math.hypot(*(rate - span.low for rate, span in spans)) / tasks
    up = math.hypot(*(span.high - rate for rate, span in spans)) / tasks
    return Interval(mean - down, mean + up).within(0.0, 1.0)


def stratified_difference(before: Sequence[Tally], after: Sequence[Tally]) -> Interval:
    """The interval of `mean_rate(after) - mean_rate(before)`, the same tasks in the same order.

    Raises:
        ValueError: the two are not of the same tasks.
    """
    pairs = [
        (old.rate, wilson(*old), new.rate, wilson(*new))
        for old, new in zip(before, after, strict=True)
    ]
    difference, tasks = mean_rate(after) - mean_rate(before), len(pairs)
    down = math.hypot(*(part for a, A, b, B in pairs for part in (A.high - a, b - B.low)))
    up = math.hypot(*(part for a, A, b, B in pairs for part in (a - A.low, B.high - b)))
    return Interval(difference - down / tasks, difference + up / tasks).within(-1.0, 1.0)
