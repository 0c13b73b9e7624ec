"""Anthropic messages: input counts at the start of a stream, output counts near its end.

Tokens read from a cache or written to it are counted outside `input_tokens`; all three together
are what the model read.
"""

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
    total,
)
from nanobench.agent.gateway.dialects.errors import ErrorTable
from nanobench.model.signals import ErrorClass

_ERRORS = ErrorTable(
    codes={
        "enforced_spend_limit_reached": "quota",
        "contract_spend_limit_reached": "quota",
        "billing_error": "billing",
        "authentication_error": "authentication",
        "permission_error": "permission",
        "rate_limit_error": "rate_limit",
        "overloaded_error": "overload",
        "timeout_error": "timeout",
    },
    phrases=(
        (("prompt is too long",), "context_size"),
        (("credit balance",), "billing"),
        (("content filtering policy",), "content_filter"),
    ),
)
_TYPES: dict[ErrorClass, str] = {
    "authentication": "authentication_error",
    "billing": "billing_error",
    "quota": "billing_error",
    "permission": "permission_error",
    "unknown_model": "not_found_error",
    "context_size": "invalid_request_error",
    "invalid_request": "invalid_request_error",
    "rate_limit": "rate_limit_error",
    "overload": "overloaded_error",
    "timeout": "timeout_error",
}


def _tools(document: Document) -> tuple[str, ...]:
    return named(objects(document.get("tools")))


def _read_document(document: Document, reading: Reading) -> None:
    reading.error = document if document.get("type") == "error" else None
    reading.output = bool(document.get("content"))
    reading.finished = document.get("type") == "message"
    reading.finish_reason = text(document.get("stop_reason"))
    _read_message(document, reading)


def _read_event(document: Document, reading: Reading) -> None:
    kind = document.get("type")
    if kind == "error":
        reading.error = document
    elif kind == "message_start":
        _read_message(inner(document, "message"), reading)
    elif kind in ("content_block_start", "content_block_delta"):
        reading.output = True
    elif kind == "message_delta":
        reason = inner(document, "delta").get("stop_reason")
        reading.finish_reason = text(reason) or reading.finish_reason
        _read_usage(inner(document, "usage"), reading)
    reading.finished = kind == "message_stop" or reading.finish_reason is not None


def _read_message(message: Document, reading: Reading) -> None:
    reading.model = text(message.get("model")) or reading.model
    _read_usage(inner(message, "usage"), reading)


def _read_usage(usage: Document, reading: Reading) -> None:
    """Later counts replace earlier ones; those that are not told again stay."""
    cached = usage.get("cache_read_input_tokens")
    read = total(usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens"))
    if count(usage.get("input_tokens")) is not None:
        reading.input_tokens, reading.cached_tokens = read, count(cached)
    written = count(usage.get("output_tokens"))
    reading.output_tokens = reading.output_tokens if written is None else written
    thinking = count(inner(usage, "output_tokens_details").get("thinking_tokens"))
    reading.reasoning_tokens = reading.reasoning_tokens if thinking is None else thinking


def _error_body(error: ErrorText) -> Document:
    kind = _TYPES.get(error.error_class, "api_error")
    told: Document = {"type": kind, "message": error.message}
    if error.code and error.code != kind:
        told["details"] = {"error_code": error.code}
    return {"type": "error", "error": told}


def _error_event(error: ErrorText) -> bytes:
    return b"event: error\ndata: " + json.dumps(_error_body(error)).encode() + b"\n\n"


ANTHROPIC = Dialect(
    name="anthropic",
    route=re.compile(r"/messages$"),
    framing="sse",
    temperature=("temperature",),
    seed=None,
    usage_switch=None,
    errors=_ERRORS,
    finishes={
        "max_tokens": "length",
        "refusal": "content_filter",
        "model_context_window_exceeded": "context_size",
    },
    telling=(re.compile(rb'"message_(?:start|delta|stop)"'), re.compile(rb'"error"')),
    last=re.compile(rb'[\r\n]data: ?\{\s*"type"\s*:\s*"message_stop"[^\r\n]*\}\s*$'),
    model=body_model,
    streams=body_streams,
    tools=_tools,
    read_document=_read_document,
    read_event=_read_event,
    error_body=_error_body,
    error_event=_error_event,
)
