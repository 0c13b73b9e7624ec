"""OpenAI responses: typed events; usage comes without asking; there is no seed."""

import json
import re

from nanobench.agent.gateway.dialects.base import (
    Dialect,
    Document,
    ErrorText,
    Reading,
    body_model,
    body_streams,
    count,
    inner,
    named,
    objects,
    text,
)
from nanobench.agent.gateway.dialects.openai_chat import ERRORS, error_body

_BEFORE_OUTPUT = frozenset({"response.created", "response.in_progress", "response.queued"})
_LAST = frozenset({"response.completed", "response.incomplete"})
_FAILED = frozenset({"error", "response.failed"})


def _tools(document: Document) -> tuple[str, ...]:
    return named(objects(document.get("tools")))


def _read_document(document: Document, reading: Reading) -> None:
    reading.output = bool(document.get("output"))
    reading.finished = document.get("status") in ("completed", "incomplete")
    _read_response(document, reading)


def _read_event(document: Document, reading: Reading) -> None:
    kind = text(document.get("type")) or ""
    if kind in _FAILED:
        nested = inner(document, "response") or document
        reading.error = nested if nested.get("error") else {"error": document}
    elif kind not in _BEFORE_OUTPUT and kind not in _LAST:
        reading.output = True
    reading.finished = reading.finished or kind in _LAST
    _read_response(inner(document, "response"), reading)


def _read_response(response: Document, reading: Reading) -> None:
    if response.get("error"):
        reading.error = response
    reading.model = text(response.get("model")) or reading.model
    if reading.finished:
        reason = inner(response, "incomplete_details").get("reason")
        status = text(response.get("status"))
        reading.finish_reason = text(reason) or status or reading.finish_reason
    usage = inner(response, "usage")
    if usage:
        reading.input_tokens = count(usage.get("input_tokens"))
        reading.output_tokens = count(usage.get("output_tokens"))
        cached = inner(usage, "input_tokens_details").get("cached_tokens")
        reading.cached_tokens = count(cached)
        reasoning = inner(usage, "output_tokens_details").get("reasoning_tokens")
        reading.reasoning_tokens = count(reasoning)


def _error_event(error: ErrorText) -> bytes:
    document = {"type": "error", "sequence_number": 0, **error_body(error)}
    return b"event: error\ndata: " + json.dumps(document).encode() + b"\n\n"


OPENAI_RESPONSES = Dialect(
    name="openai_responses",
    route=re.compile(r"/responses$"),
    framing="sse",
    temperature=("temperature",),
    seed=None,
    usage_switch=None,
    errors=ERRORS,
    finishes={"max_output_tokens": "length", "content_filter": "content_filter"},
    telling=(
        re.compile(rb'"response\.(?:completed|incomplete|failed)"'),
        re.compile(rb'"error"'),
    ),
    last=None,
    model=body_model,
    streams=body_streams,
    tools=_tools,
    read_document=_read_document,
    read_event=_read_event,
    error_body=error_body,
    error_event=_error_event,
)
