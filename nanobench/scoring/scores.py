"""The score of a verified tree (SPEC 6). Solved is decided first, before any category."""

from collections.abc import Mapping
from types import MappingProxyType

from nanobench.model.verdict import Label
from nanobench.scoring.case import Case

COMPLETE, PARTIAL, PATHFINDING, ZERO = 1.0, 0.5, 0.1, 0.0

LABELS: Mapping[float, Label] = MappingProxyType(
    {
        COMPLETE: "Complete Resolution",
        PARTIAL: "Partial Resolution",
        PATHFINDING: "Pathfinding Credit",
        ZERO: "Zero Signal",
    }
)


def score(case: Case) -> float:
    """1.0, 0.5, 0.1 or 0.0; a limit caps a passing tree at 0.5 (SPEC X10)."""
    if case.tree_passes:
        return PARTIAL if case.limit else COMPLETE
    if not case.required_edited:
        return ZERO
    if case.half_passes:
        return PARTIAL
    return PATHFINDING if case.signals.mode == "navigation" else ZERO
