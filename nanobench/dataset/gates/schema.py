"""The schema gate: the file is a task that can be used as it stands."""

from pathlib import Path

from nanobench.dataset.catalog import TaskEntry, load_task
from nanobench.dataset.extract.extraction import suggested_tier
from nanobench.dataset.gates.findings import Findings
from nanobench.dataset.lifecycle import unassigned
from nanobench.dataset.reading import MisfitError
from nanobench.errors import InvalidInputError
from nanobench.model.task import StatementSource, Task
from nanobench.verify.adapters import adapt

# A person alone gives this tier (SPEC T4).
_INVESTIGATIVE = 4


def schema_gate(path: Path, findings: Findings) -> TaskEntry | None:
    """Read the task; null if it cannot be read, so that no other gate can be run."""
    try:
        entry = load_task(path)
    except MisfitError as error:
        for place, what in error.problems:
            findings.add(place, what, error.remedy)
        return None
    except InvalidInputError as error:
        findings.take(None, error)
        return None
    task = entry.task
    _check_place(path, task, findings)
    _check_statement(task, findings)
    _check_commands(task, findings)
    _check_tier(task, findings)
    for name in unassigned(task):
        findings.warn(
            name,
            "nobody has said it yet",
            "say it; a task without it cannot be approved (docs/task-file.md)",
        )
    return entry


def _check_place(path: Path, task: Task, findings: Findings) -> None:
    folder = task.repo.replace("/", "-")
    if path.resolve().parent.name != folder:
        findings.add(
            "repo",
            f"a task of {task.repo} stands in the folder {path.resolve().parent.name!r}",
            f"move the file to tasks/{folder}/",
        )
    for other in sorted(path.resolve().parent.parent.glob(f"*/{path.name}")):
        if other != path.resolve():
            findings.add(
                "task_id",
                f"{task.task_id!r} is the id of another task: {other.parent.name}/{other.name}",
                "choose another id; ids are never used twice, not even of retired tasks",
            )


def _check_statement(task: Task, findings: Findings) -> None:
    source = task.problem_statement
    if isinstance(source, StatementSource) and source.from_ in ("issue", "pull_request"):
        tell = findings.add if task.curation.state == "approved" else findings.warn
        tell(
            "problem_statement.from",
            f"the statement is taken from {source.from_!r}, which others can edit",
            "before the task is published, point to a commit message or a file (SPEC T2)",
        )


def _check_commands(task: Task, findings: Findings) -> None:
    for number, suite in enumerate(task.all_suites()):
        field = f"suites[{number}].command" if task.suites else "test_command"
        try:
            adapt(suite, "results")
        except InvalidInputError as error:
            findings.take(field, error)


def _check_tier(task: Task, findings: Findings) -> None:
    suggested = suggested_tier(len(task.required_files))
    if task.tier() not in (suggested, _INVESTIGATIVE):
        findings.warn(
            "complexity_tier",
            f"{len(task.required_files)} required files suggest tier {suggested}, "
            f"the file says {task.tier()}",
            "check the tier; a person decides",
        )
