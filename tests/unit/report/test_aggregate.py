import itertools
import random
from collections.abc import Callable
from typing import get_args

import pytest

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.document import FailureMode, Report
from nanobench.report.figures import FAILURE_MODES, MERGED

Make = Callable[..., Record]


def plan_of(*names: str, origin: str = "dataset") -> Plan:
    cells = []
    for name in names:
        model, task_id, run = name.split(" ")
        cells.append(
            Cell(model=ModelRef.parse(model), task_id=task_id, mode="hinted", run=int(run))
        )
    ids = sorted({cell.task_id for cell in cells})
    tasks = [PlanTask(task_id=i, origin=origin, sha256="a" * 64) for i in ids]  # type: ignore[arg-type]
    return Plan(tasks=tuple(tasks), cells=tuple(cells))


def states(report: Report) -> dict[str, str]:
    return {
        f"{row.cell.model} {row.cell.task_id} {row.cell.run}": row.state for row in report.cells
    }


def test_any_order_of_records_gives_the_same_bytes(make_record: Make) -> None:
    plan = plan_of("acme/one t1 1", "acme/one t2 1", "acme/two t1 1")
    records = [
        make_record(0.5, "acme/one t1 1", verdict={"category": "partial_fix_only", "rule": 5}),
        make_record(None, "acme/one t1 1", attempt=2, verdict={"reason": "overload"}),
        make_record(1.0, "acme/one t1 1", attempt=3),
        make_record(1.0, "acme/one t2 1", started="2026-05-02T00:00:00Z"),
        make_record(0.0, "acme/one t2 1", started="2026-05-01T00:00:00Z"),
        make_record(0.1, "zeta/x t1 1", mode="navigation"),
    ]
    expected = build_report(plan, records, ["b: bad", "a: bad"]).to_json()
    shuffler = random.Random(7)
    for _ in range(50):
        shuffler.shuffle(records)
        assert build_report(plan, records, ["a: bad", "b: bad"]).to_json() == expected


def test_the_clock_does_not_reach_the_report(make_record: Make) -> None:
    late = make_record(1.0, started="2027-01-01T00:00:00Z")
    early = make_record(1.0, started="2026-01-01T00:00:00Z")
    assert build_report(None, [late]).to_json() == build_report(None, [early]).to_json()
    assert "2027" not in build_report(None, [late]).to_json()


def test_the_highest_attempt_stands_also_against_a_better_score(make_record: Make) -> None:
    report = build_report(None, [make_record(1.0, attempt=1), make_record(0.0, attempt=2)])
    assert [(row.attempt, row.score) for row in report.cells] == [(2, 0.0)]


def test_of_two_records_of_one_attempt_the_first_started_stands_and_is_noted(
    make_record: Make,
) -> None:
    first = make_record(0.0, started="2026-05-01T00:00:00Z")
    again = make_record(1.0, started="2026-05-02T00:00:00Z")
    report = build_report(None, [again, first])
    assert report.cells[0].score == 0.0
    assert any("different records of attempt 1" in note for note in report.notes)
    same = build_report(None, [first, first])
    assert not any("different records" in note for note in same.notes)


def test_every_planned_cell_is_present_missing_or_infrastructure(make_record: Make) -> None:
    plan = plan_of("acme/one t1 1", "acme/one t1 2", "acme/one t1 3")
    report = build_report(
        plan, [make_record(1.0), make_record(None, "acme/one t1 2", verdict={"reason": "quota"})]
    )
    assert states(report) == {
        "acme/one t1 1": "present",
        "acme/one t1 2": "infrastructure",
        "acme/one t1 3": "missing",
    }
    assert [row.reason for row in report.in_state("infrastructure")] == ["quota"]


def test_missing_and_infrastructure_runs_never_enter_a_figure(make_record: Make) -> None:
    plan = plan_of("acme/one t1 1", "acme/one t1 2", "acme/one t1 3")
    trouble = make_record(None, "acme/one t1 2", verdict={"observed_score": 1.0})
    summary = build_report(plan, [make_record(0.5), trouble]).sections[0].summaries[0]
    assert (summary.valid_runs, summary.missing, summary.infrastructure) == (1, 1, 1)
    assert (summary.solved, summary.pass_rate, summary.mean_score) == (0, 0.0, 0.5)


