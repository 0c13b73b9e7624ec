"""What a provider's error means: status and body of the OpenAI chat shape and its relatives.

The tables follow what providers were seen to send: a machine-readable code is trusted first,
then a phrase of the message, then the status alone.
"""

import json
from typing import Any

from nanobench.model.signals import ErrorClass

_CODES: dict[str, ErrorClass] = {
    "context_length_exceeded": "context_size",
    "exceed_context_size_error": "context_size",
    "tokens_limit_reached": "context_size",
    "insufficient_quota": "quota",
    "credit_balance_exhausted": "quota",
    "organization_spend_limit_exceeded": "quota",
    "project_spend_limit_exceeded": "quota",
    "organization_usage_limit_exceeded": "quota",
    "enforced_spend_limit_reached": "quota",
    "contract_spend_limit_reached": "quota",
    "billing_error": "billing",
    "invalid_api_key": "authentication",
    "authentication_error": "authentication",
    "permission_error": "permission",
    "permission_denied": "permission",
    "model_not_found": "unknown_model",
    "unknown_model": "unknown_model",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_error": "rate_limit",
    "slow_down": "rate_limit",
    "overloaded_error": "overload",
    "server_is_overloaded": "overload",
    "service_unavailable_error": "overload",
    "unavailable": "overload",
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "cyber_policy": "content_filter",
}

# All parts of a row must occur in the lower-cased message; the first row wins.
_PHRASES: tuple[tuple[tuple[str, ...], ErrorClass], ...] = (
    (("maximum context length",), "context_size"),
    (("prompt is too long",), "context_size"),
    (("context window",), "context_size"),
    (("context size",), "context_size"),
    (("context too large",), "context_size"),
    (("exceed context limit",), "context_size"),
    (("model's context length",), "context_size"),
    (("input tokens exceed the configured limit",), "context_size"),
    (("input token count", "exceeds the maximum"), "context_size"),
    (("prompt token count", "exceeds the limit"), "context_size"),
    (("maximum input length", "tokens"), "context_size"),
    (("too many tokens",), "context_size"),
    (("too many input tokens",), "context_size"),
    (("request too large", "tokens per min"), "context_size"),
    (("request body too large", "tokens"), "context_size"),
    (("cannot truncate prompt", "n_ctx"), "context_size"),
    (("current quota",), "quota"),
    (("insufficient credits",), "billing"),
    (("credit balance",), "billing"),
    (("api key not valid",), "authentication"),
    (("incorrect api key",), "authentication"),
    (("invalid api key",), "authentication"),
    (("safety system",), "content_filter"),
    (("content filtering policy",), "content_filter"),
    (("usage policy",), "content_filter"),
    (("overloaded",), "overload"),
    (("server busy",), "overload"),
    (("rate limit",), "rate_limit"),
    (("service tier capacity exceeded",), "rate_limit"),
)

_STATUSES: dict[int, ErrorClass] = {
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "unknown_model",
    408: "timeout",
    413: "invalid_request",
    429: "rate_limit",
    503: "overload",
    504: "timeout",
    529: "overload",
}


def classify_http_error(status: int, body: str) -> ErrorClass:
    """The class of a reply whose status is not 2xx, or of an error body under status 200.

    Args:
        status: HTTP status.
        body: the body's text; need not be JSON.
    """
    codes, message = _read_body(body)
    by_code = next((_CODES[code.lower()] for code in codes if code.lower() in _CODES), None)
    by_message = classify_message(message)
    if by_message == "context_size" and by_code in (None, "rate_limit"):
        return by_message  # one request above the limit of a minute never succeeds
    return by_code or by_message or _classify_status(_innermost(status, codes))


def classify_message(message: str) -> ErrorClass | None:
    """The class that an error text alone gives away, or null."""
    lowered = message.lower()
    for parts, error_class in _PHRASES:
        if all(part in lowered for part in parts):
            return error_class
    return None


def _innermost(status: int, codes: list[str]) -> int:
    """A status inside the body, where the outer one says nothing (200, or 5xx of a proxy)."""
    if status != 200 and status < 500:
        return status
    numbers = (int(code) for code in codes if code.isascii() and code.isdigit())
    return next((number for number in numbers if 400 <= number < 600), status)


def _classify_status(status: int) -> ErrorClass:
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return "server_error"
    if 400 <= status < 500:
        return "invalid_request"
    return "bad_response"


def _read_body(body: str) -> tuple[list[str], str]:
    """Codes (most specific first) and message of nested, flat, array and plain bodies."""
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return [], body
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return [], body
    error = document.get("error", document)
    if not isinstance(error, dict):
        return [], str(error)
    details = error.get("details")
    detail_code = details.get("error_code") if isinstance(details, dict) else None
    found = [detail_code, error.get("code"), error.get("type"), error.get("status")]
    codes = [str(code) for code in found if isinstance(code, str | int)]
    message = error.get("message", "")
    return codes, message if isinstance(message, str) else json.dumps(message)
