"""What a provider's error means: a machine-readable code first, then a phrase, then the status."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nanobench.model.signals import ErrorClass
from nanobench.model.text import clean

Phrase = tuple[tuple[str, ...], ErrorClass]
"""A class, and the parts that must all occur in the lower-cased message."""

REQUEST_LIMIT_CODE = "nanobench_request_limit"
TOKEN_LIMIT_CODE = "nanobench_token_limit"  # noqa: S105 - an error code
COST_LIMIT_CODE = "nanobench_cost_limit"
UNMETERED_CODE = "nanobench_unmetered"
REPLAY_CODE = "nanobench_replay"
"""Codes of the gateway's own refusals."""

_OWN: dict[str, ErrorClass] = {
    REQUEST_LIMIT_CODE: "budget",
    TOKEN_LIMIT_CODE: "budget",
    COST_LIMIT_CODE: "budget",
    UNMETERED_CODE: "unmetered",
    REPLAY_CODE: "replay",
}
_MAX_DETAILS = 10_000
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_STATUS = re.compile(r"[45][0-9]{2}")

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


@dataclass(frozen=True)
class ErrorTable:
    """The codes and phrases of one dialect; the first phrase that fits wins."""

    codes: Mapping[str, ErrorClass]
    phrases: tuple[Phrase, ...]


@dataclass(frozen=True)
class ErrorDocument:
    """An error body, read.

    Attributes:
        codes: most specific first.
        message: for people; the whole body where it is no JSON.
        parameter: the request's parameter that is blamed; null when none is named.
        details: further text that can tell the class.
        retry_after_seconds: what the body asks for; null when it does not.
    """

    codes: tuple[str, ...]
    message: str
    parameter: str | None = None
    details: str = ""
    retry_after_seconds: float | None = None

    @property
    def code(self) -> str | None:
        """The most specific code."""
        return self.codes[0] if self.codes else None


def read_error(body: str) -> ErrorDocument:
    """Read a nested, flat, array or plain error body."""
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ErrorDocument((), body)
    return error_document(document, body)


def error_document(document: Any, text: str = "") -> ErrorDocument:
    """Read a decoded error body; `text` serves as the message of what is none."""
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return ErrorDocument((), text)
    error = document.get("error", document)
    if not isinstance(error, dict):
        return ErrorDocument((), _flat(error))
    details = error.get("details")
    special = details.get("error_code") if isinstance(details, dict) else None
    found = (special, error.get("code"), error.get("type"), error.get("status"))
    message, parameter = error.get("message", ""), error.get("param")
    listed = [d for d in details if isinstance(d, dict)] if isinstance(details, list) else []
    return ErrorDocument(
        codes=tuple(_flat(str(code)) for code in found if _is_code(code)),
        message=_flat(message),
        parameter=parameter if isinstance(parameter, str) else None,
        details=_flat(listed)[:_MAX_DETAILS] if listed else "",
        retry_after_seconds=_retry_delay(listed),
    )


def classify(status: int, error: ErrorDocument, tables: Iterable[ErrorTable]) -> ErrorClass:
    """The class of an error under this HTTP status, which may be 200."""
    tables = tuple(tables)
    by_code = _by_code(error.codes, tables)
    by_message = classify_message(f"{error.message}\n{error.details}", tables)
    if by_message in ("context_size", "quota") and by_code == "rate_limit":
        # One request above the limit of a minute never succeeds, and no waiting fills a purse;
        # both come with the code of a rate limit.
        return by_message
    return by_code or by_message or _by_status(_innermost(status, error.codes))


def classify_message(message: str, tables: Iterable[ErrorTable]) -> ErrorClass | None:
    """The class that a text alone gives away, or null."""
    lowered = message.lower()
    for table in tables:
        for parts, error_class in table.phrases:
            if all(part in lowered for part in parts):
                return error_class
    return None


def _by_code(codes: Iterable[str], tables: tuple[ErrorTable, ...]) -> ErrorClass | None:
    known = [_OWN, *(table.codes for table in tables)]
    found = (table.get(code.lower()) for code in codes for table in known)
    return next((error_class for error_class in found if error_class), None)


def _innermost(status: int, codes: Iterable[str]) -> int:
    """A status inside the body, where the outer one says nothing (200, or 5xx of a proxy)."""
    if status != 200 and status < 500:
        return status
    return next((int(code) for code in codes if _STATUS.fullmatch(code)), status)


def _by_status(status: int) -> ErrorClass:
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return "server_error"
    if 400 <= status < 500:
        return "invalid_request"
    return "bad_response"


def _retry_delay(details: list[dict[str, Any]]) -> float | None:
    """Google's RetryInfo: a duration such as `34s`."""
    told = (item.get("retryDelay") for item in details)
    delays = (_DURATION.fullmatch(delay) for delay in told if isinstance(delay, str))
    return next((float(delay[1]) for delay in delays if delay), None)


def _flat(value: Any) -> str:
    """A text that UTF-8 can carry, or another value as JSON; empty if that nests too deep."""
    try:
        text = value if isinstance(value, str) else json.dumps(value)
    except RecursionError:
        return ""
    return clean(text)


def _is_code(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""
