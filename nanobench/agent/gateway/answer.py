"""What the agent is told of an error: in its dialect, in a status that it does not retry."""

import json
from dataclasses import dataclass, replace

from nanobench.agent.gateway.attempt import Failure
from nanobench.agent.gateway.dialects.base import Dialect, ErrorText

FINAL_STATUS = 424
"""Answers an error that the gateway has given up on: a client error that no SDK retries."""

_RETRIED_BY_AGENTS = frozenset({408, 409, 425, 429})


@dataclass(frozen=True)
class ErrorAnswer:
    """Status, content type and body of an HTTP error."""

    status: int
    content_type: str
    body: bytes


def answer(failure: Failure, dialect: Dialect | None, tries: int) -> ErrorAnswer:
    """The error for the agent; the provider's own bytes where the agent's SDK reads them.

    Args:
        failure: the last one.
        dialect: of the request; null: unknown.
        tries: how many were made.
    """
    status = final_status(failure.status)
    if status == failure.status and failure.body and _readable(failure.body):
        return ErrorAnswer(status, "application/json", failure.body)
    body = json.dumps(_body(told(failure, tries), dialect)).encode()
    return ErrorAnswer(status, "application/json", body)


def told(failure: Failure, tries: int) -> ErrorText:
    """The error's text, with what its status and the number of tries add to it."""
    added = [] if failure.status is None else [f"HTTP {failure.status} from the provider"]
    if tries > 1:
        added.append(f"{tries} attempts")
    note = f" ({', '.join(added)})" if added else ""
    return replace(failure.error, message=f"{failure.error.message}{note}")


def final_status(status: int | None) -> int:
    """The provider's own status, unless the agent would ask again or take it for success."""
    known = status is not None and 400 <= status < 500 and status not in _RETRIED_BY_AGENTS
    return status if known and status is not None else FINAL_STATUS


def _body(error: ErrorText, dialect: Dialect | None) -> object:
    if dialect is None:
        return {"error": {"message": error.message, "code": error.code}}
    return dialect.error_body(error)


def _readable(body: bytes) -> bool:
    """Whether an SDK finds `error.message` in it; of other shapes it shows the status alone."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return False
    error = document.get("error") if isinstance(document, dict) else None
    return isinstance(error, str) or (
        isinstance(error, dict) and isinstance(error.get("message"), str)
    )