def test_without_valid_runs_figures_are_null_not_zero() -> None:
    section = build_report(plan_of("acme/one t1 1"), []).sections[0]
    assert section.summaries[0].pass_rate is None
    assert section.summaries[0].mean_score is None
    assert section.tasks[0].pass_at_1 is None
    assert section.taxonomy.coverage is None


def test_the_mean_score_is_the_mean_of_task_means_not_of_runs(make_record: Make) -> None:
    records = [make_record(1.0, f"acme/one t1 {run}") for run in range(1, 6)]
    records.append(make_record(0.0, "acme/one t2 1"))
    summary = build_report(None, records).sections[0].summaries[0]
    assert summary.mean_score == 0.5
    assert summary.pass_rate == pytest.approx(5 / 6, abs=1e-6)


def test_pass_at_1_is_the_lowest_numbered_valid_run(make_record: Make) -> None:
    records = [
        make_record(None, "acme/one t1 1"),
        make_record(1.0, "acme/one t1 2"),
        make_record(0.0, "acme/one t1 10"),
    ]
    result = build_report(None, records).sections[0].tasks[0]
    assert result.pass_at_1 is True
    assert result.raw_count == "1/2"


@pytest.mark.parametrize(
    ("score", "verdict", "mode"),
    [
        (0.5, {"category": "partial_fix_only", "rule": 5}, "partial_fix_only"),
        (0.0, {"category": "unclassified", "reason": "asked_symbol_absent"}, "unclassified"),
        (0.0, {"rule": 2}, "zero_signal"),
        (0.5, {"reason": "timed_out"}, "ended_by_limit"),
        (1.0, {}, None),
        (None, {"reason": "quota"}, None),
    ],
)
def test_failure_mode_of_each_kind_of_verdict(
    make_record: Make, score: float | None, verdict: dict[str, object], mode: str | None
) -> None:
    report = build_report(None, [make_record(score, verdict=verdict)])
    assert report.cells[0].failure_mode == mode
    counts = report.sections[0].taxonomy.counts
    assert counts == {name: int(name == mode) for name in FAILURE_MODES}


def test_coverage_counts_hinted_zero_signal_and_not_the_unclassified(make_record: Make) -> None:
    records = [
        make_record(0.0, "acme/one t1 1", verdict={"rule": 2}),
        make_record(0.0, "acme/one t1 2", verdict={"category": "unclassified"}),
        make_record(0.5, "acme/one t1 3", verdict={"category": "partial_fix_only"}),
        make_record(1.0, "acme/one t1 4"),
    ]
    taxonomy = build_report(None, records).sections[0].taxonomy
    assert taxonomy.failed == 3
    assert taxonomy.coverage == pytest.approx(2 / 3, abs=1e-6)


def test_the_taxonomy_table_has_every_failure_mode() -> None:
    modes = {mode for part in get_args(FailureMode) for mode in get_args(part) or (part,)}
    assert {*FAILURE_MODES, MERGED} == modes


def test_scripted_and_sample_results_stand_apart_from_real_models(make_record: Make) -> None:
    plan = plan_of("scripted/gold t1 1", "acme/one t1 1")
    records = [
        make_record(1.0, "scripted/noop t1 1", provenance={"scripted": True}),
        make_record(1.0, "acme/one s 1", provenance={"dataset": "sample"}),
        make_record(0.0, "acme/one t1 1"),
    ]
    found = {section.kind: section for section in build_report(plan, records).sections}
    assert list(found) == ["models", "sample", "scripted"]
    assert [str(s.model) for s in found["scripted"].summaries] == [
        "scripted/gold",
        "scripted/noop",
    ]
    assert found["models"].summaries[0].solved == 0
    assert found["sample"].summaries[0].solved == 1


def test_a_missing_run_of_a_real_model_on_the_sample_belongs_to_the_sample() -> None:
    report = build_report(plan_of("acme/one s 1", origin="sample"), [])
    assert [row.section for row in report.cells] == ["sample"]


