"""Each dialect's tables: where things sit in requests, replies, streams and errors."""

import json
from typing import Any

import pytest

from nanobench.agent.gateway.dialects.base import Dialect, ErrorText, Reading
from nanobench.agent.gateway.dialects.errors import error_document
from nanobench.agent.gateway.dialects.registry import DIALECTS, classify_error, find_dialect
from nanobench.agent.gateway.reply import DocumentTap, StreamTap
from nanobench.model.signals import ErrorClass

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
CHAT, RESPONSES, ANTHROPIC = (
    BY_NAME[name] for name in ("openai_chat", "openai_responses", "anthropic")
)
GOOGLE, OLLAMA = BY_NAME["google"], BY_NAME["ollama"]


def sse(*documents: Any) -> bytes:
    return b"".join(
        b"data: " + (d if isinstance(d, bytes) else json.dumps(d).encode()) + b"\n\n"
        for d in documents
    )


def lines(*documents: Any) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def delta(finish: str | None = None, **said: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": said, "finish_reason": finish}]
    return {"model": "m-1", "choices": choices, "usage": None}


CHAT_USAGE = {
    "model": "m-1",
    "choices": [],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 5},
        "cost": 0.25,
    },
}
ANTHROPIC_START = {
    "type": "message_start",
    "message": {
        "model": "m-1",
        "usage": {
            "input_tokens": 60,
            "cache_read_input_tokens": 30,
            "cache_creation_input_tokens": 10,
            "output_tokens": 1,
        },
    },
}
ANTHROPIC_DELTA = {
    "type": "message_delta",
    "delta": {"stop_reason": "tool_use"},
    "usage": {"output_tokens": 20, "output_tokens_details": {"thinking_tokens": 5}},
}
RESPONSE = {
    "model": "m-1",
    "status": "completed",
    "output": [{"type": "message"}],
    "usage": {
        "input_tokens": 100,
        "output_tokens": 20,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens_details": {"reasoning_tokens": 5},
    },
}
GOOGLE_LAST = {
    "modelVersion": "m-1",
    "candidates": [{"content": {"parts": [{"text": "!"}]}, "finishReason": "STOP"}],
    "usageMetadata": {
        "promptTokenCount": 90,
        "toolUsePromptTokenCount": 10,
        "candidatesTokenCount": 15,
        "thoughtsTokenCount": 5,
        "cachedContentTokenCount": 40,
    },
}
OLLAMA_LAST = {
    "model": "m-1",
    "message": {"role": "assistant", "content": ""},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 100,
    "eval_count": 20,
}

