"""Google generateContent: the model stands in the path, sampling in `generationConfig`.

Every piece of a stream is a whole document with the counts so far. Thinking is counted outside
the candidates' tokens.
"""

import json
import re

from nanobench.agent.gateway.dialects.base import (
    Dialect,
    Document,
    ErrorText,
    Reading,
    count,
    inner,
    named,
    objects,
    text,
    total,
)
from nanobench.agent.gateway.dialects.errors import ErrorTable
from nanobench.model.signals import ErrorClass

_MODEL = re.compile(r"/models/([^/:]+):")
_ERRORS = ErrorTable(
    codes={
        "permission_denied": "permission",
        "unauthenticated": "authentication",
        "resource_exhausted": "rate_limit",
        "unavailable": "overload",
        "deadline_exceeded": "timeout",
    },
    phrases=(
        (("input token count", "exceeds the maximum"), "context_size"),
        (("api key not valid",), "authentication"),
        (("current quota", "perday"), "quota"),
        (("current quota", "perminute"), "rate_limit"),
        (("current quota",), "quota"),  # OpenAI's too, beside its code
        (("overloaded",), "overload"),
    ),
)
_BLOCKED: tuple[str, ...] = (
    *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    "MODEL_ARMOR",
)
_STATUSES: dict[ErrorClass, tuple[int, str]] = {
    "authentication": (401, "UNAUTHENTICATED"),
    "permission": (403, "PERMISSION_DENIED"),
    "unknown_model": (404, "NOT_FOUND"),
    "context_size": (400, "INVALID_ARGUMENT"),
    "invalid_request": (400, "INVALID_ARGUMENT"),
    "rate_limit": (429, "RESOURCE_EXHAUSTED"),
    "quota": (429, "RESOURCE_EXHAUSTED"),
    "overload": (503, "UNAVAILABLE"),
    "timeout": (504, "DEADLINE_EXCEEDED"),
}


def _model(route: str, document: Document) -> str | None:
    found = _MODEL.search(route)
    return found[1] if found else None


def _streams(route: str, document: Document) -> bool:
    return ":streamGenerateContent" in route and "alt=sse" in route


def _tools(document: Document) -> tuple[str, ...]:
    groups = objects(document.get("tools"))
    return named([tool for group in groups for tool in objects(group.get("functionDeclarations"))])


def _read(document: Document, reading: Reading) -> None:
    reading.error = document.get("error") and document
    reading.model = text(document.get("modelVersion")) or reading.model
    for candidate in objects(document.get("candidates"))[:1]:
        reading.output = reading.output or bool(inner(candidate, "content").get("parts"))
        reading.finish_reason = text(candidate.get("finishReason")) or reading.finish_reason
    if reason := text(inner(document, "promptFeedback").get("blockReason")):
        reading.finish_reason = reason
    reading.finished = reading.finish_reason is not None
    usage = inner(document, "usageMetadata")
    if usage:
        thoughts = usage.get("thoughtsTokenCount")
        tools = usage.get("toolUsePromptTokenCount")
        reading.input_tokens = total(usage.get("promptTokenCount"), tools)
        reading.output_tokens = total(usage.get("candidatesTokenCount"), thoughts)
        reading.cached_tokens = count(usage.get("cachedContentTokenCount"))
        reading.reasoning_tokens = count(thoughts)


def _error_body(error: ErrorText) -> Document:
    number, status = _STATUSES.get(error.error_class, (500, "INTERNAL"))
    return {"error": {"code": number, "message": error.message, "status": status}}


def _error_event(error: ErrorText) -> bytes:
    return b"data: " + json.dumps(_error_body(error)).encode() + b"\r\n\r\n"


GOOGLE = Dialect(
    name="google",
    route=re.compile(r"/models/[^/:]+:(?:generateContent|streamGenerateContent)$"),
    framing="sse",
    temperature=("generationConfig", "temperature"),
    seed=("generationConfig", "seed"),
    usage_switch=None,
    errors=_ERRORS,
    finishes={"MAX_TOKENS": "length", **dict.fromkeys(_BLOCKED, "content_filter")},
    telling=tuple(
        re.compile(rb'"' + name + rb'"')
        for name in (b"usageMetadata", b"finishReason", b"blockReason", b"error")
    ),
    last=None,
    model=_model,
    streams=_streams,
    tools=_tools,
    read_document=_read,
    read_event=_read,
    error_body=_error_body,
    error_event=_error_event,
)
