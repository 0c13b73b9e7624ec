"""Observed and claimed edits, side by side."""

from nanobench.agent.outcome import Outcome
from nanobench.model.signals import AgentSignals, FileEdit, ToolSignals, VerificationSignals
from nanobench.pipeline.edits import edit_signals
from nanobench.pipeline.verifying import Verified
from nanobench.verify.tree import TreeReport
from nanobench.workspace.diff import WorkspaceDiff

AGENT = AgentSignals(ending="completed", exit_code=0, report="complete", report_bytes=1)
REQUIRED = ("src/b.py", "src/a.py")


def outcome(*reported: str, report: bool = True) -> Outcome:
    return Outcome(AGENT, ToolSignals(), reported if report else None, None)


def diff(*paths: str, committed: bool = False) -> WorkspaceDiff:
    return WorkspaceDiff(
        changes=(),
        edits=tuple(FileEdit(path=path, change="modified", size=1) for path in paths),
        patch=b"",
        pollution=(".nanocoder/",),
        skipped=("fifo",),
        agent_committed=committed,
    )


def test_every_disagreement_is_recorded() -> None:
    signals = edit_signals(
        diff("src/a.py", "by-shell.txt"), outcome("src/a.py", "failed.py"), None, REQUIRED
    )
    assert signals.source == "diff"
    assert (signals.observed_only, signals.reported_only) == (("by-shell.txt",), ("failed.py",))
    assert (signals.required_observed, signals.required_reported) == (("src/a.py",), ("src/a.py",))
    assert (signals.pollution, signals.skipped) == ((".nanocoder/",), ("fifo",))


def test_required_files_keep_the_order_of_the_task() -> None:
    signals = edit_signals(diff("src/a.py", "src/b.py"), outcome(), None, REQUIRED)
    assert signals.required_observed == REQUIRED
    assert signals.observed_only == ("src/a.py", "src/b.py")


def test_without_a_report_nothing_is_claimed() -> None:
    signals = edit_signals(diff("x"), outcome(report=False), None, REQUIRED)
    assert (signals.reported, signals.observed_only) == (None, ("x",))
    assert signals.required_reported == ()


def test_without_a_diff_the_report_serves_and_says_so() -> None:
    signals = edit_signals(None, outcome("src/a.py"), None, REQUIRED)
    assert (signals.source, signals.observed, signals.agent_committed) == ("reported", (), False)
    assert (signals.required_observed, signals.required_reported) == ((), ("src/a.py",))


def test_what_verification_did_not_take_over_is_told() -> None:
    tree = TreeReport(protected=("tests/test_a.py",), conflicts=("src",))
    verified = Verified(VerificationSignals(possible=True), tree, (), ())
    signals = edit_signals(diff("x", committed=True), outcome(), verified, REQUIRED)
    assert signals.protected == ("tests/test_a.py",)
    assert (signals.skipped, signals.agent_committed) == (("fifo", "src"), True)
