from collections.abc import Callable
from pathlib import Path

from nanobench.github.annotating import task_annotations
from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.comparison import compare_results
from nanobench.report.pairing import Results

Make = Callable[..., Record]
TASKS = ("t1", "t2")


def side(make: Make, solved: dict[str, int], *, missing: bool = False) -> Results:
    """Twenty runs of each task, of which so many are solved; `missing`: two of t2 are not there."""
    cells = [
        Cell(model=ModelRef.parse("acme/one"), task_id=task, mode="hinted", run=run)
        for task in TASKS
        for run in range(1, 21)
    ]
    failed = {"rule": 2, "level": "1 structural"}
    records = []
    for cell in cells:
        passed = cell.run <= solved[cell.task_id]
        if not (missing and cell.task_id == "t2" and cell.run > 18):
            name = f"acme/one {cell.task_id} {cell.run}"
            records.append(make(float(passed), name, verdict={} if passed else failed))
    tasks = tuple(PlanTask(task_id=t, origin="dataset", sha256="a" * 64, tier=1) for t in TASKS)
    return Results.of("side", Plan(tasks=tasks, cells=tuple(cells)), records)


def told(before: Results | None, after: Results, checkout: Path | None = None) -> list[str]:
    comparison = compare_results(before, after) if before else None
    found = task_annotations(after.report, comparison, checkout)
    return [f"{note.level} {note.file or '-'} {note.title}" for note in found]


def test_a_task_that_got_worse_is_an_error_and_one_that_fails_as_before_a_warning(
    make_record: Make,
) -> None:
    before = side(make_record, {"t1": 20, "t2": 10})
    after = side(make_record, {"t1": 2, "t2": 9})
    assert told(before, after) == [
        "error - t1 got worse",
        "warning - t1 failed",
        "warning - t2 failed",
    ]
    assert "error" not in " ".join(told(after, before))


def test_missing_runs_are_errors_and_come_first(make_record: Make) -> None:
    after = side(make_record, {"t1": 3, "t2": 20}, missing=True)
    assert told(None, after) == ["error - t2 has missing runs", "warning - t1 failed"]


def test_the_file_of_a_task_is_named_only_if_it_is_there(make_record: Make, tmp_path: Path) -> None:
    (tmp_path / "tasks/acme").mkdir(parents=True)
    (tmp_path / "tasks/acme/t1.json").write_text("{}")
    after = side(make_record, {"t1": 3, "t2": 3})
    assert told(None, after, tmp_path) == [
        "warning tasks/acme/t1.json t1 failed",
        "warning - t2 failed",
    ]
