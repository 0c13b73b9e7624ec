"""Exact tests of whether it matters which runs were made before and which after."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_TIED = 1 + 1e-7  # outcomes whose probabilities differ by rounding only are equally probable


class Pair(NamedTuple):
    """The runs of one task before and after, and how many of each are solved."""

    solved_before: int
    runs_before: int
    solved_after: int
    runs_after: int


def stratified_p(pairs: Iterable[Pair]) -> float:
    """The two-sided p-value of "no task changed", by permuting the runs within each task.

    Given how many runs of each task are solved in all, every assignment of them to before and
    after is equally likely under the hypothesis, so that the solved runs after follow a
    hypergeometric distribution in each task; their sum is what is tested. Of one task it is
    Fisher's exact test, of several the exact Cochran-Mantel-Haenszel test. Two-sided: all sums
    at most as probable as the one seen. 1 if nothing could have come out otherwise.
    """
    total, seen = [1.0], 0
    for pair in pairs:
        lowest, probabilities = _hypergeometric(pair)
        total = _convolved(total, probabilities)
        seen += pair.solved_after - lowest
    return min(1.0, math.fsum(p for p in total if p <= total[seen] * _TIED))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (Scand. J. Stat. 6, 1979), in the order given.

    Claims with an adjusted p-value of at most 0.05 hold together with 95 % confidence.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def _hypergeometric(pair: Pair) -> tuple[int, list[float]]:
    """The fewest solved runs that can fall after, and the probability of each number from there."""
    solved = pair.solved_before + pair.solved_after
    lowest, highest = max(0, solved - pair.runs_before), min(solved, pair.runs_after)
    ways = math.comb(pair.runs_before + pair.runs_after, solved)
    return lowest, [
        math.comb(pair.runs_after, number) * math.comb(pair.runs_before, solved - number) / ways
        for number in range(lowest, highest + 1)
    ]


def _convolved(first: Sequence[float], second: Sequence[float]) -> list[float]:
    result = [0.0] * (len(first) + len(second) - 1)
    for i, p in enumerate(first):
        for j, q in enumerate(second):
            result[i + j] += p * q
    return result
