"""Student's t for whole degrees of freedom, in closed form: scipy takes a second to import."""

import math
from functools import lru_cache

from nanobench.stats.interval import LEVEL

_HALVINGS = 80


def student_central(t: float, freedom: int) -> float:
    """The probability that |T| < t (Abramowitz and Stegun 26.7.3 and 26.7.4).

    Args:
        t: at least 0.
        freedom: degrees of freedom, at least 1.
    """
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2 == 1
    term = math.cos(angle) if odd else 1.0
    terms = [term] if freedom > 1 else []
    for step in range(3 if odd else 2, freedom - 1, 2):
        term *= square * (step - 1) / step
        terms.append(term)
    series = sine * math.fsum(terms)
    return 2 / math.pi * (angle + series) if odd else series


@lru_cache(maxsize=1024)
def student_quantile(freedom: int) -> float:
    """The t that |T| stays below with 95 % probability.

    Raises:
        ValueError: there is no degree of freedom.
    """
    if freedom < 1:
        raise ValueError("t needs at least one degree of freedom")
    low, high = 0.0, 16.0  # 12.7 for one degree of freedom, less for more
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if student_central(middle, freedom) < LEVEL else (low, middle)
    return (low + high) / 2
