"""How a run of the agent ended: report, stderr, exit status and exchanges become signals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.dialects.errors import (
    COST_LIMIT_CODE,
    REQUEST_LIMIT_CODE,
    TOKEN_LIMIT_CODE,
)
from nanobench.agent.gateway.route import UNKNOWN_DIALECT
from nanobench.agent.phrases import classify_report_message, classify_stderr, error_text
from nanobench.agent.report_file import StdoutReport, read_bounded, read_report
from nanobench.agent.tools import relative_path, tool_signals
from nanobench.model.report import AgentReport
from nanobench.model.signals import AgentSignals, Ending, ErrorClass, ToolSignals, Usage

if TYPE_CHECKING:
    from nanobench.agent.nanocoder import AgentRun

_MAX_TEXT = 500
_MAX_STDERR_BYTES = 256 * 1024
_OWN_REPLIES: frozenset[ErrorClass] = frozenset({"length", "content_filter", "empty"})
_SOFT: frozenset[ErrorClass] = _OWN_REPLIES | {"stream_cut", "bad_response"}
_RETRIED: frozenset[ErrorClass] = frozenset(
    {"rate_limit", "quota", "overload", "server_error", "connection", "timeout"}
)
_REFUSALS: frozenset[ErrorClass] = frozenset({"budget", "unmetered", "replay"})
_LIMITS: dict[str, Ending] = {
    REQUEST_LIMIT_CODE: "request_limit",
    TOKEN_LIMIT_CODE: "token_limit",
    COST_LIMIT_CODE: "cost_limit",
}
_FINISH: dict[str, ErrorClass] = {"length": "length", "content_filter": "content_filter"}


@dataclass(frozen=True)
class Outcome:
    """What is known of the agent's run.

    Attributes:
        signals: ending, error, usage.
        tools: what its tools did; empty without a report.
        reported: `filesChanged`, workspace paths made relative, others as the model wrote
            them; null without a report.
        report: the report itself; null if none could be read.
    """

    signals: AgentSignals
    tools: ToolSignals
    reported: tuple[str, ...] | None
    report: AgentReport | None


@dataclass(frozen=True)
class _Error:
    error_class: ErrorClass | None = None
    source: str | None = None
    message: str = ""


def read_outcome(
    run: "AgentRun", exchanges: Sequence[Exchange] | None, required_files: Sequence[str]
) -> Outcome:
    """Classify a run (`report` first, then what the provider said, then stderr's phrases).

    Args:
        run: the finished run.
        exchanges: every request that the gateway or the scripted server saw, in order;
            null when nothing stood between agent and provider.
        required_files: the task's, relative.
    """
    stdout = read_report(run.report_path)
    _, stderr = read_bounded(run.stderr_path, _MAX_STDERR_BYTES)
    message = error_text(stderr.decode("utf-8", "replace"))
    ending, error = _ending(run, stdout, message, asked=bool(exchanges))
    ending, error = _heed_provider(ending, error, exchanges or ())
    ending, error = _heed_refusal(ending, error, exchanges or ())
    report = stdout.report
    reported = None
    if report is not None:
        paths = (relative_path(path, run.workspace) or path for path in report.files_changed)
        reported = tuple(dict.fromkeys(paths))
    return Outcome(
        signals=AgentSignals.model_validate(
            {
                "ending": ending,
                "exit_code": run.exit_code,
                "report": stdout.state,
                "report_bytes": stdout.size,
                "trailing_bytes": stdout.trailing,
                "error_class": error.error_class,
                "error_source": error.source,
                "error_message": error.message[:_MAX_TEXT] or None,
                "final_text_tail": report.final_text[-_MAX_TEXT:] if report else "",
                "usage": _usage(report, exchanges),
                **_counts(exchanges),
            }
        ),
        tools=tool_signals(report, run.workspace, required_files),
        reported=reported,
        report=report,
    )


def _ending(
    run: "AgentRun", stdout: StdoutReport, stderr: str, *, asked: bool
) -> tuple[Ending, _Error]:
    """The ending as Nanocoder tells it, without regard to what the provider said.

    What has `asked` the provider was started, even if the agent killed what would have said so.
    """
    if run.timed_out:
        return "timed_out", _Error(message=stderr)
    if stdout.report is not None:
        return _reported_ending(stdout.report)
    if not run.launched and not asked:
        return "crashed", _Error("configuration", "stderr", stderr or "Nanocoder did not start")
    if _killed(run.exit_code):
        return "aborted", _Error(message=stderr)
    if stdout.claimed_kind == "success":
        return "completed", _Error()
    if run.exit_code == 2 or stdout.claimed_kind == "tool-approval-required":
        return "approval_required", _Error("configuration", "report")
    if run.exit_code == 0:
        # Nanocoder answers SIGTERM and SIGINT with exit code 0 and no report
        return ("aborted" if stdout.state == "missing" else "crashed"), _Error(message=stderr)
    return _unreported_failure(stderr)


def _unreported_failure(stderr: str) -> tuple[Ending, _Error]:
    error_class = classify_stderr(stderr)
    if error_class == "configuration":
        return "configuration_error", _Error(error_class, "stderr", stderr)
    if error_class is not None:
        return "provider_error", _Error(error_class, "stderr", stderr)
    return "crashed", _Error("unknown", "stderr", stderr) if stderr else _Error()


def _reported_ending(report: AgentReport) -> tuple[Ending, _Error]:
    if report.kind == "success":
        return "completed", _Error()
    if report.kind == "tool-approval-required":
        tools = ", ".join(report.tool_names)
        message = f"approval required for: {tools}"
        return "approval_required", _Error("configuration", "report", message)
    message = report.message or ""
    ending, error_class = classify_report_message(message)
    return ending, _Error(error_class, "report" if error_class else None, message)


def _killed(exit_code: int | None) -> bool:
    """By a signal: negative, none at all, or a shell's and a sandbox's 128 + number."""
    return exit_code is None or exit_code < 0 or 128 < exit_code <= 128 + 64


def _heed_provider(
    ending: Ending, error: _Error, exchanges: Sequence[Exchange]
) -> tuple[Ending, _Error]:
    """Let what the provider really said in the last exchange win over Nanocoder's words."""
    last = exchanges[-1] if exchanges else None
    seen = _class_of(last)
    if last is None or seen is None:
        contradicted = last is not None and last.dialect != UNKNOWN_DIALECT and not last.client_left
        if ending == "provider_error" and contradicted:
            # The last reply was good, and nothing but the gateway lies behind it: the agent cut
            # its own way to the provider, or wrote these words itself.
            return "crashed", _Error("unknown", error.source, error.message)
        return ending, error
    heard = _Error(seen, "gateway", error.message)
    if ending in ("timed_out", "aborted"):
        # a stream that ended with the agent was cut by whoever ended the agent
        refused = last.status is None or last.status >= 400
        return ending, heard if refused else error
    if ending == "crashed" and error.source != "report":
        return ("provider_error", heard)
    if ending == "provider_error" or seen in _SOFT:
        return ending, heard
    return ending, error


def _heed_refusal(
    ending: Ending, error: _Error, exchanges: Sequence[Exchange]
) -> tuple[Ending, _Error]:
    """A request that the gateway refused ended the run, whatever the agent made of it."""
    refused = next((e for e in exchanges if e.error_class in _REFUSALS), None)
    if refused is None:
        return ending, error
    limit = _LIMITS.get(refused.error_code or "", "provider_error")
    return limit, _Error(refused.error_class, "gateway", error.message)


def _class_of(exchange: Exchange | None) -> ErrorClass | None:
    if exchange is None:
        return None
    return exchange.error_class or _FINISH.get(exchange.finish_reason or "")


def _counts(exchanges: Sequence[Exchange] | None) -> dict[str, object]:
    if exchanges is None:
        return {}
    classes = [_class_of(exchange) for exchange in exchanges]
    complete = [_class_of(exchange) for exchange in exchanges if not exchange.client_left]
    absorbed = sum(len(exchange.attempts) for exchange in exchanges)
    return {
        "requests": len(exchanges),
        "model_responses": sum(c is None or c in _OWN_REPLIES for c in complete),
        "retries": absorbed + sum(c in _RETRIED for c in classes[:-1]),
        "finish_reason": exchanges[-1].finish_reason if exchanges else None,
    }


def _usage(report: AgentReport | None, exchanges: Sequence[Exchange] | None) -> Usage:
    """Tokens of all exchanges that told them; else the report's, which is a lower bound."""
    sent = [e.input_tokens for e in exchanges or () if e.input_tokens is not None]
    received = [e.output_tokens for e in exchanges or () if e.output_tokens is not None]
    if sent or received:
        return Usage(
            input_tokens=sum(sent) if sent else None,
            output_tokens=sum(received) if received else None,
            cost=_cost(exchanges or ()),
            source="gateway",
        )
    if report is not None and report.usage is not None:
        return Usage(
            input_tokens=_count(report.usage.input_tokens),
            output_tokens=_count(report.usage.output_tokens),
            source="report",
        )
    return Usage()


def _cost(exchanges: Sequence[Exchange]) -> float | None:
    """Of all replies that were paid for; null if one of them has no known cost."""
    replies = [e for e in exchanges if _class_of(e) is None or _class_of(e) in _OWN_REPLIES]
    if not replies or any(e.cost is None for e in replies):
        return None
    return round(sum(e.cost for e in exchanges if e.cost is not None), 9)


def _count(tokens: int | None) -> int | None:
    return tokens if tokens is not None and tokens >= 0 else None
