"""How each run went about it, and what of that points at the harness or at the model (SPEC O3, O4).

Evidence for readers beside the score: nothing here was judged, and the same sign can have either
cause. It is sorted by who could have prevented it.
"""

from collections.abc import Iterator

from nanobench.model.record import Record
from nanobench.model.signals import Signals
from nanobench.report.document import Trajectory

_TOOLS = ("vision", "ocr", "web", "browser")
_FINISHES = ("length", "content_filter")


def trajectory(record: Record) -> Trajectory:
    """The trajectory of one run as the report shows it."""
    signals = record.signals
    seen, edits = signals.trajectory, signals.edits
    used = [name for name in _TOOLS if getattr(seen, name)]
    return Trajectory(
        known=seen.known,
        calls=seen.calls,
        files_read=len(signals.tools.files_read),
        required_read=len(signals.tools.required_files_read),
        required_files=len(signals.required_files),
        rereads=seen.rereads,
        loops=seen.loops,
        unverified_claim=seen.unverified_claim,
        used=(*used, *(["shell only"] if seen.shell_only else [])),
        network_attempts=len(seen.network_attempts),
        history_attempts=len(seen.history_attempts),
        pollution=len(edits.pollution),
        unreported_edits=len(edits.observed_only) if edits.reported is not None else None,
        unobserved_edits=len(edits.reported_only) if edits.reported is not None else None,
        harness=tuple(_harness(signals)),
        model=tuple(_model(signals)),
    )


def _harness(signals: Signals) -> Iterator[str]:
    evidence, agent = signals.trajectory.harness, signals.agent
    for count, what in (
        (evidence.rejected_calls, "calls refused by Nanocoder's checks"),
        (evidence.failed_calls, "calls that gave an error"),
        (evidence.malformed_calls, "calls with arguments that are no JSON"),
        (evidence.timed_out_calls, "calls ended by the tool's own time limit"),
        (evidence.unreported_calls or 0, "calls at least that the report leaves out"),
        (evidence.cut_results, "results shown to the model in part"),
        (evidence.shrunk_requests or 0, "requests smaller than the one before"),
        (agent.retries or 0, "retries by Nanocoder"),
    ):
        if count:
            yield f"{count} {what}"
    if evidence.turn_limit:
        yield "ended by the turn limit"
    if agent.ending in ("approval_required", "configuration_error", "crashed", "aborted"):
        yield f"ending: {agent.ending}"
    if agent.report != "complete":
        yield f"report: {agent.report}"


def _model(signals: Signals) -> Iterator[str]:
    seen, agent = signals.trajectory, signals.agent
    if seen.loops:
        yield f"{seen.loops} loops, the longest of {seen.longest_repeat} calls"
    if seen.rereads:
        yield f"{seen.rereads} calls that show again what was shown"
    if seen.unverified_claim:
        yield "success claimed, nothing run after the last edit"
    if seen.history_attempts:
        yield f"{len(seen.history_attempts)} looks for other states of the repository"
    if seen.harness_attempts:
        yield f"{len(seen.harness_attempts)} reaches for files or processes of the harness"
    if signals.edits.protected:
        yield f"{len(signals.edits.protected)} test or protected files edited"
    if agent.ending == "empty_response":
        yield "empty reply"
    finish = agent.finish_reason or ""
    if finish in _FINISHES or agent.error_class in _FINISHES:
        yield f"reply ended by {finish if finish in _FINISHES else agent.error_class}"
