"""The edited files, observed and claimed, side by side (SPEC X5)."""

from collections.abc import Collection, Sequence

from nanobench.agent.outcome import Outcome
from nanobench.model.signals import EditSignals
from nanobench.pipeline.verifying import Verified
from nanobench.workspace.diff import WorkspaceDiff


def edit_signals(
    diff: WorkspaceDiff | None,
    outcome: Outcome,
    verified: Verified | None,
    required: Sequence[str],
) -> EditSignals:
    """Hold the diff (null: none could be had) against what the agent reports."""
    reported = outcome.reported
    observed = [edit.path for edit in diff.edits] if diff else []
    return EditSignals(
        source="diff" if diff else "reported",
        observed=diff.edits if diff else (),
        reported=reported,
        observed_only=_without(observed, reported or ()),
        reported_only=_without(reported or (), observed),
        required_observed=_within(observed, required),
        required_reported=_within(reported or (), required),
        protected=verified.tree.protected if verified else (),
        suspect=verified.suspect if verified else (),
        pollution=diff.pollution if diff else (),
        skipped=(*(diff.skipped if diff else ()), *(verified.tree.conflicts if verified else ())),
        agent_committed=bool(diff and diff.agent_committed),
    )


def _without(paths: Sequence[str], others: Collection[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(sorted({path for path in paths if path not in known}))


def _within(paths: Sequence[str], required: Sequence[str]) -> tuple[str, ...]:
    edited = set(paths)
    return tuple(path for path in required if path in edited)