STREAMS = [
    (
        CHAT,
        sse(delta(role="assistant"), delta(content="Hi"), delta("stop"), CHAT_USAGE, b"[DONE]"),
        "stop",
    ),
    (
        ANTHROPIC,
        sse(
            ANTHROPIC_START,
            {"type": "ping"},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
            ANTHROPIC_DELTA,
            {"type": "message_stop"},
        ),
        "tool_use",
    ),
    (
        RESPONSES,
        sse(
            {"type": "response.created", "response": {"model": "m-1", "status": "in_progress"}},
            {"type": "response.output_text.delta", "delta": "Hi"},
            {"type": "response.completed", "response": RESPONSE},
        ),
        "completed",
    ),
    (
        GOOGLE,
        sse({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}, GOOGLE_LAST),
        "STOP",
    ),
    (
        OLLAMA,
        lines({"model": "m-1", "message": {"content": "Hi"}, "done": False}, OLLAMA_LAST),
        "stop",
    ),
]
DOCUMENTS = [
    (
        CHAT,
        {**CHAT_USAGE, "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
        "stop",
    ),
    (
        ANTHROPIC,
        {
            **ANTHROPIC_START["message"],  # type: ignore[dict-item]
            "type": "message",
            "content": [{"type": "text", "text": "Hi"}],
            "stop_reason": "tool_use",
            "usage": {
                **ANTHROPIC_START["message"]["usage"],  # type: ignore[index]
                **ANTHROPIC_DELTA["usage"],  # type: ignore[dict-item]
            },
        },
        "tool_use",
    ),
    (RESPONSES, RESPONSE, "completed"),
    (GOOGLE, GOOGLE_LAST, "STOP"),
    (OLLAMA, {**OLLAMA_LAST, "message": {"content": "Hi"}}, "stop"),
]
IDS = [dialect.name for dialect, _, _ in STREAMS]


def read_stream(dialect: Dialect, stream: bytes) -> Reading:
    tap = StreamTap(dialect)
    tap.feed(stream)
    tap.end()
    return tap.reading


def read_document(dialect: Dialect, document: Any) -> Reading:
    tap = DocumentTap(dialect)
    tap.feed(json.dumps(document).encode())
    tap.end()
    return tap.reading


def assert_counted(dialect: Dialect, reading: Reading, finish: str) -> None:
    assert (reading.model, reading.finish_reason) == ("m-1", finish)
    assert (reading.output, reading.finished, reading.error) == (True, True, None)
    assert (reading.input_tokens, reading.output_tokens) == (100, 20)
    cached = None if dialect is OLLAMA else 30 if dialect is ANTHROPIC else 40
    assert reading.cached_tokens == cached
    assert reading.reasoning_tokens == (None if dialect is OLLAMA else 5)
    assert reading.cost == (0.25 if dialect is CHAT else None)


@pytest.mark.parametrize(("dialect", "stream", "finish"), STREAMS, ids=IDS)
def test_a_stream_tells_model_tokens_and_finish(
    dialect: Dialect, stream: bytes, finish: str
) -> None:
    assert_counted(dialect, read_stream(dialect, stream), finish)


@pytest.mark.parametrize(("dialect", "stream", "finish"), STREAMS, ids=IDS)
def test_the_first_output_is_told_from_what_comes_before(
    dialect: Dialect, stream: bytes, finish: str
) -> None:
    """A reply is held until its output begins, and not longer."""
    tap, seen = StreamTap(dialect), []
    separator = b"\n" if dialect.framing == "ndjson" else b"\n\n"
    for event in stream.split(separator)[:-1]:
        tap.feed(event + separator)
        seen.append(tap.reading.output)
    before = {CHAT.name: 1, ANTHROPIC.name: 2, RESPONSES.name: 1, GOOGLE.name: 0, OLLAMA.name: 0}
    assert seen.index(True) == before[dialect.name]


@pytest.mark.parametrize(("dialect", "document", "finish"), DOCUMENTS, ids=IDS)
def test_a_document_tells_the_same(dialect: Dialect, document: Any, finish: str) -> None:
    assert_counted(dialect, read_document(dialect, document), finish)


@pytest.mark.parametrize(("dialect", "stream", "finish"), STREAMS, ids=IDS)
def test_a_stream_that_is_cut_is_not_finished_and_counts_stay_unknown(
    dialect: Dialect, stream: bytes, finish: str
) -> None:
    separator = b"\n" if dialect.framing == "ndjson" else b"\n\n"
    events = stream.split(separator)
    keep = 3 if dialect is ANTHROPIC else 2 if dialect in (CHAT, RESPONSES) else 1
    reading = read_stream(dialect, separator.join(events[:keep]))
    assert (reading.finished, reading.finish_reason) == (False, None)
    assert reading.output_tokens == (1 if dialect is ANTHROPIC else None)


@pytest.mark.parametrize(
    ("dialect", "document"),
    [
        (CHAT, delta(content="Hi")),
        (RESPONSES, {"status": "completed", "output": [1]}),
        (ANTHROPIC, {"type": "message", "content": [1]}),
        (GOOGLE, {"candidates": [{"content": {"parts": [1]}, "finishReason": "STOP"}]}),
        (OLLAMA, {"message": {"content": "x"}, "done": True}),
    ],
)
def test_an_absent_count_is_unknown_and_not_zero(dialect: Dialect, document: Any) -> None:
    reading = read_document(dialect, document)
    counts = (reading.input_tokens, reading.output_tokens, reading.cached_tokens)
    assert counts == (None, None, None)


@pytest.mark.parametrize(
    ("method", "route", "name"),
    [
        ("POST", "/chat/completions", "openai_chat"),
        ("POST", "/openai/deployments/m/chat/completions?api-version=1", "openai_chat"),
        ("POST", "/responses", "openai_responses"),
        ("POST", "/messages", "anthropic"),
        ("POST", "/models/gemini-3:generateContent", "google"),
        ("POST", "/models/gemini-3:streamGenerateContent?alt=sse", "google"),
        ("POST", "/api/chat", "ollama"),
        ("POST", "/api/generate", "ollama"),
        ("GET", "/chat/completions", None),
        ("POST", "/embeddings", None),
        ("POST", "/messages/count_tokens", None),
        ("POST", "/models/gemini-3:countTokens", None),
    ],
)
def test_the_route_names_the_dialect(method: str, route: str, name: str | None) -> None:
    dialect = find_dialect(method, route)
    assert (dialect.name if dialect else None) == name


@pytest.mark.parametrize(
    ("dialect", "route", "document", "expected"),
    [
        (CHAT, "", {"model": "m", "stream": True}, ("m", True)),
        (CHAT, "", {"model": "m"}, ("m", False)),
        (GOOGLE, "/models/g-3:streamGenerateContent?alt=sse", {}, ("g-3", True)),
        (GOOGLE, "/models/g-3:streamGenerateContent", {}, ("g-3", False)),
        (GOOGLE, "/models/g-3:generateContent", {}, ("g-3", False)),
        (OLLAMA, "", {"model": "m"}, ("m", True)),
        (OLLAMA, "", {"model": "m", "stream": False}, ("m", False)),
    ],
)
def test_requests_name_model_and_streaming(
    dialect: Dialect, route: str, document: Any, expected: tuple[str, bool]
) -> None:
    assert (dialect.model(route, document), dialect.streams(route, document)) == expected


@pytest.mark.parametrize(
    ("dialect", "tools"),
    [
        (CHAT, [{"type": "function", "function": {"name": "a"}}, {"function": {"name": "b"}}]),
        (OLLAMA, [{"type": "function", "function": {"name": "a"}}, {"function": {"name": "b"}}]),
        (RESPONSES, [{"type": "function", "name": "a"}, {"name": "b"}]),
        (ANTHROPIC, [{"name": "a"}, {"name": "b"}]),
        (
            GOOGLE,
            [{"functionDeclarations": [{"name": "a"}]}, {"functionDeclarations": [{"name": "b"}]}],
        ),
    ],
)
def test_tools_are_named(dialect: Dialect, tools: Any) -> None:
    assert dialect.tools({"tools": tools}) == ("a", "b")
    assert dialect.tools({}) == ()
    assert dialect.tools({"tools": "none"}) == ()


STREAMED_ERRORS: list[tuple[Dialect, Any, ErrorClass]] = [
    (CHAT, {"error": {"message": "m", "code": "context_length_exceeded"}}, "context_size"),
    (CHAT, {"error": {"message": "Provider returned error", "code": 502}}, "server_error"),
    (
        RESPONSES,
        {"type": "error", "error": {"code": "context_length_exceeded", "message": "m"}},
        "context_size",
    ),
    (RESPONSES, {"type": "error", "code": "rate_limit_exceeded", "message": "m"}, "rate_limit"),
    (
        RESPONSES,
        {
            "type": "response.failed",
            "response": {"error": {"code": "server_is_overloaded", "message": "m"}},
        },
        "overload",
    ),
    (
        ANTHROPIC,
        {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
        "overload",
    ),
    (GOOGLE, {"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}, "overload"),
    (OLLAMA, {"error": "server busy, please try again"}, "overload"),
]


@pytest.mark.parametrize(("dialect", "document", "expected"), STREAMED_ERRORS)
def test_an_error_within_a_stream_is_read(
    dialect: Dialect, document: Any, expected: ErrorClass
) -> None:
    stream = lines(document) if dialect.framing == "ndjson" else sse(document)
    reading = read_stream(dialect, stream)
    assert classify_error(200, error_document(reading.error), dialect) == expected
    assert not reading.output


ERRORS: list[tuple[Dialect, int, Any, ErrorClass]] = [
    (CHAT, 400, {"message": "m", "code": "context_length_exceeded"}, "context_size"),
    (CHAT, 429, {"message": "m", "type": "insufficient_quota"}, "quota"),
    (
        ANTHROPIC,
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"},
        "context_size",
    ),
    (ANTHROPIC, 529, {"type": "overloaded_error", "message": "Overloaded"}, "overload"),
    (
        ANTHROPIC,
        429,
        {
            "type": "rate_limit_error",
            "message": "m",
            "details": {"error_code": "enforced_spend_limit_reached"},
        },
        "quota",
    ),
    (
        GOOGLE,
        400,
        {
            "code": 400,
            "message": "API key not valid. Please pass one.",
            "status": "INVALID_ARGUMENT",
        },
        "authentication",
    ),
    (
        GOOGLE,
        400,
        {
            "code": 400,
            "message": "The input token count (9) exceeds the maximum number of tokens (8).",
            "status": "INVALID_ARGUMENT",
        },
        "context_size",
    ),
    (
        GOOGLE,
        429,
        {
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan",
            "details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}],
        },
        "quota",
    ),
    (
        GOOGLE,
        429,
        {
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan",
            "details": [{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}]}],
        },
        "rate_limit",
    ),
    (OLLAMA, 404, 'model "x" not found, try pulling it first', "unknown_model"),
]


@pytest.mark.parametrize(("dialect", "status", "error", "expected"), ERRORS)
def test_an_error_body_names_its_class(
    dialect: Dialect, status: int, error: Any, expected: ErrorClass
) -> None:
    assert classify_error(status, error_document({"error": error}), dialect) == expected


def test_google_says_in_the_body_how_long_to_wait() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    document = error_document([{"error": {"code": 429, "message": "m", "details": details}}])
    assert document.retry_after_seconds == 34.5
    assert (
        error_document({"error": {"details": [{"retryDelay": "soon"}]}}).retry_after_seconds is None
    )


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("error_class", ["rate_limit", "stream_cut", "timeout", "budget"])
def test_an_error_of_ours_is_an_error_in_every_dialect(
    dialect: Dialect, error_class: ErrorClass
) -> None:
    error = ErrorText(error_class, "some_code", "Something is wrong")
    body = dialect.error_body(error)
    told = body["error"]
    assert (told if isinstance(told, str) else told["message"]) == "Something is wrong"
    reading = read_stream(dialect, dialect.error_event(error))
    assert error_document(reading.error).message == "Something is wrong"


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(
    "event",
    [
        *(b"{}", b"[]", b"1", b"null", b'"x"', b"{", b"\xff", b'{"choices": 1, "error": null}'),
        b'{"choices": [1], "usage": [], "type": 1, "message": 1, "candidates": {}}',
    ],
)
def test_strange_events_are_no_trouble(dialect: Dialect, event: bytes) -> None:
    stream = event + b"\n" if dialect.framing == "ndjson" else sse(event)
    reading = read_stream(dialect, stream)
    assert (reading.finish_reason, reading.input_tokens, reading.error) == (None, None, None)


def test_an_error_stays_whatever_follows_it() -> None:
    stream = sse({"error": {"message": "m", "code": 502}}, delta("stop"), b"[DONE]")
    assert read_stream(CHAT, stream).error
