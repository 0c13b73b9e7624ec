"""A calibration names every miss with its evidence, and reads well."""

from collections.abc import Callable
from typing import Any

import pytest

from nanobench.model.plan import Cell, ModelRef
from nanobench.model.record import Record
from nanobench.report.calibration import LeftOut, Played, build_calibration
from nanobench.report.calibration_page import render_calibration, terminal_lines

MakeRecord = Callable[..., Record]
PASSED = [{"id": "a", "status": "passed"}]


def suite(targets: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    whole = {
        "name": "tests",
        "language": "Python",
        "state": "ok",
        "exit_code": 0,
        "duration_seconds": 1.0,
        "targets": targets,
    }
    return {"possible": True, "suites": [whole | more]}


def played(make_record: MakeRecord, behaviour: str, **signals: Any) -> Played:
    record = make_record(None, f"scripted/{behaviour} t1 1", signals=signals)
    return Played(record.cell, record)


def test_a_right_label_is_no_miss(make_record: MakeRecord) -> None:
    one = played(make_record, "gold", verification=suite(PASSED))
    found = build_calibration([one], [], ["1.0", "1.1"])
    assert found.misses == ()
    assert [(check.ruleset, check.label, check.score) for check in found.checks] == [
        ("1.0", "solved", 1.0),
        ("1.1", "solved", 1.0),
    ]
    assert found.versions["nanocoder"] == ("1.30.0",)
    assert str(found.ran_on) == "2026-05-01"


def test_a_wrong_label_is_a_miss_with_its_evidence(make_record: MakeRecord) -> None:
    found = build_calibration([played(make_record, "gold")], [], ["1.1"])
    (miss,) = found.misses
    assert (miss.expected, miss.label) == (("solved",), "partial_fix_only")
    assert miss.problem == "it is called partial_fix_only"
    assert "targets: 1 of 2" in miss.evidence
    assert found.tallies[0].misses == 1
    lines = "\n".join(terminal_lines(found))
    assert "MISS t1 gold hinted 1.1: expected solved" in lines
    assert "targets: 1 of 2" in lines
    assert "**miss:** partial_fix_only" in render_calibration(found)


def test_a_right_label_for_a_wrong_reason_is_a_miss(make_record: MakeRecord) -> None:
    skipped = suite([{"id": "a", "status": "skipped"}], exit_code=1)
    found = build_calibration(
        [played(make_record, "wrong-logic", verification=skipped)], [], ["1.1"]
    )
    (miss,) = found.misses
    assert miss.label == "unclassified"
    assert miss.problem == "the reason is targets_not_run and not assertion_failures"


def test_a_run_without_a_record_is_a_miss() -> None:
    model = ModelRef(provider="scripted", model="noop")
    cell = Cell(model=model, task_id="t1", mode="hinted", run=1)
    found = build_calibration([Played(cell, None)], [], ["1.1"])
    assert [check.problem for check in found.misses] == ["there is no record"]
    assert found.ran_on is None
    assert "no record" in render_calibration(found)


def test_a_mode_without_a_known_label_is_not_checked(make_record: MakeRecord) -> None:
    one = played(make_record, "cross-language-half")
    assert build_calibration([one], [], ["1.0", "1.1"]).checks == ()


def test_coverage_counts_failed_runs_that_a_rule_names(make_record: MakeRecord) -> None:
    nothing = {"source": "diff", "reported": []}
    failed = suite([{"id": "a", "status": "failed", "message": "assert 0"}], exit_code=1)
    runs = [
        played(make_record, "gold", verification=suite(PASSED)),
        played(make_record, "noop", verification=failed, edits=nothing),
        played(make_record, "wrong-logic", verification=failed),
    ]
    (tally,) = build_calibration(runs, [], ["1.1"]).tallies
    assert tally.seen == {"solved": 1, "zero_signal": 1, "unclassified": 1}
    assert tally.coverage == pytest.approx(0.5)
    assert "infrastructure" in tally.never_seen


def test_the_order_of_the_runs_changes_nothing(make_record: MakeRecord) -> None:
    runs = [played(make_record, name) for name in ("noop", "gold", "partial")]
    left_out = [LeftOut(task_id="t1", behaviour="renames", reason="nothing | there")]
    found = build_calibration(runs, left_out, ["1.0", "1.1"])
    assert build_calibration(runs[::-1], left_out, ["1.0", "1.1"]) == found
    assert "renames" in render_calibration(found)
    assert "nothing | there" not in render_calibration(found)
