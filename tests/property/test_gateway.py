"""What providers and agents send can be anything: it is read, noted and recorded nevertheless."""

import json
from dataclasses import asdict

import pytest

from nanobench.agent.gateway.attempt import told_failure
from nanobench.agent.gateway.canonical import canonical_request
from nanobench.agent.gateway.cassette import RecordedExchange, split
from nanobench.agent.gateway.dialects.errors import read_error
from nanobench.agent.gateway.dialects.registry import DIALECTS, classify_http_error, find_dialect
from nanobench.agent.gateway.noting import Noted, exchange
from nanobench.agent.gateway.pinning import Asked, Pinned, pin, read_request
from nanobench.agent.gateway.reply import DocumentTap, StreamTap
from nanobench.agent.gateway.transport import UpstreamRequest
from nanobench.model.signals import AgentSignals

USAGE = {"prompt_tokens": 2, "completion_tokens": 1, "cost": 0.1}
ERROR = {
    "error": {
        "message": "m",
        "code": "c",
        "param": "p",
        "details": [{"retryDelay": "1s"}, {"error_code": "c"}],
    }
}
REPLIES = {
    "openai_chat": [
        {"model": "m", "choices": [{"delta": {"content": "x"}, "message": {"content": "x"}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": USAGE},
    ],
    "openai_responses": [
        {"type": "response.output_text.delta"},
        {
            "type": "response.completed",
            "response": {
                "model": "m",
                "status": "completed",
                "incomplete_details": {"reason": "x"},
                "usage": {"input_tokens": 2, "output_tokens": 1},
            },
        },
    ],
    "anthropic": [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 2}}},
        {"type": "content_block_delta"},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end"},
            "usage": {"output_tokens": 1, "output_tokens_details": {"thinking_tokens": 1}},
        },
    ],
    "google": [
        {
            "modelVersion": "m",
            "candidates": [{"content": {"parts": ["x"]}, "finishReason": "STOP"}],
            "promptFeedback": {"blockReason": "x"},
            "usageMetadata": {"promptTokenCount": 2, "candidatesTokenCount": 1},
        }
    ],
    "ollama": [
        {"model": "m", "message": {"content": "x"}},
        {"done": True, "done_reason": "stop", "prompt_eval_count": 2, "eval_count": 1},
    ],
}
REQUEST = {
    "model": "m",
    "temperature": 1,
    "options": {"temperature": 1},
    "generationConfig": {"temperature": 1},
    "stream": True,
    "messages": [{"role": "tool", "content": "x", "tool_calls": [{"id": "1"}]}],
    "tools": [{"name": "t", "function": {"name": "t"}, "functionDeclarations": [{"name": "t"}]}],
}
ROUTES = {
    "openai_chat": "/chat/completions",
    "openai_responses": "/responses",
    "anthropic": "/messages",
    "google": "/models/m:generateContent",
    "ollama": "/api/chat",
}


def note(noted, dialect, asked, pinned):
    """Into the log and into a record, as text that every reader of JSON takes."""
    done = exchange(noted, dialect, asked, pinned)
    json.dumps(asdict(done), allow_nan=False)
    AgentSignals.model_validate(
        {
            "ending": "completed",
            "exit_code": 0,
            "report": "missing",
            "report_bytes": 0,
            "error_class": done.error_class,
            "error_message": done.error_code,
            "finish_reason": done.finish_reason,
            "usage": {
                "input_tokens": done.input_tokens,
                "output_tokens": done.output_tokens,
                "cost": done.cost,
            },
        }
    ).to_json()
    "".join((*(done.tools or ()), done.model_asked or "", done.model_answered or "")).encode()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_any_reply_is_noted(dialect, spoiled):
    asked = read_request(dialect, ROUTES[dialect.name], b"{}")
    lead, end = (b"data: ", b"\n\n") if dialect.framing == "sse" else (b"", b"\n")
    for events in spoiled([*REPLIES[dialect.name], ERROR]):
        documents = events if isinstance(events, list) else [events]
        told = [json.dumps(document).encode() for document in documents]
        for tap, content in (
            (StreamTap(dialect), b"".join(lead + one + end for one in told)),
            (DocumentTap(dialect), json.dumps(events).encode()),
        ):
            tap.feed(content)
            tap.end()
            note(Noted(reading=tap.reading), dialect, asked, pin(dialect, asked, b"{}", ()))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_any_error_is_classified(dialect, spoiled):
    for document in spoiled(ERROR):
        text = json.dumps(document)
        classify_http_error(500, text)
        found = read_error(text)
        "".join((*found.codes, found.message, found.details)).encode()
    for deep in ("[" * 985 + "]" * 985, '{"a":' * 985 + "1" + "}" * 985):
        tap = DocumentTap(dialect)
        tap.feed(b'{"error": {"message": %b, "details": [%b]}}' % (deep.encode(), deep.encode()))
        tap.end()
        note(Noted(reading=tap.reading), dialect, Asked(None), Pinned(b"", {}))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_any_request_is_pinned_noted_and_recorded(dialect, spoiled):
    route = ROUTES[dialect.name]
    for document in (*spoiled(REQUEST), {"\ud800": 1}):
        body = json.dumps(document).encode()
        asked = read_request(dialect, route, body)
        pinned = pin(dialect, asked, body, ("seed",))
        note(Noted(), dialect, asked, pinned)
        sent = UpstreamRequest(
            method="POST",
            route=route,
            headers={"anthropic-beta": "\udcff"},
            body=pinned.body,
            agent_body=body,
            dialect=dialect.name,
            pinned=pinned.sampling,
        )
        canonical = canonical_request(sent, ())
        kept = split(canonical, {}, lambda content: content)
        found = {**kept, "key": canonical.key, "ordinal": 0, "pinned": {}, "failure": "reset"}
        RecordedExchange.model_validate(found).to_json()


@pytest.mark.parametrize(
    "asked", ["1e400", "nan", "-1", "Mon, 01 Jan 2024 00:00:00 +99999999999999999999", "x" * 5000]
)
def test_any_wait_that_a_provider_asks_for_is_read(asked):
    dialect = find_dialect("POST", "/chat/completions")
    failure = told_failure(429, read_error("{}"), dialect, {"retry-after": asked})
    assert failure.retry_after_seconds is None or failure.retry_after_seconds >= 0
