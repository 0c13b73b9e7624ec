"""The runs as the page's script lists and filters them: one short row each."""

from collections.abc import Callable, Mapping
from typing import Any

from nanobench.report.document import Report, Row
from nanobench.report.escape import plain
from nanobench.report.terminal import cause

_WHY = 160


def run_index(report: Report, files: Mapping[str, int]) -> dict[str, Any]:
    """Models, tasks and runs by number, with names of columns.

    Args:
        report: whose cells are listed, in its order.
        files: by cell id, the number of the file that holds a run's detail; 0 is the page itself.
            A run without an entry has no detail.
    """
    models = _numbered(report, lambda row: str(row.cell.model))
    tasks = _numbered(report, lambda row: row.cell.task_id)
    return {
        "models": [plain(name) for name in models],
        "tasks": list(tasks),
        "columns": [
            *("id", "kind", "model", "task", "mode", "run", "result", "score", "tests", "why"),
            *("flags", "file"),
        ],
        "rows": [
            [
                row.cell_id,
                row.section,
                models[str(row.cell.model)],
                tasks[row.cell.task_id],
                row.cell.mode,
                row.cell.run,
                result_of(row),
                row.score,
                f"{row.targets_passed}/{row.targets}" if row.state == "present" else "",
                _why(row),
                _flags(row),
                files.get(row.cell_id),
            ]
            for row in report.cells
        ],
    }


def result_of(row: Row) -> str:
    """`solved`, the failure mode, `infrastructure` or `missing`."""
    if row.state != "present":
        return row.state
    return row.failure_mode or "solved"


def _why(row: Row) -> str:
    if row.state == "missing":
        return "it never ran"
    if row.solved:
        return ""
    told = cause(row)
    return "" if told == row.state else plain(told, _WHY)


def _flags(row: Row) -> str:
    flags = [
        *(["non-deterministic"] if row.non_deterministic else []),
        *(["possibly contaminated"] if row.possibly_contaminated else []),
    ]
    return ", ".join(flags)


def _numbered(report: Report, name: Callable[[Row], str]) -> dict[str, int]:
    names = sorted({name(row) for row in report.cells})
    return {name: number for number, name in enumerate(names)}
