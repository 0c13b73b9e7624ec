"""How often a task is run (SPEC S1).

The mode changes nothing: neither the proposal nor a measurement says that runs without hints vary
more or less.
"""

from typing import Literal

Purpose = Literal["smoke", "regression"]

# Wilson's 95 % intervals of 0 of n and n of n still overlap at three runs (SPEC S4).
FEWEST_RUNS_THAT_SEPARATE = 4


def runs_needed(tier: int | None, purpose: Purpose = "regression") -> int:
    """Runs of a task: for `regression`, before its score enters a comparison.

    Args:
        tier: 1 to 4; null is unknown and treated as the highest.
        purpose: `smoke` asks whether everything works, not how well.
    """
    if purpose == "smoke":
        return 1
    return 1 if tier is not None and tier <= 2 else 5
