"""How much of the failure is finding the place, and how much is changing it (SPEC S5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from nanobench.stats.clustered import clustered_difference, clustered_mean
from nanobench.stats.compare import Estimate
from nanobench.stats.stratified import Tally, mean_rate, stratified_difference, stratified_mean


@dataclass(frozen=True)
class NavigationSplit:
    """Rates of solved runs, means over the tasks that were run in both modes.

    Attributes:
        hinted, navigation: with the interval for the same tasks.
        delta: hinted - navigation, for the same tasks.
        delta_like_these: the same for other tasks of the kind.
        implementation: what stays unsolved although the files are named (1 - hinted), for
            other tasks of the kind. `delta` is what naming them gains: pathfinding. The two and
            the rate of navigation add up to 1.
    """

    hinted: Estimate
    navigation: Estimate
    delta: Estimate
    delta_like_these: Estimate
    implementation: Estimate


def navigation_split(hinted: Sequence[Tally], navigation: Sequence[Tally]) -> NavigationSplit:
    """Split what is unsolved without hints.

    Args:
        hinted, navigation: the solved runs of the same tasks in the same order; each has runs.

    Raises:
        ValueError: the two are not of the same tasks.
    """
    gained = mean_rate(hinted) - mean_rate(navigation)
    rates = [t.rate for t in navigation], [t.rate for t in hinted]
    unsolved = [1 - rate for rate in rates[1]]
    return NavigationSplit(
        hinted=Estimate(mean_rate(hinted), stratified_mean(hinted)),
        navigation=Estimate(mean_rate(navigation), stratified_mean(navigation)),
        delta=Estimate(gained, stratified_difference(navigation, hinted)),
        delta_like_these=Estimate(gained, clustered_difference(*rates)),
        implementation=Estimate(1 - mean_rate(hinted), clustered_mean(unsolved)),
    )
