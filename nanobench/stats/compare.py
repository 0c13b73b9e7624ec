"""Two results of the same tasks: is the later one better, worse, or can nobody tell? (SPEC S3)"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Literal, NamedTuple

from nanobench.stats.clustered import clustered_difference
from nanobench.stats.interval import Interval
from nanobench.stats.permutation import Pair, stratified_p
from nanobench.stats.power import detectable, runs_to_show, tasks_to_show
from nanobench.stats.stratified import Tally, mean_rate, stratified_difference
from nanobench.stats.wilson import wilson

Finding = Literal["regression", "improvement", "not distinguishable from noise"]
NOISE: Finding = "not distinguishable from noise"
# Beside the difference seen: what one would want to know of.
ASKED_DIFFERENCES = (0.1, 0.2)


class Estimate(NamedTuple):
    """A value and its 95 % interval."""

    value: float
    interval: Interval


class Needed(NamedTuple):
    """What shows a drop of this size with 80 % probability.

    `runs` are on each side over all tasks (same tasks, run again); `tasks` are run as often as
    these were (tasks like these). Null: out of reach, or not to be foretold.
    """

    difference: float
    runs: int | None
    tasks: int | None


@dataclass(frozen=True)
class Comparison:
    """Everything that counts can tell of a difference; rates are of solved runs.

    Attributes:
        before, after: solved / all runs with Wilson's interval; the finding rests on these.
        same_tasks: the mean over tasks of the change, if the same tasks were run again.
        tasks_like_these: the same change, for other tasks of the kind.
        p: of "no task changed", exact.
        drop, rise: the smallest true change of the pooled rate that this sample shows with 80 %
            probability; null if none.
        needed: what would show the difference seen, and some others.
        uneven: tasks were run in other proportions after than before, so that the two rates weigh
            them differently (Simpson).
    """

    finding: Finding
    before: Estimate
    after: Estimate
    same_tasks: Estimate
    tasks_like_these: Estimate
    p: float
    drop: float | None
    rise: float | None
    needed: tuple[Needed, ...]
    uneven: bool


def compare(pairs: Sequence[Pair], tasks: Sequence[str] | None = None) -> Comparison:
    """Compare the runs of the same tasks before and after.

    Args:
        pairs: one per task of one model in one mode, or of several models; runs on both sides.
        tasks: the task of each pair, where one has several: they are one observation in
            `tasks_like_these`. Null: each pair is a task of its own.

    Raises:
        ValueError: there is no pair, or one has no runs on a side.
    """
    if not pairs:
        raise ValueError("nothing to compare")
    before = [Tally(pair.solved_before, pair.runs_before) for pair in pairs]
    after = [Tally(pair.solved_after, pair.runs_after) for pair in pairs]
    old, new = _pooled(before), _pooled(after)
    change = Estimate(mean_rate(after) - mean_rate(before), stratified_difference(before, after))
    names = tasks if tasks is not None else list(map(str, range(len(pairs))))
    rates = _by_task(before, names), _by_task(after, names)
    changes = [b - a for a, b in zip(*rates, strict=True)]
    runs = sum(t.runs for t in before), sum(t.runs for t in after)
    uneven = _uneven(pairs)
    return Comparison(
        finding=_finding(old, new, _bounds(change, uneven)),
        before=old,
        after=new,
        same_tasks=change,
        tasks_like_these=Estimate(math.fsum(changes) / len(changes), clustered_difference(*rates)),
        p=stratified_p(pairs),
        drop=detectable(old.value, *runs, drop=True),
        rise=detectable(old.value, *runs, drop=False),
        needed=tuple(_needed(changes, old.value, new.value)),
        uneven=uneven,
    )


def _pooled(tallies: Sequence[Tally]) -> Estimate:
    solved, runs = math.fsum(t.total for t in tallies), sum(t.runs for t in tallies)
    return Estimate(solved / runs, wilson(solved, runs))


def _finding(old: Estimate, new: Estimate, change: Interval) -> Finding:
    """S3, and the change within tasks must point the same way all over its bounds."""
    if old.interval.overlaps(new.interval):
        return NOISE
    if new.value < old.value and change.high < 0:
        return "regression"
    return "improvement" if new.value > old.value and change.low > 0 else NOISE


def _bounds(change: Estimate, uneven: bool) -> Interval:
    """Where the change within tasks lies, as far as a finding asks.

    Where the two rates part although no task changed, the sign of the change is a matter of
    chance: its interval counts.
    """
    return change.interval if uneven else Interval(change.value, change.value)


def _uneven(pairs: Sequence[Pair]) -> bool:
    first = pairs[0]
    return any(
        pair.runs_before * first.runs_after != pair.runs_after * first.runs_before for pair in pairs
    )


def _by_task(tallies: Sequence[Tally], tasks: Sequence[str]) -> list[float]:
    """The mean rate of each task, in the order in which tasks first appear."""
    rates: dict[str, list[float]] = {}
    for tally, task in zip(tallies, tasks, strict=True):
        rates.setdefault(task, []).append(tally.rate)
    return [math.fsum(own) / len(own) for own in rates.values()]


def _needed(changes: Sequence[float], old: float, new: float) -> list[Needed]:
    spread = stdev(changes) if len(changes) > 1 else 0.0
    seen = [(new - old, old, new)] if new != old else []
    asked = [(-size, old, old - size) for size in ASKED_DIFFERENCES if old >= size]
    return [
        Needed(size, runs_to_show(low, high), tasks_to_show(size, spread))
        for size, low, high in (*seen, *asked)
    ]
