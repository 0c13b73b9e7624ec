"""How far two raters agree beyond chance."""

from collections import Counter
from collections.abc import Sequence


def cohens_kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Cohen's kappa (J. Cohen, Educational and Psychological Measurement 20, 1960), unweighted.

    Args:
        first: one rater's labels.
        second: the other's, of the same items in the same order.

    Returns:
        From -1 to 1; None where chance alone would agree on everything, or nothing was rated.

    Raises:
        ValueError: they did not rate the same number of items.
    """
    size = len(first)
    if size != len(second):
        raise ValueError(f"{size} labels against {len(second)}")
    ones, others = Counter(first), Counter(second)
    by_chance = sum(ones[label] * others[label] for label in ones)  # times size squared
    if by_chance == size * size:
        return None
    agreed = sum(one == other for one, other in zip(first, second, strict=True))
    return (agreed * size - by_chance) / (size * size - by_chance)
