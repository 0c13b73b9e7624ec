"""Results over time: what an entry is, the file that only grows, and the plot."""

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from nanobench.errors import InvalidInputError
from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.history import HistoryEntry, entries_of
from nanobench.report.history_file import add_to_history, read_history, standing_entries
from nanobench.report.history_markdown import render_history
from nanobench.report.history_plot import plot
from nanobench.report.pairing import Results

Make = Callable[..., Record]


@pytest.fixture
def entry(make_record: Make) -> HistoryEntry:
    return entries_of(Results.of("r", None, [make_record(1.0), make_record(0.0, "acme/one t2 1")]))[
        0
    ]


def later(entry: HistoryEntry, number: int, **changes: object) -> HistoryEntry:
    return entry.model_copy(
        update={
            "bench": f"{number:064x}",
            "began": entry.began + timedelta(days=number),
            "nanocoder": f"1.{30 + number}.0",
            **changes,
        }
    )


def test_an_entry_has_the_figures_of_the_report(make_record: Make) -> None:
    records = [
        make_record(1.0, "acme/one t1 1", started="2026-05-03T00:00:00Z"),
        make_record(0.5, "acme/one t2 1", started="2026-05-02T00:00:00Z"),
        make_record(None, "acme/one t3 1", started="2026-05-01T00:00:00Z"),
        make_record(1.0, "acme/two t1 1", started="2026-05-04T00:00:00Z"),
    ]
    results = Results.of("r", None, records)
    one, two = entries_of(results)
    summary = results.report.sections[0].summaries[0]
    assert (one.solved, one.valid_runs, one.infrastructure, one.tasks) == (1, 2, 1, 3)
    assert (one.pass_rate_interval, one.mean_score) == (summary.pass_rate_interval, 0.75)
    assert one.began.isoformat() == "2026-05-02T00:00:00+00:00", "trouble is run again"
    assert one.bench == two.bench
    assert one.task_set != two.task_set


def test_the_order_of_records_changes_no_entry(make_record: Make) -> None:
    records = [make_record(1.0, f"acme/{m} t1 {r}") for m in ("one", "two") for r in (1, 2)]
    expected = entries_of(Results.of("r", None, records))
    for order in itertools.permutations(records):
        assert entries_of(Results.of("r", None, order)) == expected


def test_versions_that_stand_together_are_refused(make_record: Make) -> None:
    records = [
        make_record(1.0, "acme/one t1 1"),
        make_record(1.0, "acme/one t1 2", provenance={"nanocoder": "1.31.0"}),
    ]
    with pytest.raises(InvalidInputError, match="several versions of Nanocoder"):
        entries_of(Results.of("r", None, records))


def test_results_without_a_graded_run_are_refused(make_record: Make) -> None:
    with pytest.raises(InvalidInputError, match="no run is graded"):
        entries_of(Results.of("r", None, [make_record(None)]))


def test_adding_twice_adds_once_and_no_line_is_ever_changed(
    tmp_path: Path, entry: HistoryEntry
) -> None:
    path = tmp_path / "new" / "history.jsonl"
    assert add_to_history(path, [entry]) == [entry]
    before = path.read_bytes()
    assert add_to_history(path, [entry]) == []
    assert path.read_bytes() == before
    assert add_to_history(path, [later(entry, 1)]) == [later(entry, 1)]
    assert path.read_bytes().startswith(before)
    assert read_history(path) == [entry, later(entry, 1)]


def test_more_runs_of_a_bench_take_the_place_of_fewer(make_record: Make, tmp_path: Path) -> None:
    cells = [
        Cell(model=ModelRef.parse("acme/one"), task_id="t1", mode="hinted", run=run)
        for run in (1, 2)
    ]
    task = PlanTask(task_id="t1", origin="dataset", sha256="a" * 64)
    plan = Plan(tasks=(task,), cells=tuple(cells))
    first = make_record(1.0, "acme/one t1 1", started="2026-05-01T00:00:00Z")
    second = make_record(1.0, "acme/one t1 2", started="2026-05-02T00:00:00Z")
    path = tmp_path / "history.jsonl"
    for records in ([first], [first, second]):
        add_to_history(path, entries_of(Results.of("r", plan, records)))
    assert len(read_history(path)) == 2
    (last,) = standing_entries(read_history(path))
    assert (last.valid_runs, last.missing) == (2, 0)
    again = make_record(1.0, "acme/one t1 1", started="2026-06-01T00:00:00Z")
    add_to_history(path, entries_of(Results.of("r", plan, [again])))
    assert len(standing_entries(read_history(path))) == 2, "another bench of the same plan"


@pytest.mark.parametrize("kind", ["foreign", "cut", "future", "binary", "empty line"])
def test_a_damaged_file_is_told_with_its_line_and_left_alone(
    tmp_path: Path, entry: HistoryEntry, kind: str
) -> None:
    path = tmp_path / "history.jsonl"
    add_to_history(path, [entry])
    good = path.read_bytes()
    bad = {
        "foreign": b'{"hello": 1}\n',
        "cut": good[:-20],
        "future": good.replace(b'"schema_version":"1.0"', b'"schema_version":"9.0"'),
        "binary": b"\xff\xfe\n",
        "empty line": b"\n",
    }[kind]
    path.write_bytes(good + bad)
    for use in (lambda: read_history(path), lambda: add_to_history(path, [later(entry, 1)])):
        with pytest.raises(InvalidInputError) as failure:
            use()
        assert failure.value.where == f"{path}, line 2"
    assert path.read_bytes() == good + bad


def test_a_history_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert read_history(tmp_path / "none.jsonl") == []


def test_the_plot_is_sound_and_joins_only_what_compares(entry: HistoryEntry) -> None:
    entries = [
        entry,
        later(entry, 1),
        later(entry, 2, dataset="nanobench 2.0.0"),
        later(entry, 3, dataset="nanobench 2.0.0"),
        later(entry, 4, dataset="nanobench 2.0.0", task_set="b" * 64),
    ]
    text = plot(entries)
    root = ET.fromstring(text)
    kinds = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert kinds.count("path") == 2
    assert kinds.count("circle") == 5 + 1, "one per entry, one in the legend"
    assert plot(entries) == text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_hostile_names_are_inert_in_plot_and_page(entry: HistoryEntry) -> None:
    name = "a</text><script>alert(1)</script>&\u202e](x)"
    hostile = entry.model_copy(
        update={"model": ModelRef(provider="p", model=name), "dataset": "<b>" * 50}
    )
    text = plot([hostile])
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}
    assert "script" not in tags
    assert "\u202e" not in text
    page = render_history([hostile], {str(hostile.model): "x.svg"})
    assert "<script" not in page
    assert "<b>" not in page
