"""Intervals of means and differences over tasks, when the same tasks are run again.

The mean over tasks of each task's rate varies as one rate of so many runs would: the number of all
runs if each task has as many, less if some have few (tasks squared over the sum of 1 / runs).
Wilson's interval of as many runs is then too wide rather than too narrow, because runs of
tasks that differ in difficulty vary less than runs of tasks that are alike. Combining the
intervals of the single tasks instead was tried and is too narrow: see benchmarks/coverage.py.
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
    runs = len(tallies) ** 2 / math.fsum(1 / tally.runs for tally in tallies)
    return wilson(min(mean_rate(tallies) * runs, runs), runs)


def stratified_difference(before: Sequence[Tally], after: Sequence[Tally]) -> Interval:
    """The interval of `mean_rate(after) - mean_rate(before)`, the same tasks in the same order.

    Newcombe's method 10 (Stat. Med. 17, 1998) on the two intervals. Never of width zero.

    Raises:
        ValueError: the two are not of the same tasks.
    """
    if len(before) != len(after):
        raise ValueError(f"{len(before)} tasks before and {len(after)} after")
    old, new = mean_rate(before), mean_rate(after)
    was, is_now = stratified_mean(before), stratified_mean(after)
    down = math.hypot(was.high - old, new - is_now.low)
    up = math.hypot(old - was.low, is_now.high - new)
    return Interval(new - old - down, new - old + up).within(-1.0, 1.0)
