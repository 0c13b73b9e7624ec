import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.exchange import Exchange
from nanobench.agent.nanocoder import AgentRun
from nanobench.agent.outcome import Outcome, read_outcome
from nanobench.model.signals import AgentSignals, ErrorClass

BOOT = "nanocoder · mock · m · yolo\n"


def report(kind: str = "success", **more: Any) -> str:
    code = {"success": 0, "error": 1, "tool-approval-required": 2}[kind]
    document = {
        "kind": kind,
        "exitCode": code,
        "finalText": "done",
        "reasoning": None,
        "toolCalls": [],
        "filesChanged": [],
        **more,
    }
    return json.dumps(document, indent=2) + "\n"


def exchange(
    error_class: ErrorClass | None = None, status: int | None = 200, **more: Any
) -> Exchange:
    fields: dict[str, Any] = {
        "input_tokens": None,
        "output_tokens": None,
        "finish_reason": None if error_class else "stop",
        "temperature": None,
        "tools": None,
        **more,
    }
    return Exchange(status=status, error_class=error_class, **fields)


@pytest.fixture
def outcome(tmp_path: Path) -> Any:
    def read(
        stdout: str = "",
        stderr: str = BOOT,
        exit_code: int | None = 0,
        exchanges: Sequence[Exchange] | None = None,
        **more: Any,
    ) -> Outcome:
        (tmp_path / "report.json").write_text(stdout)
        (tmp_path / "stderr.txt").write_text(stderr)
        run = AgentRun(
            exit_code=exit_code,
            timed_out=more.get("timed_out", False),
            duration_seconds=1.0,
            report_path=tmp_path / "report.json",
            stderr_path=tmp_path / "stderr.txt",
            launched=more.get("launched", True),
            workspace="/ws",
        )
        return read_outcome(run, exchanges, ("a.py",))

    return read


def test_a_success_is_completed_and_its_paths_are_relative(outcome: Any) -> None:
    found = outcome(report(filesChanged=["a.py", "/ws/a.py", "./b.py", "~/x", "/etc/y"]))
    assert found.signals.ending == "completed"
    assert found.signals.error_class is None
    assert found.reported == ("a.py", "b.py", "~/x", "/etc/y")
    assert found.signals.final_text_tail == "done"


def test_unknown_counts_stay_unknown_without_exchanges(outcome: Any) -> None:
    signals = outcome(report()).signals
    assert (signals.requests, signals.model_responses, signals.retries) == (None, None, None)
    assert signals.usage.source == "none"


@pytest.mark.parametrize(
    ("exit_code", "more", "ending"),
    [
        (0, {}, "aborted"),
        (-9, {}, "aborted"),
        (None, {}, "aborted"),
        (137, {}, "aborted"),
        (1, {}, "crashed"),
        (2, {}, "approval_required"),
        (0, {"timed_out": True}, "timed_out"),
        (-9, {"timed_out": True}, "timed_out"),
        (None, {"launched": False}, "crashed"),
    ],
)
def test_without_a_report_the_exit_status_tells(
    outcome: Any, exit_code: int | None, more: dict[str, Any], ending: str
) -> None:
    found = outcome(exit_code=exit_code, **more)
    assert found.signals.ending == ending
    assert found.signals.report == "missing"
    assert found.reported is None


def test_our_time_limit_beats_a_report_that_says_success(outcome: Any) -> None:
    found = outcome(report(), timed_out=True)
    assert found.signals.ending == "timed_out"
    assert found.report is not None


def test_a_provider_error_is_read_from_stderr(outcome: Any) -> None:
    signals = outcome(stderr=BOOT + "Authentication failed: x\n", exit_code=1).signals
    assert (signals.ending, signals.error_class, signals.error_source) == (
        "provider_error",
        "authentication",
        "stderr",
    )
    assert signals.error_message == "Authentication failed: x"


def test_an_argument_error_is_a_configuration_error(outcome: Any) -> None:
    signals = outcome(stderr='Invalid --model value: "a b".\n', exit_code=1).signals
    assert (signals.ending, signals.error_class) == ("configuration_error", "configuration")


