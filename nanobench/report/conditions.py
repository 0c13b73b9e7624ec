"""Under what conditions cells ran: what must be equal to compare, and what varied (SPEC O4)."""

from collections.abc import Iterable, Mapping, Sequence

from nanobench.report.entries import Circumstances

# Prefixes of settings that change what a score means, so that scores do not compare: what was
# asked and how it is judged, and the resources (a change of these alone moves scores by points).
DECISIVE = ("dataset", "ruleset", "task_sha256", "limits.", "isolation.", "platform")
_SHOWN = 3
Conditions = Mapping[str, frozenset[str]]
Values = tuple[str, ...]


def conditions(circumstances: Iterable[Circumstances]) -> Conditions:
    """Each setting of runs by name, with all its values."""
    found: dict[str, set[str]] = {}
    for under in dict.fromkeys(circumstances):
        for name, value in under.settings:
            found.setdefault(name, set()).add(value)
    return {name: frozenset(values) for name, values in found.items()}


def differences(before: Conditions, after: Conditions) -> list[str]:
    """Why the two do not compare: one reason per decisive setting that is not one value."""
    reasons = []
    for name in sorted(before.keys() | after.keys()):
        values = before.get(name, frozenset()), after.get(name, frozenset())
        if name.startswith(DECISIVE) and len(values[0] | values[1]) > 1:
            reasons.append(f"different {name}: {_told(values[0])} before, {_told(values[1])} after")
    return reasons


def held_and_varied(
    pairs: Sequence[tuple[Conditions, Conditions]],
) -> tuple[dict[str, str], dict[str, tuple[Values, Values]]]:
    """What all pairs share, and what differs between the two sides of any pair: before, after.

    A setting that differs from task to task but not between the sides is held within tasks.
    """
    names = sorted({name for pair in pairs for side in pair for name in side})
    held, varied = {}, {}
    for name in names:
        sides = [[side.get(name, frozenset()) for side in pair] for pair in pairs]
        before, after = (frozenset().union(*side) for side in zip(*sides, strict=True))
        if any(old != new for old, new in sides):
            varied[name] = _first(before), _first(after)
        else:
            held[name] = next(iter(before)) if len(before) == 1 else "the same within each task"
    return held, varied


def _first(values: frozenset[str]) -> Values:
    more = [f"and {len(values) - _SHOWN} more"] if len(values) > _SHOWN else []
    return (*sorted(values)[:_SHOWN], *more)


def _told(values: frozenset[str]) -> str:
    return " and ".join(_first(values)) or "none"
