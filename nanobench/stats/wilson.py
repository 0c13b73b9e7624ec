"""The interval of one rate, when the same tasks are run again."""

import math

from nanobench.stats.interval import Interval, Z


def wilson(successes: float, runs: float) -> Interval:
    """Wilson's score interval (E. B. Wilson, JASA 22, 1927), 95 %, no continuity correction.

    Args:
        successes: solved runs, or a sum of scores between 0 and 1. For scores it is too wide
            rather than too narrow: of all variables between 0 and 1 with one mean, the one that
            is always 0 or 1 varies most.
        runs: how many, at least one.

    Raises:
        ValueError: `successes` is not between 0 and `runs`, or there is no run.
    """
    if runs <= 0 or not 0 <= successes <= runs:
        raise ValueError(f"{successes} of {runs} is no rate")
    square = Z * Z
    middle = (successes + square / 2) / (runs + square)
    reach = Z / (runs + square) * math.sqrt(successes * (runs - successes) / runs + square / 4)
    # The ends are exact at none and all, and never beyond them, whatever rounding does.
    low = max(0.0, middle - reach) if successes > 0 else 0.0
    high = min(1.0, middle + reach) if successes < runs else 1.0
    return Interval(low, high)