def test_an_unknown_error_is_a_crash_with_its_text(outcome: Any) -> None:
    signals = outcome(stderr="TypeError: x\n" * 500, exit_code=1).signals
    assert (signals.ending, signals.error_class) == ("crashed", "unknown")
    assert len(signals.error_message) == 500


def test_the_provider_s_own_status_beats_nanocoder_s_words(outcome: Any) -> None:
    signals = outcome(
        stderr=BOOT + "Rate limit exceeded: x\n",
        exit_code=1,
        exchanges=[exchange(), exchange("quota", 429)],
    ).signals
    assert (signals.ending, signals.error_class, signals.error_source) == (
        "provider_error",
        "quota",
        "gateway",
    )
    assert signals.error_message == "Rate limit exceeded: x"


def test_the_provider_s_status_explains_words_that_nobody_knows(outcome: Any) -> None:
    signals = outcome(
        stderr=BOOT + "something odd\n", exit_code=1, exchanges=[exchange("overload", 503)]
    ).signals
    assert (signals.ending, signals.error_class) == ("provider_error", "overload")


def test_a_connection_that_never_reached_the_provider_is_told_by_stderr(outcome: Any) -> None:
    signals = outcome(
        stderr=BOOT + "Connection failed: x\n", exit_code=1, exchanges=[exchange()]
    ).signals
    assert (signals.error_class, signals.error_source) == ("connection", "stderr")


@pytest.mark.parametrize("words", ["Connection failed: x", "Authentication failed: x"])
def test_a_failure_that_the_gateway_did_not_see_is_not_the_provider_s(
    outcome: Any, words: str
) -> None:
    def ended(*seen: Exchange) -> AgentSignals:
        text = f"{BOOT}{words}\n"
        return outcome(stderr=text, exit_code=1, exchanges=seen).signals  # type: ignore[no-any-return]

    good = exchange(dialect="openai-chat")
    assert (ended(good).ending, ended(good).error_class) == ("crashed", "unknown")
    assert ended().ending == "provider_error"
    left = exchange(dialect="openai-chat", client_left=True)
    assert ended(good, left).ending == "provider_error"


def test_what_has_asked_was_started(outcome: Any) -> None:
    asked = outcome(launched=False, exit_code=None, exchanges=[exchange()]).signals
    assert (asked.ending, asked.error_class) == ("aborted", None)
    never = outcome(launched=False, exit_code=None, exchanges=[]).signals
    assert (never.ending, never.error_class) == ("crashed", "configuration")


@pytest.mark.parametrize("soft", ["stream_cut", "length", "content_filter", "empty"])
def test_a_soft_failure_that_says_success_is_recorded(outcome: Any, soft: ErrorClass) -> None:
    signals = outcome(report(), exchanges=[exchange(), exchange(soft)]).signals
    assert (signals.ending, signals.error_class, signals.error_source) == (
        "completed",
        soft,
        "gateway",
    )


def test_a_finish_reason_alone_gives_the_soft_failure(outcome: Any) -> None:
    signals = outcome(report(), exchanges=[exchange(finish_reason="length")]).signals
    assert (signals.error_class, signals.finish_reason) == ("length", "length")
    assert signals.model_responses == 1


def test_a_soft_failure_that_was_overcome_is_none(outcome: Any) -> None:
    assert outcome(
        report(), exchanges=[exchange("stream_cut"), exchange()]
    ).signals.error_class is (None)


def test_a_turn_limit_of_cut_streams_is_told_from_one_of_the_model(outcome: Any) -> None:
    text = report("error", message="Conversation exceeded 2 turns without a final answer")
    own = outcome(text, exit_code=1, exchanges=[exchange()]).signals
    cut = outcome(text, exit_code=1, exchanges=[exchange("stream_cut")]).signals
    assert (own.ending, own.error_class) == ("turn_limit", None)
    assert (cut.ending, cut.error_class) == ("turn_limit", "stream_cut")


