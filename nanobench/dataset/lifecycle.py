"""Decisions of people about a task, kept in its file: approval, retirement, rulings."""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from nanobench.dataset.catalog import TaskEntry, load_task
from nanobench.dataset.extract.extraction import UNASSIGNED
from nanobench.dataset.task_files import rewrite
from nanobench.dataset.version_names import order
from nanobench.errors import GateError, UsageError
from nanobench.model.task import JudgementChecks, Ruling, StatementSource, Task

CHECKS = tuple(JudgementChecks.model_fields)
_JUDGED = ("domain", "task_type", "reasoning_category", "contributor")
_EDITABLE = ("issue", "pull_request")


@dataclass(frozen=True)
class Retirement:
    """Why and when a task leaves; `version` is the first dataset version without it."""

    reason: str
    text: str
    on: date
    version: str


def approve(path: Path, by: str, on: date, checks: frozenset[str]) -> TaskEntry:
    """Take a candidate into the dataset.

    Args:
        checks: the ones of `CHECKS` that the person made and found true.

    Raises:
        UsageError: a check was not made, nobody is named, or the day is before the merge.
        GateError: the task is not ready, or already approved or retired; all reasons are told.
        InvalidInputError: the file is no task.
        StateError: it cannot be written.
    """
    missing = [check for check in CHECKS if check not in checks]
    if missing:
        raise UsageError(
            f"not checked: {', '.join(missing)}",
            where=str(path),
            remedy="a task is approved when all four hold: " + ", ".join(CHECKS),
        )
    _check_named(by, "--by")
    task = load_task(path).task
    _check_day(task, on)
    reasons = obstacles(task)
    if reasons:
        raise GateError(
            "the task cannot be approved: " + "; ".join(reasons),
            where=str(path),
            remedy="mend this first; docs/lifecycle.md explains each",
        )
    signed = {
        "state": "approved",
        "approved_by": by,
        "approved_on": on.isoformat(),
        "checks": dict.fromkeys(CHECKS, True),
    }
    return rewrite(path, {"curation": signed})


def obstacles(task: Task) -> list[str]:
    """Why a task is not ready for a person's approval."""
    found = []
    if task.curation.state == "approved":
        found.append(f"{task.curation.approved_by} approved it on {task.curation.approved_on}")
    if task.status.state == "retired":
        found.append(f"it is retired ({task.status.reason})")
    if task.expected is None:
        found.append("it has no 'expected', which its gate writes")
    found += [f"{name!r} is {UNASSIGNED}" for name in unassigned(task)]
    source = task.problem_statement
    if isinstance(source, StatementSource) and source.from_ in _EDITABLE:
        found.append(f"others can edit its statement, which is from {source.from_!r}")
    return found


def unassigned(task: Task) -> list[str]:
    """The fields that a person has to say and nobody has."""
    return [name for name in _JUDGED if getattr(task, name) == UNASSIGNED]


def retire(path: Path, retirement: Retirement) -> TaskEntry:
    """Take a task out of use; its file stays.

    Raises:
        UsageError: the version is none, `other` has no text, or the day is before the merge.
        GateError: the task is retired already.
        InvalidInputError: the file is no task.
        StateError: it cannot be written.
    """
    if order(retirement.version) is None:
        raise UsageError(
            f"{retirement.version!r} is no dataset version", remedy="name one such as 1.1"
        )
    if retirement.reason == "other" and not retirement.text.strip():
        raise UsageError("the reason 'other' needs its text", remedy="say why with --text")
    task = load_task(path).task
    _check_day(task, retirement.on)
    status = task.status
    if status.state == "retired":
        raise GateError(
            f"the task is retired since {status.retired_on} ({status.reason})",
            where=str(path),
            remedy="a decision is not written over; record a dispute with `nanobench task rule`",
        )
    left = {
        "state": "retired",
        "reason": retirement.reason,
        "text": retirement.text,
        "retired_on": retirement.on.isoformat(),
        "version": retirement.version.removeprefix("v"),
    }
    return rewrite(path, {"status": left})


def rule(path: Path, ruling: Ruling) -> TaskEntry:
    """Add a dispute and its outcome to a task; earlier ones stay.

    Raises:
        UsageError: the day is before the task's merge.
        InvalidInputError: the file is no task.
        StateError: it cannot be written.
    """
    task = load_task(path).task
    _check_day(task, ruling.on)
    rulings: list[Any] = [one.model_dump(mode="json") for one in (*task.rulings, ruling)]
    return rewrite(path, {"rulings": rulings})


def _check_named(name: str, option: str) -> None:
    if not name.strip():
        raise UsageError("nobody is named", where=option, remedy="name the person who decides")


def _check_day(task: Task, on: date) -> None:
    # A day less, since the decision's day is that of any time zone.
    if on < task.merged_at.date() - timedelta(days=1):
        raise UsageError(
            f"{on} is before the change was merged, on {task.merged_at.date()}",
            where="--on",
            remedy="give the day of the decision",
        )
