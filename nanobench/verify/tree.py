"""The pristine tree in which the suites run (SPEC X9)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nanobench.errors import InfrastructureError
from nanobench.model.task import Task
from nanobench.verify.protection import Protection, protection
from nanobench.verify.sections import Versions, has_sections, restore
from nanobench.workspace.changes import SYMLINK, Change, apply_changes
from nanobench.workspace.golden import Golden
from nanobench.workspace.paths import display
from nanobench.workspace.snapshot import Snapshot


@dataclass(frozen=True)
class TreeReport:
    """What was not taken over from the agent, as displayed paths.

    `protected`: changes of test and protected files, of what holds them, and of runner
    configuration; of a file that was taken over in part, the parts that were not stand behind
    its path, as `package.json (scripts.test)`.
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
    refused = [one for one in changes if guard.refuses(one.path) or guard.shadows(one)]
    carried = [
        change
        for change in changes
        # Bytecode could stand in for a source file that is protected.
        if change not in refused and b"__pycache__" not in change.path.split(b"/")
    ]
    carried, restored_parts = _with_sections(carried, snapshot, golden, guard)
    conflicts = apply_changes(destination, carried)
    restored = [change for change in golden.changes if guard.covers(change.path)]
    failed = apply_changes(destination, restored)
    if failed:
        raise InfrastructureError(
            "golden test files cannot be put into the verification tree",
            where=", ".join(failed[:5]),
            remedy="check 'test_files' and 'protected_files' of the task",
        )
    protected = [*(display(change.path) for change in refused), *restored_parts]
    return TreeReport(tuple(sorted(protected)), tuple(conflicts))


def _with_sections(
    changes: Sequence[Change], snapshot: Snapshot, golden: Golden, guard: Protection
) -> tuple[list[Change], list[str]]:
    """The changes with the configuration of test runners put back, and what that was."""
    held = [c for c in changes if has_sections(c.path) and c.path not in guard.required]
    base = snapshot.blobs(change.path for change in held if change.path in snapshot.entries)
    wanted = {change.path: change.content for change in golden.changes}
    kept = [change for change in changes if change not in held]
    parts: list[str] = []
    for change in held:
        if change.mode == SYMLINK:
            parts.append(display(change.path))
        elif change.content is None:
            kept.append(change)
        else:
            path = change.path
            versions = Versions(change.content, base.get(path), wanted.get(path))
            content, names = restore(path, versions, guard.commands)
            kept.append(replace(change, content=content))
            if names:
                parts.append(f"{display(path)} ({', '.join(names)})")
    return kept, parts