@pytest.mark.parametrize("more", [{"timed_out": True}, {}])
def test_a_stream_that_ended_with_the_agent_is_no_fault_of_the_provider(
    outcome: Any, more: dict[str, Any]
) -> None:
    cut = outcome(exchanges=[exchange("stream_cut")], **more).signals
    refused = outcome(exchanges=[exchange("rate_limit", 429)], **more).signals
    assert cut.error_class is None
    assert refused.error_class == "rate_limit"


def test_an_approval_names_the_tools(outcome: Any) -> None:
    text = report("tool-approval-required", toolNames=["execute_bash"])
    signals = outcome(text, exit_code=2).signals
    assert signals.ending == "approval_required"
    assert "execute_bash" in signals.error_message


def test_a_truncated_success_is_completed_and_marked(outcome: Any) -> None:
    signals = outcome(report(finalText="x" * 100_000)[:65_536]).signals
    assert (signals.ending, signals.report, signals.report_bytes) == (
        "completed",
        "truncated",
        65_536,
    )


def test_noise_with_exit_code_0_is_no_success(outcome: Any) -> None:
    signals = outcome("Completed. Exiting.\n").signals
    assert (signals.ending, signals.report) == ("crashed", "malformed")


def test_requests_responses_and_retries_are_counted(outcome: Any) -> None:
    seen = [
        exchange("rate_limit", 429),
        exchange("server_error", 500),
        exchange(input_tokens=100, output_tokens=10),
        exchange("stream_cut"),
        exchange(input_tokens=200),
    ]
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    signals = outcome(report(usage=usage), exchanges=seen).signals
    assert (signals.requests, signals.model_responses, signals.retries) == (5, 2, 2)
    assert signals.usage.input_tokens == 300
    assert signals.usage.output_tokens == 10
    assert signals.usage.source == "gateway"


def test_the_report_s_usage_serves_when_no_exchange_tells(outcome: Any) -> None:
    usage = {"inputTokens": 7, "outputTokens": -1, "totalTokens": 2}
    found = outcome(report(usage=usage), exchanges=[exchange()]).signals.usage
    assert (found.input_tokens, found.output_tokens, found.source) == (7, None, "report")


def test_no_request_at_all_is_counted_as_none(outcome: Any) -> None:
    signals = outcome(report(), exchanges=[]).signals
    assert (signals.requests, signals.model_responses, signals.retries) == (0, 0, 0)


@pytest.mark.parametrize("kind", ["request", "token", "cost"])
@pytest.mark.parametrize("stdout", ["", report()], ids=["ended by it", "went on"])
def test_a_ceiling_is_how_the_run_ended(outcome: Any, kind: str, stdout: str) -> None:
    refused = exchange("budget", None, error_code=f"nanobench_{kind}_limit")
    found = outcome(stdout, exit_code=0 if stdout else 1, exchanges=[exchange(), refused])
    signals = found.signals
    assert (signals.ending, signals.error_class) == (f"{kind}_limit", "budget")
    assert (signals.error_source, signals.model_responses) == ("gateway", 1)


@pytest.mark.parametrize("cause", ["replay", "unmetered"])
def test_a_refusal_that_is_no_ceiling_is_infrastructure(outcome: Any, cause: ErrorClass) -> None:
    found = outcome(report(), exchanges=[exchange(), exchange(cause, 422), exchange()])
    assert (found.signals.ending, found.signals.error_class) == ("provider_error", cause)


def test_the_cost_of_a_run_is_known_if_that_of_every_reply_is(outcome: Any) -> None:
    paid = [exchange(input_tokens=1, output_tokens=1, cost=cost) for cost in (0.1, 0.2)]
    failed = exchange("server_error", 500)
    assert outcome(report(), exchanges=[*paid, failed]).signals.usage.cost == 0.3
    unknown = exchange(input_tokens=1, output_tokens=1)
    assert outcome(report(), exchanges=[*paid, unknown]).signals.usage.cost is None
