"""What the agent says of itself can be anything: it becomes signals that a record can hold."""

import json

from nanobench.agent.contract import check_report, known_versions
from nanobench.agent.nanocoder import AgentRun
from nanobench.agent.outcome import read_outcome
from nanobench.agent.trajectory import trajectory_signals

REPORT = {
    "kind": "success",
    "exitCode": 0,
    "finalText": "done",
    "reasoning": None,
    "toolCalls": [
        {
            "name": "read_file",
            "arguments": {"path": "/ws/a", "start_line": 1, "end_line": 2},
            "result": "x",
        },
        {"name": "execute_bash", "arguments": {"command": "git log | cat > b"}, "error": "x"},
    ],
    "filesChanged": ["/ws/a"],
    "usage": {"inputTokens": 2, "outputTokens": 1},
}


def test_any_report_becomes_signals(tmp_path, spoiled):
    report, stderr = tmp_path / "report.json", tmp_path / "stderr.txt"
    run = AgentRun(
        exit_code=1,
        timed_out=False,
        duration_seconds=1.0,
        report_path=report,
        stderr_path=stderr,
        launched=True,
        workspace="/ws",
    )
    for document in spoiled(REPORT):
        report.write_text(json.dumps(document))
        stderr.write_text(f"Request failed (500): {json.dumps(document)}")
        found = read_outcome(run, None, ("a",))
        found.signals.to_json()
        found.tools.to_json()
        "".join(found.reported or ()).encode()
        trajectory_signals(found.report, None, found.signals.ending, "/ws").to_json()


def test_any_document_is_held_against_the_contract(spoiled):
    for document in spoiled(REPORT):
        for version in known_versions():
            assert check_report(document, version) or document == REPORT
