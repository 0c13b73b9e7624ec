"""Other rulesets from records alone: what moves is shown, and nothing old is touched."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import InvalidInputError, StateError, UsageError
from nanobench.files import write_atomic
from nanobench.model.plan import Plan
from nanobench.model.record import Record
from nanobench.pipeline.records import RECORD, read_record
from nanobench.pipeline.regrading import regrade, rejudged
from nanobench.pipeline.store import PLAN, ResultStore, load_results, read_plan

SYMPTOM = {
    "kind": "missing_symbol",
    "language": "Python",
    "code": "NameError",
    "symbol": "helper",
    "suite": "tests",
    "test_ids": ["b"],
    "message": "NameError: name 'helper' is not defined",
    "in_required_files_at_base": False,
    "in_repository_at_base": True,
}
EDITS = {
    "source": "diff",
    "observed": [{"path": "src/a.py", "change": "modified"}],
    "reported": ["src/a.py"],
    "required_observed": ["src/a.py"],
    "required_reported": ["src/a.py"],
}
FAILED = [{"id": name, "status": "passed" if name == "a" else "failed"} for name in "abcd"]


def suite(targets: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "name": "tests",
        "language": "Python",
        "state": "ok",
        "exit_code": 1,
        "duration_seconds": 1.5,
        "targets": targets,
    }


@pytest.fixture
def bench(
    tmp_path: Path, plan: Plan, make_record: Callable[..., Record]
) -> Callable[..., list[Path]]:
    """A bench of two cells: the rulesets name the first otherwise, and agree on the second."""

    def make(root: Path = tmp_path / "out") -> list[Path]:
        store = ResultStore(root)
        store.adopt(plan)
        none = [{**test, "status": "failed"} for test in FAILED]
        paths = []
        for cell, targets, symptoms in (
            (plan.cells[0], none, [SYMPTOM]),
            (plan.cells[1], FAILED, []),
        ):
            verification = {"possible": True, "suites": [suite(targets)], "symptoms": symptoms}
            record = make_record(
                0.0,
                f"acme/one t1 {cell.run}",
                signals={"verification": verification, "edits": EDITS},
            )
            with store.attempt(cell) as (_, directory):
                write_atomic(directory / RECORD, rejudged(record, "1.1").to_json())
            paths.append(directory / RECORD)
        return paths

    return make


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_what_moves_is_told_with_both_verdicts(
    bench: Callable[..., list[Path]], tmp_path: Path, plan: Plan
) -> None:
    bench()
    found = regrade(tmp_path / "out", "1.0")
    assert (found.records, found.problems) == (2, ())
    (move,) = found.moved
    assert move.cell == plan.cells[0]
    assert move.path == f"cells/{move.cell_id}/attempt-1/record.json"
    assert move.changed == ("category", "rule", "reason")
    assert (move.before.category, move.before.reason) == ("unclassified", "symbol_exists")
    assert (move.after.category, move.after.rule) == ("hallucinated_api", 3)
    assert regrade(tmp_path / "out", "1.1").moved == ()


def test_the_new_records_are_whole_and_the_old_ones_untouched(
    bench: Callable[..., list[Path]], tmp_path: Path
) -> None:
    old, new = tmp_path / "out", tmp_path / "deep" / "new"
    paths = bench()
    before = tree(old)
    regrade(old, "1.0", new)
    assert tree(old) == before
    for path in paths:
        one, other = read_record(path), read_record(new / path.relative_to(old))
        assert isinstance(one, Record)
        assert isinstance(other, Record)
        assert other.verdict.ruleset == "1.0"
        assert other.model_copy(update={"verdict": one.verdict}) == one
    assert read_plan(new / PLAN).ruleset == "1.0"
    assert len(load_results([new]).records) == 2
    assert not list(new.parent.glob(".*")), "a partial directory is left"


def test_regrading_there_and_back_gives_the_same_bytes(
    bench: Callable[..., list[Path]], tmp_path: Path
) -> None:
    bench()
    regrade(tmp_path / "out", "1.0", tmp_path / "there")
    regrade(tmp_path / "there", "1.1", tmp_path / "back")
    old = {name: data for name, data in tree(tmp_path / "out").items() if ".lock" not in name}
    assert tree(tmp_path / "back") == old


def test_older_and_newer_records_side_by_side(
    bench: Callable[..., list[Path]], tmp_path: Path
) -> None:
    older, newer = bench()
    document = json.loads(older.read_bytes())
    older.write_text(json.dumps({**document, "schema_version": "1.0"}))
    newer.write_text(json.dumps({**document, "schema_version": "7.3"}))
    found = regrade(tmp_path / "out", "1.0", tmp_path / "new")
    assert (found.records, len(found.moved)) == (1, 1)
    (problem,) = found.problems
    assert problem.startswith(newer.relative_to(tmp_path / "out").as_posix())
    assert "record schema 7.3" in problem
    assert {name for name in tree(tmp_path / "new") if name.endswith(RECORD)} == {
        older.relative_to(tmp_path / "out").as_posix()
    }
    rewritten = json.loads((tmp_path / "new" / older.relative_to(tmp_path / "out")).read_bytes())
    assert rewritten["schema_version"] == "1.1"


def test_a_record_that_cannot_be_scored_is_named(
    bench: Callable[..., list[Path]], tmp_path: Path
) -> None:
    path, _ = bench()
    document = json.loads(path.read_bytes())
    document["signals"]["verification"]["suites"] = []
    path.write_text(json.dumps(document))
    found = regrade(tmp_path / "out", "1.1")
    assert found.records == 1
    assert found.problems == (
        f"{path.relative_to(tmp_path / 'out').as_posix()}: "
        "the run has no target test and cannot be scored",
    )


@pytest.mark.parametrize("place", ["out", "out/new", ".", "link/new"])
def test_new_records_never_lie_among_the_old_ones(
    bench: Callable[..., list[Path]], tmp_path: Path, place: str
) -> None:
    bench()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    before = tree(tmp_path)
    with pytest.raises(UsageError, match="among the old ones"):
        regrade(tmp_path / "out", "1.0", tmp_path / place)
    assert tree(tmp_path) == before


def test_a_directory_that_holds_something_is_refused_and_an_empty_one_taken(
    bench: Callable[..., list[Path]], tmp_path: Path
) -> None:
    bench()
    new = tmp_path / "new"
    new.mkdir()
    (new / "file").write_text("kept")
    with pytest.raises(InvalidInputError, match="holds something already"):
        regrade(tmp_path / "out", "1.0", new)
    assert tree(new) == {"file": b"kept"}
    with pytest.raises(InvalidInputError, match="holds something already"):
        regrade(tmp_path / "out", "1.0", new / "file")
    (new / "file").unlink()
    assert regrade(tmp_path / "out", "1.0", new).records == 2
    assert (new / PLAN).is_file()


def test_the_empty_working_directory_is_a_place_too(
    bench: Callable[..., list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    regrade(tmp_path / "out", "1.0", Path())
    assert (tmp_path / "here" / PLAN).is_file()


def test_nothing_is_left_of_a_regrading_that_fails(
    bench: Callable[..., list[Path]], tmp_path: Path
) -> None:
    bench()
    (tmp_path / "out" / "broken").mkdir()
    (tmp_path / "out" / "broken" / PLAN).write_text("{}")
    before = tree(tmp_path)
    with pytest.raises(InvalidInputError, match="not a plan"):
        regrade(tmp_path / "out", "1.0", tmp_path / "new")
    assert tree(tmp_path) == before
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("a file")
    with pytest.raises(StateError):
        regrade(tmp_path / "out", "1.0", tmp_path / "file" / "new")


def test_where_there_are_no_results(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InvalidInputError, match="neither a plan nor a record"):
            regrade(place, "1.0", tmp_path.parent / f"{tmp_path.name}-new")
