"""The fixed phrases of Nanocoder's own error messages, and what they mean.

Nanocoder writes a provider's failure to stderr only, as one of a few phrases below its boot
line (`ai-sdk-client/error-handling/error-parser.js` of 1.30.0); a failure of its own it puts
into the report's `message`.
"""

import re

from nanobench.agent.gateway.dialects.registry import classify_http_error, classify_message
from nanobench.model.signals import Ending, ErrorClass

_BOOT_LINE = re.compile(r"^nanocoder · .+ · .+ · [a-z-]+$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STATUS = re.compile(r"^Request failed \((\d{3})\): ?")
_RESPONSE_BODY = "\nResponse body: "

# Pattern at the start of the message (stderr); the first row wins.
_STDERR: tuple[tuple[str, ErrorClass], ...] = (
    (r"Authentication failed:", "authentication"),
    (r"Access forbidden:", "permission"),
    (r"Model not found:", "unknown_model"),
    (r"Rate limit exceeded:", "rate_limit"),
    (r"Rate limit:", "quota"),
    (r"Connection failed:", "connection"),
    (r"bad port$", "connection"),
    (r"(other side closed|terminated)$", "stream_cut"),
    (r"Request timed out", "timeout"),
    (r"Context too large:", "context_size"),
    (r"Too many tokens:", "context_size"),
    (r"Ollama server error:", "bad_response"),
    (r"Invalid --[a-z-]+ value:", "configuration"),
    (r"Cannot pass both", "configuration"),
    (r"Error: --json ", "configuration"),
    (r".* in JSON at position \d+", "bad_response"),
    (r"Unexpected (token|end of JSON)", "bad_response"),
)

# Pattern at the start of the report's `message`.
_REPORT: tuple[tuple[str, Ending, ErrorClass | None], ...] = (
    (r"Conversation exceeded \d+ turns", "turn_limit", None),
    (r"Model returned an empty response", "empty_response", "empty"),
    (r"No response received from model", "empty_response", "empty"),
    (r"Aborted$", "aborted", None),
    (r"No providers (configured|available)", "configuration_error", "configuration"),
    (r"No agents\.config\.json found", "configuration_error", "configuration"),
    (r"Provider '.*' (not found|is ambiguous)", "configuration_error", "configuration"),
    (r"Model '.*' not available", "configuration_error", "configuration"),
    (r"Directory .* is not trusted", "configuration_error", "configuration"),
    (r"All configured providers failed", "configuration_error", "configuration"),
    (r"Failed to initialize provider", "configuration_error", "configuration"),
)


def error_text(stderr: str) -> str:
    """What stderr says after the boot line, without colours and `[plain]` status lines."""
    lines = _COLOUR.sub("", stderr).splitlines()
    boot = [number for number, line in enumerate(lines) if _BOOT_LINE.match(line)]
    after = lines[boot[0] + 1 :] if boot else lines
    return "\n".join(line for line in after if not line.startswith("[plain] ")).strip()


def classify_stderr(message: str) -> ErrorClass | None:
    """The class of an error text as `error_text` returns it; null when no phrase is known."""
    status = _STATUS.match(message)
    if status:
        return classify_http_error(int(status[1]), message[status.end() :])
    if message.startswith("Bad request:"):
        return classify_http_error(400, _body_or_text(message.removeprefix("Bad request:")))
    if message.startswith("Server error:"):
        return classify_message(message) or "server_error"
    for pattern, error_class in _STDERR:
        if re.match(pattern, message):
            return error_class
    return classify_message(message)


def classify_report_message(message: str) -> tuple[Ending, ErrorClass | None]:
    """Ending and class of a report of kind `error`; an unknown message is a crash."""
    for pattern, ending, error_class in _REPORT:
        if re.match(pattern, message, re.DOTALL):
            return ending, error_class
    return "crashed", "unknown"


def _body_or_text(text: str) -> str:
    message, marker, body = text.partition(_RESPONSE_BODY)
    return body if marker else message
