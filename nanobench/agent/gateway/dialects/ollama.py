"""Ollama's own interface: one JSON document a line; a stream unless refused."""

import json
import re

from nanobench.agent.gateway.dialects.base import (
    Dialect,
    Document,
    ErrorText,
    Reading,
    body_model,
    count,
    inner,
    named,
    objects,
    text,
)
from nanobench.agent.gateway.dialects.errors import ErrorTable

_ERRORS = ErrorTable(
    codes={},
    phrases=(
        (("try pulling it first",), "unknown_model"),
        (("server busy",), "overload"),
        (("available context size",), "context_size"),
    ),
)
_OUTPUT = ("content", "thinking", "tool_calls")


def _streams(route: str, document: Document) -> bool:
    return document.get("stream") is not False


def _tools(document: Document) -> tuple[str, ...]:
    return named([inner(tool, "function") for tool in objects(document.get("tools"))])


def _read(document: Document, reading: Reading) -> None:
    reading.error = document.get("error") and document
    reading.model = text(document.get("model")) or reading.model
    message = inner(document, "message")
    said = [message.get(key) for key in _OUTPUT] + [document.get("response")]
    reading.output = reading.output or any(said)
    if document.get("done") is True:
        reading.finished = True
        reading.finish_reason = text(document.get("done_reason"))
        reading.input_tokens = count(document.get("prompt_eval_count"))
        reading.output_tokens = count(document.get("eval_count"))


def _error_body(error: ErrorText) -> Document:
    return {"error": error.message}


def _error_event(error: ErrorText) -> bytes:
    return json.dumps(_error_body(error)).encode() + b"\n"


OLLAMA = Dialect(
    name="ollama",
    route=re.compile(r"/api/(?:chat|generate)$"),
    framing="ndjson",
    temperature=("options", "temperature"),
    seed=("options", "seed"),
    usage_switch=None,
    errors=_ERRORS,
    finishes={"length": "length"},
    telling=(re.compile(rb'"done"\s*:\s*true'), re.compile(rb'"error"')),
    last=None,
    model=body_model,
    streams=_streams,
    tools=_tools,
    read_document=_read,
    read_event=_read,
    error_body=_error_body,
    error_event=_error_event,
)
