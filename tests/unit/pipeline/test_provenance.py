"""Verified completion: what a record says was verified, run, kept and is still failing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.agent.nanocoder import AgentRun
from nanobench.agent.outcome import Outcome
from nanobench.model.record import Record
from nanobench.model.signals import Signals, ToolSignals, VerificationSignals
from nanobench.pipeline.acting import Acted
from nanobench.pipeline.provenance import completion


@pytest.fixture
def signals(make_record: Callable[..., Record]) -> Signals:
    """One suite: target `a` passes, target `b` fails, `c` is a regression."""
    return make_record(0.5).signals


def acted(signals: Signals, report: Path) -> Acted:
    run = AgentRun(
        exit_code=0,
        timed_out=True,
        duration_seconds=3.5,
        report_path=report,
        stderr_path=report,
        launched=True,
        workspace="/ws",
    )
    agent = signals.agent.model_copy(update={"final_text_tail": "Done."})
    outcome = Outcome(agent, ToolSignals(), (), None)
    return Acted(run, outcome, None, (), frozenset(), None, "Do it.")


def test_failures_are_named_with_their_suite(signals: Signals) -> None:
    found = completion(signals, None, None, ("agent.patch",))
    assert found.remaining_failures == ("tests: b", "tests: c")
    assert found.verification_summary == "1 of 2 target tests pass (suites: 1, regressions: 1)"
    assert (found.commands_run, found.artifacts_created) == ((), ("agent.patch",))


def test_an_impossible_verification_says_why(signals: Signals) -> None:
    impossible = VerificationSignals(possible=False, impossible_because="it was not reached")
    signals = signals.model_copy(update={"verification": impossible})
    found = completion(signals, None, None, ())
    assert found.verification_summary == "not verified: it was not reached"
    assert found.remaining_failures == ()


def test_the_agent_is_the_first_command(signals: Signals, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(b"{\n" * 500_000)
    (command,) = completion(signals, acted(signals, report), None, ()).commands_run
    assert (command.timed_out, command.duration_seconds, command.tail) == (True, 3.5, "Done.")
    assert command.output_lines == 500_000


@pytest.mark.parametrize("kind", ["missing", "link", "directory"])
def test_what_an_agent_puts_in_the_place_of_its_report_is_not_read(
    signals: Signals, tmp_path: Path, kind: str
) -> None:
    report = tmp_path / "report.json"
    if kind == "link":
        report.symlink_to("/etc/passwd")
    elif kind == "directory":
        report.mkdir()
    (command,) = completion(signals, acted(signals, report), None, ()).commands_run
    assert command.output_lines == 0
