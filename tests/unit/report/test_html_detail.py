"""What a reader may ask of one run, and that it stays small."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.record import Record
from nanobench.report.attempts import Attempt
from nanobench.report.html.detail import detail
from nanobench.report.html.page import script_json

Make = Callable[..., Record]
LONG = "x" * 1_000_000
RAN: dict[str, Any] = {
    "exit_code": 1,
    "duration_seconds": 2.5,
    "timed_out": False,
    "truncated": True,
    "output_lines": 900,
    "head": "first lines",
    "tail": "last lines",
}


@pytest.fixture
def full(tmp_path: Path, make_record: Make) -> Attempt:
    """An attempt with every file, the suite's output too long to be shown whole."""
    verdict = {"category": "partial_fix_only", "rule": 5, "level": "1 + 2", "evidence": ["1 of 2"]}
    record = make_record(0.5, verdict=verdict)
    document = record.model_dump(mode="json")
    document["completion"]["commands_run"] = [
        {**RAN, "command": "nanocoder run", "output_id": "agent-report"},
        {**RAN, "command": "pytest", "output_id": "suite"},
    ]
    (tmp_path / "outputs").mkdir()
    calls = [
        {"name": "read_file", "arguments": {"path": "src/a.py"}, "result": "text", "error": None}
    ]
    report = {"kind": "success", "exitCode": 0, "finalText": "Done.", "toolCalls": calls * 200}
    for name, text in (
        ("agent-report", json.dumps(report)),
        ("agent-stderr", "nanocoder"),
        ("suite", LONG),
    ):
        path = tmp_path / "outputs" / f"{name}.log.gz"
        path.write_bytes(gzip.compress(text.encode()))
    (tmp_path / "prompt.txt").write_text("Make it work.")
    (tmp_path / "agent.patch").write_text(f"+{LONG}")
    lines = [json.dumps({"status": 200, "finish_reason": "stop", "attempts": [1, 2]})]
    (tmp_path / "gateway.jsonl").write_text("\n".join(lines * 400))
    return Attempt(Record.model_validate(document), tmp_path)


def test_every_part_of_a_run_is_told(full: Attempt) -> None:
    found = detail(full)
    facts = dict(found["facts"])
    assert (facts["category by the rules"], facts["rule"], facts["level"]) == (
        "partial_fix_only",
        "5",
        "1 + 2",
    )
    assert found["evidence"] == ["1 of 2"]
    assert "rule 5" in found["explained"]
    assert found["prompt"]["text"] == "Make it work."
    assert found["final"] == "Done."
    assert found["edits"] == [["src/a.py", "modified", "required"]]
    (suite,) = found["suites"]
    assert suite["targets"] == [1, 2]
    assert [test["id"] for test in suite["failed"]] == ["b"]
    assert [test["id"] for test in suite["regressions"]] == ["c"]
    assert found["calls"][0]["arguments"] == '{"path": "src/a.py"}'
    assert found["requests"][0][:2] == ["200", "stop"]
    assert found["requests"][0][4] == "2"


def test_what_is_cut_says_how_much_there_is(full: Attempt) -> None:
    found = detail(full)
    assert (len(found["patch"]["text"]), found["patch"]["size"]) == (65536, 1_000_001)
    assert (len(found["calls"]), found["all_calls"]) == (150, 200)
    assert (len(found["requests"]), found["all_requests"]) == (150, 400)
    stderr, suite = found["logs"]
    assert (stderr["id"], stderr["text"]) == ("agent-stderr", "nanocoder")
    assert (suite["text"], suite["head"], suite["tail"]) == (None, "first lines", "last lines")
    assert suite["lines"] == 900


def test_a_run_of_which_everything_is_huge_stays_below_a_megabyte(
    full: Attempt, make_record: Make
) -> None:
    outcomes = [
        {
            "id": f"{LONG}{number}",
            "status": "failed",
            "message": LONG[:2000],
            "details": LONG[:4000],
        }
        for number in range(500)
    ]
    suite = {
        "name": LONG,
        "language": "Python",
        "state": "crashed",
        "exit_code": 1,
        "duration_seconds": 1.0,
        "targets": outcomes,
        "regressions": outcomes,
        "suite_errors": [LONG] * 100,
    }
    edits = [{"path": f"{LONG}{n}", "change": "added"} for n in range(300)]
    record = make_record(
        0.0,
        verdict={"evidence": [LONG] * 100, "reason": LONG},
        signals={
            "verification": {"possible": True, "suites": [suite]},
            "edits": {"source": "diff", "observed": edits, "reported": []},
        },
    )
    assert full.directory is not None
    text = script_json(detail(Attempt(record, full.directory)))
    assert len(text) < 1_000_000


def test_a_run_without_files_is_told_from_its_record(make_record: Make) -> None:
    record = make_record(None, verdict={"reason": "quota", "evidence": ["quota: used up"]})
    found = detail(Attempt(record))
    assert dict(found["facts"])["reason"] == "quota"
    assert (found["prompt"], found["patch"], found["final"]) == (None, None, None)
    assert (found["calls"], found["all_calls"], found["requests"]) == ([], 0, [])
    json.loads(script_json(found))


def test_a_record_that_cannot_be_judged_anew_has_no_explanation(make_record: Make) -> None:
    record = make_record(0.0, signals={"verification": {"possible": True, "suites": []}})
    assert detail(Attempt(record))["explained"] is None


def test_words_that_a_person_has_to_look_at_are_told_with_the_edits(make_record: Make) -> None:
    document = make_record(1.0).model_dump(mode="json")
    document["signals"]["edits"]["suspect"] = ["src/a.py: os._exit"]
    path, change, told = detail(Attempt(Record.model_validate(document)))["edits"][-1]
    assert (path, change) == ("src/a.py: os._exit", "")
    assert "test runner" in told