def test_a_row_tells_tests_edits_and_tokens(make_record: Make) -> None:
    row = build_report(None, [make_record(0.5)]).cells[0]
    assert (row.targets_passed, row.targets, row.regressions) == (1, 2, 1)
    assert row.counts == {"passed": 4, "failed": 2}
    assert row.edits == row.required_edited == ("src/a.py",)
    assert (row.usage.input_tokens, row.usage.output_tokens) == (7, 3)


def test_without_a_diff_the_reported_edits_are_shown(make_record: Make) -> None:
    edits = {"source": "reported", "reported": ["z.py", "b.py"], "required_reported": ["b.py"]}
    row = build_report(None, [make_record(0.0, signals={"edits": edits})]).cells[0]
    assert (row.edits, row.required_edited) == (("b.py", "z.py"), ("b.py",))


def test_an_agent_that_writes_many_files_does_not_bloat_the_report(make_record: Make) -> None:
    observed = [{"path": f"f{n:05}", "change": "added", "size": 1} for n in range(3000)]
    edits = {"source": "diff", "reported": None, "observed": observed}
    row = build_report(None, [make_record(0.0, signals={"edits": edits})]).cells[0]
    assert row.edited == 3000
    assert row.edits == tuple(f"f{n:05}" for n in range(50))


def test_only_provenance_that_all_records_share_is_held(make_record: Make) -> None:
    records = [
        make_record(1.0, "acme/one t1 1", provenance={"node": "22.0.0"}),
        make_record(1.0, "acme/one t1 2", provenance={"node": "24.0.0"}),
    ]
    provenance = build_report(None, records).provenance
    assert "node" not in provenance
    assert provenance["platform"] == "linux-x64"


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        ({"nanocoder": "1.30.0"}, {"nanocoder": "1.31.0"}, "different versions of Nanocoder"),
        ({"dataset": "n 1"}, {"dataset": "n 2"}, "different versions of the dataset"),
        ({"task_sha256": "a" * 64}, {"task_sha256": "b" * 64}, "not all its runs used the same"),
    ],
)
def test_mixed_results_are_noted(
    make_record: Make, first: dict[str, str], second: dict[str, str], note: str
) -> None:
    records = [
        make_record(1.0, "acme/one t1 1", provenance=first),
        make_record(1.0, "acme/one t1 2", provenance=second),
    ]
    assert any(note in text for text in build_report(None, records).notes)
    alike = [record.model_copy(update={"provenance": records[0].provenance}) for record in records]
    assert not any(note in text for text in build_report(None, alike).notes)


def test_replays_are_noted(make_record: Make) -> None:
    records = [
        make_record(1.0, "acme/one t1 1", provenance={"replay": True}),
        make_record(1.0, "acme/one t1 2"),
    ]
    assert "1 of 2 runs are replays: no provider was asked" in build_report(None, records).notes
    assert not any("replay" in note for note in build_report(None, records[1:]).notes)


def test_mixed_rulesets_are_noted(make_record: Make) -> None:
    records = [
        make_record(1.0, "acme/one t1 1"),
        make_record(1.0, "acme/one t1 2", verdict={"ruleset": "1.0"}),
    ]
    report = build_report(None, records)
    assert report.rulesets == ("1.0", "1.1")
    assert any("different rulesets" in note for note in report.notes)


def test_a_record_outside_the_plan_is_reported_and_noted(make_record: Make) -> None:
    report = build_report(plan_of("acme/one t1 1"), [make_record(1.0, "acme/one t1 2")])
    assert states(report) == {"acme/one t1 1": "missing", "acme/one t1 2": "present"}
    assert any(note.endswith("not in the plan") for note in report.notes)


def test_a_report_of_nothing_is_a_report() -> None:
    report = build_report(None, [])
    assert (report.cells, report.sections) == ((), ())
    assert Report.from_json(report.to_json()) == report


def test_rows_come_in_a_fixed_order(make_record: Make) -> None:
    names = [f"acme/{m} t{t} {r}" for m, t, r in itertools.product("ba", (2, 1), (10, 9))]
    report = build_report(None, [make_record(1.0, name) for name in names])
    assert list(states(report)) == [
        f"acme/{m} t{t} {r}" for m, t, r in itertools.product("ab", (1, 2), (9, 10))
    ]
