"""The clone gate: all that the task points to is there, at the base commit."""

from collections.abc import Callable
from typing import TypeVar

from nanobench.dataset.gates.findings import Findings
from nanobench.errors import InvalidInputError, RepositoryError
from nanobench.model.task import PatchSource, Task
from nanobench.pipeline.bench import Material, PlannedTask, Services
from nanobench.workspace.attachments import check_attachments
from nanobench.workspace.golden import Golden, resolve_golden
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.statement import resolve_statement

T = TypeVar("T")


def clone_gate(planned: PlannedTask, services: Services, findings: Findings) -> Material | None:
    """Fetch the commits and resolve what is pinned; null unless all of it is there."""
    task = planned.task

    def attempt(field: str, resolve: Callable[[], T]) -> T | None:
        try:
            return resolve()
        except RepositoryError as error:
            findings.take_from_repository(field, error)
        except InvalidInputError as error:
            findings.take(field, error)
        return None

    snapshot = attempt(
        "base_commit", lambda: services.snapshots.get(task.repo_url, task.base_commit)
    )
    if snapshot is None:
        return None
    base = snapshot
    statement = attempt("problem_statement", lambda: resolve_statement(task, services.cache))
    golden = attempt("ground_truth_patch", lambda: resolve_golden(task, base, services.cache))
    attempt("attachments", lambda: check_attachments(task, base))
    _check_merge(task, findings)
    if golden is not None:
        _check_files(task, snapshot, golden, findings)
    if not findings.passed or statement is None or golden is None:
        return None
    return Material(planned=planned, snapshot=snapshot, golden=golden, statement=statement)


def _check_merge(task: Task, findings: Findings) -> None:
    patch = task.ground_truth_patch
    if isinstance(patch, PatchSource) and task.merge_commit not in (None, patch.merge):
        findings.add(
            "merge_commit",
            f"the patch ends at {patch.merge}, the task says it was merged as {task.merge_commit}",
            "name the same commit in both",
        )


def _check_files(task: Task, snapshot: Snapshot, golden: Golden, findings: Findings) -> None:
    """Required files are what the patch changes; test files are there once it is applied."""
    changed = {change.path: change.mode is not None for change in golden.changes}
    for number, name in enumerate(task.required_files):
        if name.encode() not in changed:
            where = "is not in the repository" if name.encode() not in snapshot.entries else ""
            findings.add(
                f"required_files[{number}]",
                f"{name} {where or 'is not changed by the golden patch'}",
                "name files that the golden patch changes",
            )
    after = {path for path in snapshot.entries if changed.get(path, True)}
    after |= {path for path, kept in changed.items() if kept}
    for number, name in enumerate(task.test_files):
        if name.encode() not in after:
            findings.add(
                f"test_files[{number}]",
                f"{name} is not there in the golden state",
                "name test files as they stand after the golden patch",
            )
