"""Whatever Nanocoder prints, and however it ends, signals come out and can be stored."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.agent.gateway.dialects.registry import classify_http_error
from nanobench.agent.nanocoder import AgentRun
from nanobench.agent.outcome import read_outcome
from nanobench.model.signals import AgentSignals, ToolSignals

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
CALLS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["read_file", "write_file"]) | ANY_TEXT,
        "arguments": JSON | st.fixed_dictionaries({"path": ANY_TEXT}),
        "result": st.none() | ANY_TEXT,
        "error": st.none() | ANY_TEXT,
    }
)
REPORTS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["success", "error", "tool-approval-required"]),
        "exitCode": st.integers(0, 2),
        "finalText": ANY_TEXT,
        "toolCalls": st.lists(CALLS, max_size=3),
        "filesChanged": st.lists(ANY_TEXT, max_size=3),
    },
    optional={"usage": JSON, "message": ANY_TEXT, "toolNames": JSON, "reasoning": JSON},
)
STDOUT = st.binary(max_size=200) | REPORTS.map(lambda report: json.dumps(report, indent=2).encode())


@settings(max_examples=200, deadline=None)
@given(
    stdout=STDOUT,
    stderr=st.binary(max_size=100),
    exit_code=st.none() | st.integers(-15, 255),
    timed_out=st.booleans(),
)
def test_any_output_becomes_signals_that_can_be_stored(
    stdout: bytes, stderr: bytes, exit_code: int | None, timed_out: bool
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "out").write_bytes(stdout)
        (place / "err").write_bytes(stderr)
        run = AgentRun(
            exit_code=exit_code,
            timed_out=timed_out,
            duration_seconds=0.0,
            report_path=place / "out",
            stderr_path=place / "err",
            launched=True,
            workspace="/ws",
        )
        outcome = read_outcome(run, None, ("a.py",))
    assert AgentSignals.from_json(outcome.signals.to_json()) == outcome.signals
    assert ToolSignals.from_json(outcome.tools.to_json()) == outcome.tools
    assert outcome.signals.ending != "completed" or not timed_out
    for path in outcome.tools.files_read:
        assert path != ".."
        assert not path.startswith(("/", "../"))


@settings(max_examples=200, deadline=None)
@given(status=st.integers(100, 599), body=ANY_TEXT | JSON.map(json.dumps))
def test_any_error_body_has_a_class(status: int, body: str) -> None:
    assert classify_http_error(status, body)
