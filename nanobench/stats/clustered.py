"""Intervals for other tasks like these: the tasks are the sample, not the runs.

The runs of one task resemble each other, so that counting them one by one claims more than is
known (E. Miller, arXiv:2411.00640). Each task is one observation: the mean of its runs. Student's
t with tasks - 1 degrees of freedom. When all tasks agree there is no spread to
measure, which is ignorance and not certainty: then Wilson's interval on as many runs as there are
tasks takes its place.
"""

import math
from collections.abc import Sequence
from statistics import stdev

from nanobench.stats.interval import Interval
from nanobench.stats.stratified import Tally, stratified_difference
from nanobench.stats.student import student_quantile
from nanobench.stats.wilson import wilson


def clustered_mean(means: Sequence[float]) -> Interval:
    """The interval of the mean of `means`, one per task, each between 0 and 1."""
    mean, reach = _mean(means), _reach(means)
    if reach is None:
        return wilson(min(mean * len(means), len(means)), len(means))
    return Interval(mean - reach, mean + reach).within(0.0, 1.0)


def clustered_difference(before: Sequence[float], after: Sequence[float]) -> Interval:
    """The interval of the mean of `after - before`, paired by task.

    Raises:
        ValueError: the two are not of the same tasks.
    """
    changes = [new - old for old, new in zip(before, after, strict=True)]
    reach = _reach(changes)
    if reach is None:
        tasks = len(changes)
        old, new = (Tally(min(_mean(means) * tasks, tasks), tasks) for means in (before, after))
        return stratified_difference([old], [new])
    mean = _mean(changes)
    return Interval(mean - reach, mean + reach).within(-1.0, 1.0)


def _reach(values: Sequence[float]) -> float | None:
    """Half the width of the t interval; null if the values show no spread."""
    if len(values) < 2 or max(values) - min(values) < 1e-12:  # thirds differ in the last bit
        return None
    return student_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
