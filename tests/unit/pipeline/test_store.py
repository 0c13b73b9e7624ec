"""What is on disk after attempts that ended, were cut short, or were tampered with."""

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import InterruptedRunError, InvalidInputError, StateError
from nanobench.model.plan import Plan
from nanobench.model.record import Record
from nanobench.pipeline.records import RECORD
from nanobench.pipeline.store import ResultStore, load_results, read_plan

Finish = Callable[..., Path]


def test_attempts_are_numbered_and_the_highest_record_stands(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    cell = plan.cells[0]
    assert store.standing(cell) is None
    finish(cell, None)
    finish(cell, 0.5)
    assert [number for number, _ in store.attempts(cell)] == [1, 2]
    standing = store.standing(cell)
    assert standing is not None
    assert (standing.attempt, standing.verdict.score) == (2, 0.5)
    assert store.standing(plan.cells[1]) is None


def test_numbers_are_compared_as_numbers(store: ResultStore, plan: Plan, finish: Finish) -> None:
    for _ in range(11):
        finish(plan.cells[0], None)
    assert [number for number, _ in store.attempts(plan.cells[0])] == list(range(1, 12))


@pytest.mark.parametrize("name", ["attempt-0", "attempt-01", "attempt-x", "attempt-1.bak", "x"])
def test_other_directories_are_no_attempts(store: ResultStore, plan: Plan, name: str) -> None:
    (store.root / "cells" / plan.cells[0].cell_id / name).mkdir(parents=True)
    assert store.attempts(plan.cells[0]) == []


def test_an_attempt_that_is_seen_to_end_early_leaves_nothing(
    store: ResultStore, plan: Plan
) -> None:
    cell = plan.cells[0]

    def interrupted() -> None:
        with store.attempt(cell) as (_, directory):
            (directory / "outputs").mkdir()
            (directory / "outputs" / "a.log.gz").write_bytes(b"x")
            raise InterruptedRunError("stop")

    for _ in range(2):
        with pytest.raises(InterruptedRunError):
            interrupted()
        assert store.attempts(cell) == []


def test_a_killed_attempt_counts_and_stays(store: ResultStore, plan: Plan, finish: Finish) -> None:
    cell = plan.cells[0]
    (store.root / "cells" / cell.cell_id / "attempt-1").mkdir(parents=True)
    assert store.standing(cell) is None
    finish(cell, 1.0)
    assert [number for number, _ in store.attempts(cell)] == [1, 2]
    assert load_results([store.root]).problems == ()


def test_a_record_survives_trouble_after_it(
    store: ResultStore, plan: Plan, make_record: Callable[..., Record]
) -> None:
    def torn_down_badly() -> None:
        with store.attempt(plan.cells[0]) as (_, directory):
            (directory / RECORD).write_text(make_record(1.0).to_json())
            raise StateError("cannot remove the workspace")

    with pytest.raises(StateError):
        torn_down_badly()
    assert store.standing(plan.cells[0]) == make_record(1.0)


def test_a_graded_cell_is_never_attempted_again(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    finish(plan.cells[0], 0.0)
    with pytest.raises(StateError, match="just graded this cell"):
        finish(plan.cells[0], 1.0)
    assert len(store.attempts(plan.cells[0])) == 1


def _broken(data: bytes) -> dict[str, bytes]:
    document = json.loads(data)
    return {
        "truncated": data[: len(data) // 2],
        "empty": b"",
        "no text": b"\xff\xfe",
        "foreign": b'{"hello": "world"}',
        "no version": json.dumps({**document, "schema_version": None}).encode(),
        "no such version": json.dumps(document | {"schema_version": "0.9"}).encode(),
        "unknown field": json.dumps(document | {"news": 1}).encode(),
        "too deep": b"[" * 100_000,
    }


@pytest.mark.parametrize("kind", _broken(b"{}"))
def test_a_record_that_cannot_be_read_is_named_and_its_cell_run_again(
    store: ResultStore, plan: Plan, finish: Finish, kind: str
) -> None:
    path = finish(plan.cells[0], 1.0) / RECORD
    finish(plan.cells[1], 1.0)
    path.write_bytes(_broken(path.read_bytes())[kind])
    assert store.standing(plan.cells[0]) is None
    results = load_results([store.root])
    assert [record.cell for record in results.records] == [plan.cells[1]]
    (problem,) = results.problems
    assert problem.startswith(f"cells/{plan.cells[0].cell_id}/attempt-1/record.json: ")
    finish(plan.cells[0], 0.5)
    assert len(store.attempts(plan.cells[0])) == 2


def test_a_newer_versions_record_is_refused_by_name_and_its_cell_never_run_again(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    path = finish(plan.cells[0], 1.0) / RECORD
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps(document | {"schema_version": "9.0", "news": 1}))
    with pytest.raises(
        InvalidInputError, match=r"record schema 9\.0.* reads up to 1\.1"
    ) as failure:
        store.standing(plan.cells[0])
    assert failure.value.where == str(path)
    with pytest.raises(InvalidInputError), store.attempt(plan.cells[0]):
        pass
    assert len(store.attempts(plan.cells[0])) == 1
    (problem,) = load_results([store.root]).problems
    assert "record schema 9.0" in problem


@pytest.mark.parametrize("kind", ["link", "directory", "fifo"])
def test_only_a_regular_file_is_a_record(
    store: ResultStore, plan: Plan, finish: Finish, tmp_path: Path, kind: str
) -> None:
    path = finish(plan.cells[0], 1.0) / RECORD
    path.rename(tmp_path / "kept.json")
    if kind == "link":
        path.symlink_to(tmp_path / "kept.json")
    elif kind == "directory":
        path.mkdir()
    else:
        import os

        os.mkfifo(path)
    assert store.standing(plan.cells[0]) is None
    assert "there is no record" in load_results([store.root]).problems[0]


def test_a_record_of_another_cell_does_not_stand(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    record = finish(plan.cells[0], 1.0) / RECORD
    finish(plan.cells[1], None).joinpath(RECORD).write_bytes(record.read_bytes())
    assert store.standing(plan.cells[1]) is None


def test_a_directory_keeps_its_plan(store: ResultStore, plan: Plan) -> None:
    store.adopt(plan)
    before = (store.root / "plan.json").read_bytes()
    store.adopt(plan)
    with pytest.raises(InvalidInputError, match="results of another plan") as caught:
        store.adopt(plan.model_copy(update={"ruleset": "1.0"}))
    assert (caught.value.where, bool(caught.value.remedy)) == (str(store.root / "plan.json"), True)
    assert (store.root / "plan.json").read_bytes() == before


def test_clearing_leaves_nothing_of_the_results(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    store.adopt(plan)
    finish(plan.cells[0], 1.0)
    store.clear()
    assert (load_results([store.root]).plan, load_results([store.root]).records) == (None, ())


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"{}", b"null", b"[" * 100_000, b'{"schema_version": "2.0"}', b"\xef\xbb\xbf{}"],
)
def test_what_is_no_plan_is_refused_with_its_place(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match="this is not a plan: ") as caught:
        read_plan(path)
    assert (caught.value.where, bool(caught.value.remedy)) == (str(path), True)


def test_results_of_two_plans_are_not_merged(tmp_path: Path, plan: Plan) -> None:
    ResultStore(tmp_path / "a").adopt(plan)
    ResultStore(tmp_path / "b").adopt(plan)
    assert load_results([tmp_path / "a", tmp_path / "b"]).plan == plan
    ResultStore(tmp_path / "c").adopt(plan.model_copy(update={"ruleset": "1.0"}))
    with pytest.raises(InvalidInputError, match="different plans"):
        load_results([tmp_path / "a", tmp_path / "c"])


def test_records_are_looked_for_where_attempts_are(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    inside = finish(plan.cells[0], 1.0) / "outputs" / "package"
    inside.mkdir(parents=True)
    (inside / RECORD).write_text("a file of the task")
    assert load_results([store.root.parent]).problems == ()
    assert len(load_results([store.root.parent]).records) == 1


def test_a_file_in_the_place_of_the_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    for path in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(StateError, match="cannot write"):
            ResultStore(path)
    assert (tmp_path / "file").read_text() == "kept"


def _try(root: Path, plan: Plan, answers: Any) -> None:
    store = ResultStore(root)
    for hold in (store.held, lambda: store.attempt(plan.cells[0])):
        try:
            with hold():
                answers.put("entered")
        except StateError as error:
            answers.put(error.what)


def test_another_process_is_kept_out_and_let_in_afterwards(store: ResultStore, plan: Plan) -> None:
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()

    def ask() -> list[str]:
        process = context.Process(target=_try, args=(store.root, plan, answers))
        process.start()
        found = [answers.get(timeout=60) for _ in range(2)]
        process.join(60)
        return found

    with store.held(), store.attempt(plan.cells[0]):
        assert ask() == [
            "another bench is using this output directory",
            "another process is running this cell",
        ]
    assert ask() == ["entered", "entered"]


def test_the_next_attempt_empties_those_that_were_cut_short(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    cell = plan.cells[0]
    cut = store.root / "cells" / cell.cell_id / "attempt-1"
    (cut / "outputs").mkdir(parents=True)
    (cut / ".record.json.abcd1234").write_text("{")
    (cut / "outputs" / "half.log.gz").write_bytes(b"x")
    kept = finish(cell, None)
    (kept / "beside.txt").write_text("x")
    assert [number for number, _ in store.attempts(cell)] == [1, 2]
    assert list(cut.iterdir()) == []
    (kept / RECORD).write_text("{ broken")  # it can be looked into, and is named in the report
    finish(cell, 1.0)
    assert sorted(path.name for path in kept.iterdir()) == ["beside.txt", RECORD]


def test_halves_of_plans_and_reports_are_swept_by_who_holds_the_directory(
    store: ResultStore,
) -> None:
    half = [".plan.json.abcd1234", "report/.report.md.abcd1234", "report/.comparison.json.a_bc1234"]
    others = [".plan.json.bak", "report/.hidden", "src/.eslintrc.abcd1234", "report/report.md"]
    for name in (*half, *others):
        path = store.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    with store.held():
        assert [name for name in half if (store.root / name).exists()] == []
    assert [name for name in others if not (store.root / name).exists()] == []


def test_a_damaged_plan_says_how_to_go_on(store: ResultStore, plan: Plan) -> None:
    store.adopt(plan)
    (store.root / "plan.json").write_text("{")
    with pytest.raises(InvalidInputError, match="not a plan") as failure:
        store.adopt(plan)
    assert "remove the file" in failure.value.remedy
    (store.root / "plan.json").unlink()
    store.adopt(plan)
