"""The pristine tree in which the suites run (SPEC X9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nanobench.errors import InfrastructureError
from nanobench.model.task import Task
from nanobench.verify.protection import protection
from nanobench.workspace.changes import Change, apply_changes
from nanobench.workspace.golden import Golden
from nanobench.workspace.paths import display
from nanobench.workspace.snapshot import Snapshot


@dataclass(frozen=True)
class TreeReport:
    """What was not taken over from the agent, as displayed paths.

    `protected`: changes of test and protected files, and of what holds them.
    `conflicts`: changes that could not be applied.
    """

    protected: tuple[str, ...]
    conflicts: tuple[str, ...]


def build_tree(
    snapshot: Snapshot,
    destination: Path,
    changes: Sequence[Change],
    golden: Golden,
    task: Task,
) -> TreeReport:
    """Unpack the base, apply the agent's changes, put the golden test files in place.

    With `changes=()` this is the base state with golden tests; with `golden.changes` it is the
    golden state.

    Raises:
        InfrastructureError: a golden test file could not be written.
    """
    guard = protection(task, golden.changes)
    snapshot.unpack(destination)
    refused = [change for change in changes if guard.refuses(change.path)]
    carried = [
        change
        for change in changes
        # Bytecode could stand in for a source file that is protected.
        if not guard.refuses(change.path) and b"__pycache__" not in change.path.split(b"/")
    ]
    conflicts = apply_changes(destination, carried)
    restored = [change for change in golden.changes if guard.covers(change.path)]
    failed = apply_changes(destination, restored)
    if failed:
        raise InfrastructureError(
            "golden test files cannot be put into the verification tree",
            where=", ".join(failed[:5]),
            remedy="check 'test_files' and 'protected_files' of the task",
        )
    return TreeReport(tuple(sorted(display(c.path) for c in refused)), tuple(conflicts))
