"""What a comparison of so many runs can show: the power of the verdict itself.

The verdict separates two rates when their Wilson intervals do not overlap. Its power is exact for
runs that are all solved with one probability; where tasks differ in difficulty, the solved
runs vary less and the power is higher.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist

from nanobench.stats.interval import Z
from nanobench.stats.wilson import wilson

POWER = 0.8
MOST_RUNS = 4096
_STEPS = 1000  # differences are told to a tenth of a percentage point


def power(before: float, after: float, runs_before: int, runs_after: int) -> float:
    """The probability of the right verdict when the true rates are `before` and `after`."""
    if after > before:  # a rise of solved runs is a drop of failed ones
        return power(1 - before, 1 - after, runs_before, runs_after)
    first, chances = _binomial(runs_before, before)
    least, later = _binomial(runs_after, after)
    lows, _ = _ends(runs_before, first, len(chances))
    _, highs = _ends(runs_after, least, len(later))
    reached = [0.0, *accumulate(later)]  # of at most `least - 1`, `least`, ... solved after
    return math.fsum(
        chance * reached[bisect_left(highs, low)] for chance, low in zip(chances, lows, strict=True)
    )


@lru_cache(maxsize=64)
def _ends(runs: int, first: int, count: int) -> tuple[list[float], list[float]]:
    """The ends of Wilson's intervals of `first` solved runs and the next ones: lower, upper."""
    found = [wilson(solved, runs) for solved in range(first, first + count)]
    return [low for low, _ in found], [high for _, high in found]


def detectable(rate: float, runs_before: int, runs_after: int, *, drop: bool) -> float | None:
    """The smallest true difference from `rate` that is shown with 80 % probability.

    Null if none is: so few runs, or so little room between `rate` and its end.
    """
    room = rate if drop else 1 - rate
    sign = -1 if drop else 1

    def shown(step: int) -> bool:
        other = min(1.0, max(0.0, rate + sign * step / _STEPS))
        return power(rate, other, runs_before, runs_after) >= POWER

    last = math.ceil(room * _STEPS - 1e-9)
    first = _first(shown, 1, last)
    return None if first is None else min(first / _STEPS, room)


def runs_to_show(before: float, after: float) -> int | None:
    """Runs on each side, over all tasks, that show this difference with 80 % probability.

    Up to 2 % more than the fewest. Null if more than 4096 are needed.
    """
    if before == after:
        return None
    low, high = 0, max(4, int(0.7 * _foretold(before, after)))  # below 4, nothing ever separates
    while high <= MOST_RUNS and power(before, after, high, high) < POWER:
        low, high = high, high + high // 4
    while high <= MOST_RUNS and high - low > 1 + high // 50:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if power(before, after, middle, middle) >= POWER else (middle, high)
        )
    return high if high <= MOST_RUNS else None


def _foretold(before: float, after: float) -> float:
    """About as many runs, by the normal distribution."""
    spreads = [math.sqrt(rate * (1 - rate)) for rate in (before, after)]
    gap = Z * sum(spreads) + NormalDist().inv_cdf(POWER) * math.hypot(*spreads)
    return float((gap / (after - before)) ** 2)


def tasks_to_show(difference: float, spread: float) -> int | None:
    """Tasks, run as often as these, that would show a mean difference in tasks like these.

    By the normal approximation (Miller, arXiv:2411.00640, section 5), with 80 % probability.

    Args:
        difference: the true mean difference over tasks; not 0.
        spread: the standard deviation of the paired differences of tasks; without any
            (0) nothing can be foretold, and null is returned.
    """
    if spread < 1e-9 or not difference:  # rounding leaves a little spread where there is none
        return None
    needed = ((Z + NormalDist().inv_cdf(POWER)) * spread / difference) ** 2
    return max(2, math.ceil(needed))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """The first number from `low` to `high` for which it holds, if it then stays so."""
    if low > high or not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


@lru_cache(maxsize=64)
def _binomial(runs: int, rate: float) -> tuple[int, list[float]]:
    """The chances of so many solved runs, and the number they begin at.

    Numbers further than six standard deviations from the mean are left out: all of them together
    have a chance below 1e-8.
    """
    if rate <= 0 or rate >= 1:
        return (0 if rate <= 0 else runs), [1.0]
    reach = 6 * math.sqrt(runs * rate * (1 - rate)) + 10
    low, high = max(0, int(runs * rate - reach)), min(runs, int(runs * rate + reach) + 1)
    whole, yes, no = math.lgamma(runs + 1), math.log(rate), math.log1p(-rate)
    return low, [
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(runs - k + 1) + k * yes + (runs - k) * no)
        for k in range(low, high + 1)
    ]
