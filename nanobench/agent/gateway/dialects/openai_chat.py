"""OpenAI chat completions, and what speaks like it: Ollama, OpenRouter, vLLM, LM Studio, ...

Usage in a stream is an additional event without choices, sent only when asked for; `[DONE]` is
no document. Vendors mix in codes and phrases of their own, which stand here with them.
"""

import json
import re
from typing import Any

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
    number,
    objects,
    text,
)
from nanobench.agent.gateway.dialects.errors import ErrorTable
from nanobench.model.signals import ErrorClass

ERRORS = ErrorTable(
    codes={
        "context_length_exceeded": "context_size",
        "exceed_context_size_error": "context_size",  # llama.cpp
        "tokens_limit_reached": "context_size",  # GitHub Models
        "insufficient_quota": "quota",
        "credit_balance_exhausted": "quota",
        "organization_spend_limit_exceeded": "quota",
        "project_spend_limit_exceeded": "quota",
        "organization_usage_limit_exceeded": "quota",
        "invalid_api_key": "authentication",
        "model_not_found": "unknown_model",
        "unknown_model": "unknown_model",  # Mistral
        "rate_limit_exceeded": "rate_limit",
        "slow_down": "rate_limit",
        "server_is_overloaded": "overload",
        "service_unavailable_error": "overload",
        "content_filter": "content_filter",
        "content_policy_violation": "content_filter",
        "cyber_policy": "content_filter",
    },
    phrases=(
        (("maximum context length",), "context_size"),  # OpenAI, OpenRouter, Mistral, vLLM
        (("context window",), "context_size"),
        (("context size",), "context_size"),  # llama.cpp, LM Studio
        (("context too large",), "context_size"),
        (("exceed context limit",), "context_size"),
        (("model's context length",), "context_size"),
        (("input tokens exceed the configured limit",), "context_size"),
        (("prompt token count", "exceeds the limit"), "context_size"),  # Copilot
        (("maximum input length", "tokens"), "context_size"),  # vLLM
        (("max_tokens must be at least 1",), "context_size"),  # vLLM, what is left is negative
        (("too many tokens",), "context_size"),
        (("too many input tokens",), "context_size"),
        (("request too large", "tokens per min"), "context_size"),
        (("request body too large", "tokens"), "context_size"),  # GitHub Models
        (("cannot truncate prompt", "n_ctx"), "context_size"),  # LM Studio
        (("insufficient credits",), "billing"),  # OpenRouter
        (("incorrect api key",), "authentication"),
        (("invalid api key",), "authentication"),
        (("safety system",), "content_filter"),
        (("usage policy",), "content_filter"),
        (("service tier capacity exceeded",), "rate_limit"),  # Mistral
        (("rate limit",), "rate_limit"),
    ),
)

FINISHES: dict[str, ErrorClass] = {
    "length": "length",
    "model_length": "length",  # Mistral
    "content_filter": "content_filter",
}


def _tools(document: Document) -> tuple[str, ...]:
    return named([inner(tool, "function") for tool in objects(document.get("tools"))])


def _read_document(document: Document, reading: Reading) -> None:
    choices = objects(document.get("choices"))
    reading.finished = bool(choices)
    reading.output = any(_says(inner(choice, "message")) for choice in choices)
    _read(document, reading)


def _read_event(document: Document, reading: Reading) -> None:
    choices = objects(document.get("choices"))
    reading.output = reading.output or any(_says(inner(choice, "delta")) for choice in choices)
    _read(document, reading)
    reading.finished = reading.finished or reading.finish_reason is not None


def _read(document: Document, reading: Reading) -> None:
    reading.error = document.get("error") and document
    reading.model = reading.model or text(document.get("model"))
    for choice in objects(document.get("choices"))[:1]:
        reading.finish_reason = text(choice.get("finish_reason")) or reading.finish_reason
    usage = inner(document, "usage")
    if usage:
        reading.input_tokens = count(usage.get("prompt_tokens"))
        reading.output_tokens = count(usage.get("completion_tokens"))
        cached = inner(usage, "prompt_tokens_details").get("cached_tokens")
        reading.cached_tokens = count(cached)
        reasoning = inner(usage, "completion_tokens_details").get("reasoning_tokens")
        reading.reasoning_tokens = count(reasoning)
        reading.cost = number(usage.get("cost"))  # OpenRouter


def _says(message: Document) -> bool:
    return any(value for key, value in message.items() if key != "role")


def error_body(error: ErrorText) -> Document:
    """An error as OpenAI's interfaces send it."""
    told: dict[str, Any] = {"message": error.message, "type": error.error_class}
    return {"error": {**told, "param": None, "code": error.code}}


def _error_event(error: ErrorText) -> bytes:
    return b"data: " + json.dumps(error_body(error)).encode() + b"\n\n"


OPENAI_CHAT = Dialect(
    name="openai_chat",
    route=re.compile(r"/chat/completions$"),
    framing="sse",
    temperature=("temperature",),
    seed=("seed",),
    usage_switch=("stream_options", "include_usage"),
    errors=ERRORS,
    finishes=FINISHES,
    telling=(
        re.compile(rb'"finish_reason"\s*:\s*"'),
        re.compile(rb'"usage"\s*:\s*[^n\s]'),
        re.compile(rb'"error"\s*:\s*[^n\s]'),
        re.compile(rb"\[DONE\]"),
    ),
    last=re.compile(rb"[\r\n]data: ?\[DONE\]\s*$"),
    model=body_model,
    streams=body_streams,
    tools=_tools,
    read_document=_read_document,
    read_event=_read_event,
    error_body=error_body,
    error_event=_error_event,
)
