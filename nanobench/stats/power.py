"""What a comparison of so many runs can show: the power of the verdict itself.

The verdict separates two rates when their Wilson intervals do not overlap. Its power is exact for
runs that are all solved with one probability; where tasks differ in difficulty, the solved
runs vary less and the power is higher.
"""

import math
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
    chances = _binomial(runs_before, before)
    reached = list(accumulate(_binomial(runs_after, after)))
    return math.fsum(
        chance * reached[most]
        for chance, most in zip(chances, _most_after(runs_before, runs_after), strict=True)
        if most >= 0
    )


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

    Null if more than 4096 are needed.
    """
    if before == after or power(before, after, MOST_RUNS, MOST_RUNS) < POWER:
        return None
    high = 1
    while power(before, after, high, high) < POWER:
        high *= 2
    return _first(lambda runs: power(before, after, runs, runs) >= POWER, high // 2 + 1, high)


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
def _most_after(runs_before: int, runs_after: int) -> tuple[int, ...]:
    """For each number solved before, the most solved after that is a regression; -1 if none."""
    found, most = [], -1
    for solved in range(runs_before + 1):
        low = wilson(solved, runs_before).low
        while most < runs_after and wilson(most + 1, runs_after).high < low:
            most += 1
        found.append(most)
    return tuple(found)


def _binomial(runs: int, rate: float) -> list[float]:
    if rate <= 0 or rate >= 1:
        certain = 0 if rate <= 0 else runs
        return [float(solved == certain) for solved in range(runs + 1)]
    whole, yes, no = math.lgamma(runs + 1), math.log(rate), math.log1p(-rate)
    return [
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(runs - k + 1) + k * yes + (runs - k) * no)
        for k in range(runs + 1)
    ]
