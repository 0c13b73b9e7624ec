"""Annotations for tasks that failed, regressed or left no record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nanobench.github.actions import Annotation

if TYPE_CHECKING:
    from nanobench.report.comparison_document import Comparison, TaskChange
    from nanobench.report.document import Report, TaskResult

_CLAIM = 0.05


def task_annotations(
    report: Report, comparison: Comparison | None, checkout: Path | None
) -> list[Annotation]:
    """Errors for tasks that got worse or have no result, warnings for those that failed.

    They point to the task's file where the checkout has it.
    """
    found = [
        *_worse(comparison, checkout),
        *(note for section in report.sections for t in section.tasks for note in _of(t, checkout)),
    ]
    return sorted(found, key=lambda note: note.level != "error")


def _worse(comparison: Comparison | None, checkout: Path | None) -> Iterator[Annotation]:
    for change in comparison.tasks if comparison else ():
        if _is_claim(change):
            yield Annotation(
                "error",
                f"{change.task_id} got worse",
                f"{change.model} {change.mode}: {change.solved_before}/{change.runs_before} runs "
                f"passed before, {change.solved_after}/{change.runs_after} now",
                _file(change.task_id, checkout),
            )


def _is_claim(change: TaskChange) -> bool:
    if change.p_adjusted is None or change.p_adjusted > _CLAIM:
        return False
    return change.solved_after * change.runs_before < change.solved_before * change.runs_after


def _of(task: TaskResult, checkout: Path | None) -> Iterator[Annotation]:
    name, file = f"{task.model} {task.mode}", _file(task.task_id, checkout)
    if task.missing:
        told = f"{name}: {task.missing} runs left no record"
        yield Annotation("error", f"{task.task_id} has missing runs", told, file)
    if task.infrastructure:
        told = f"{name}: {task.infrastructure} runs ended in infrastructure trouble"
        yield Annotation("warning", f"{task.task_id} was not scored", told, file)
    if task.failure_modes:
        modes = ", ".join(f"{mode} {count}" for mode, count in task.failure_modes.items())
        told = f"{name}: {task.raw_count} runs passed; {modes}"
        yield Annotation("warning", f"{task.task_id} failed", told, file)


def _file(task_id: str, checkout: Path | None) -> str | None:
    """The task's file in the checkout; a task id has no sign that a pattern would read."""
    found = sorted(checkout.glob(f"tasks/*/{task_id}.json")) if checkout else []
    return found[0].relative_to(checkout).as_posix() if found and checkout else None
