"""The matrix of tasks and models of a section, run by run."""

from collections.abc import Sequence
from dataclasses import dataclass

from nanobench.model.plan import Mode, ModelRef
from nanobench.report.document import Row, Section, TaskResult
from nanobench.report.html.index import result_of

_SIGNS = {"solved": "●", "infrastructure": "!", "missing": "–"}  # noqa: RUF001 - a dash is meant
_BY_SCORE = {0.5: "◐", 0.1: "◔"}


@dataclass(frozen=True)
class Entry:
    """One task of one model in one mode: its figures, and a sign and a result for each run."""

    result: TaskResult
    runs: tuple[tuple[str, str], ...]
    only: str | None


@dataclass(frozen=True)
class Matrix:
    """Entries by task and column; null where a model did not get a task."""

    columns: tuple[tuple[ModelRef, Mode], ...]
    lines: tuple[tuple[str, tuple[Entry | None, ...]], ...]


def matrix(section: Section, cells: Sequence[Row]) -> Matrix:
    """The matrix of a section; `cells` are all cells of the report."""
    rows: dict[tuple[ModelRef, Mode, str], list[Row]] = {}
    for row in cells:
        if row.section == section.kind:
            key = row.cell.model, row.cell.mode, row.cell.task_id
            rows.setdefault(key, []).append(row)
    entries = {
        (task.model, task.mode, task.task_id): _entry(
            task, rows[task.model, task.mode, task.task_id]
        )
        for task in section.tasks
    }
    columns = tuple((summary.model, summary.mode) for summary in section.summaries)
    return Matrix(
        columns,
        tuple(
            (task, tuple(entries.get((*column, task)) for column in columns))
            for task in sorted({task.task_id for task in section.tasks})
        ),
    )


def sign(row: Row) -> str:
    """A sign for the result of a run, which needs no colour to be told from the others."""
    result = result_of(row)
    return _SIGNS.get(result) or _BY_SCORE.get(row.score or 0.0, "○")


def _entry(result: TaskResult, rows: Sequence[Row]) -> Entry:
    runs = tuple((sign(row), result_of(row)) for row in rows)
    return Entry(result, runs, rows[0].cell_id if len(rows) == 1 else None)
