"""How the reasons of failure moved between two results."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from nanobench.stats.compare import Estimate
from nanobench.stats.wilson import wilson

Label = TypeVar("Label", bound=str)


def shares(counts: Mapping[Label, int]) -> dict[Label, Estimate]:
    """The share of each label with Wilson's interval; empty if nothing was counted."""
    whole = sum(counts.values())
    if not whole:
        return {}
    return {label: Estimate(count / whole, wilson(count, whole)) for label, count in counts.items()}


def flow(
    pairs: Iterable[tuple[Sequence[Label], Sequence[Label]]],
) -> Counter[tuple[Label, Label]]:
    """How many runs went from one label to another, over tasks.

    No run before is the same run after: what a task has in common on both sides stayed, the rest
    is matched in the order of labels, which makes the fewest moves that explain the change. How
    many stayed and the totals of each label are facts; which of several moves it was is not.

    Args:
        pairs: of each task, the labels of its runs before and after. Where one side has
            more runs, as many of the first ones count as the other has.
    """
    moves: Counter[tuple[Label, Label]] = Counter()
    for before, after in pairs:
        runs = min(len(before), len(after))
        old, new = Counter(before[:runs]), Counter(after[:runs])
        stayed = old & new
        moves.update({(label, label): count for label, count in stayed.items()})
        moves.update(
            zip(sorted((old - stayed).elements()), sorted((new - stayed).elements()), strict=True)
        )
    return moves
