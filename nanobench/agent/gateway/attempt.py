"""One try at the provider: its reply is held until the first output, then known to be good."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from nanobench.agent.gateway.dialects.base import Dialect, ErrorText, Reading
from nanobench.agent.gateway.dialects.errors import ErrorDocument, error_document, read_error
from nanobench.agent.gateway.dialects.registry import classify_error
from nanobench.agent.gateway.reply import DocumentTap, StreamTap, Tap
from nanobench.agent.gateway.transport import (
    RefusedError,
    Transport,
    TransportError,
    UpstreamRequest,
    UpstreamResponse,
)
from nanobench.model.signals import ErrorClass

_MOST_HELD = 1 << 23  # bytes; a reply that is longer before its first output goes on unheld
_MOST_ERROR = 1 << 20  # bytes of an error's body
_TRANSIENT: frozenset[ErrorClass] = frozenset(
    {"rate_limit", "overload", "server_error", "timeout", "connection", "stream_cut"}
)
_VAGUE: frozenset[ErrorClass] = frozenset({"invalid_request", "bad_response"})
_WAITING = frozenset({408, 409, 425, 429})
_UNTOLD = ErrorDocument((), "")


@dataclass(frozen=True)
class Failure:
    """Why a try was no success.

    Attributes:
        status: HTTP status; null when no reply came.
        error: its class, code and message.
        document: the error as the provider wrote it.
        body: likewise, undecoded; empty where there was none.
        retry_after_seconds: what the provider asks for.
        retryable: whether another try can help.
    """

    status: int | None
    error: ErrorText
    document: ErrorDocument = _UNTOLD
    body: bytes = b""
    retry_after_seconds: float | None = None
    retryable: bool = False


class AttemptFailed(Exception):  # noqa: N818 - an event of every run, seldom an error
    """A try that is not to be passed on as it is."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error.message)
        self.failure = failure


@dataclass
class Held:
    """A good reply so far: what has come of it, and the rest.

    Attributes:
        response: status and headers.
        rest: the chunks that are still to come.
        tap: what was read of it; null in an unknown dialect.
        begun: the chunks that have come.
    """

    response: UpstreamResponse
    rest: AsyncIterator[bytes]
    tap: Tap | None
    begun: list[bytes] = field(default_factory=list)

    @property
    def reading(self) -> Reading:
        """What the reply told so far."""
        return self.tap.reading if self.tap else Reading()


async def attempt(
    transport: Transport, request: UpstreamRequest, dialect: Dialect | None, streams: bool
) -> Held:
    """Send a request, and hold its reply until the first output.

    A reply in an unknown dialect is passed on whatever it is.

    Raises:
        AttemptFailed: no reply, an error, or an error before any output.
    """
    try:
        response = await transport.send(request)
    except TransportError as error:
        raise AttemptFailed(broken(error)) from None
    except RefusedError as refused:
        raise AttemptFailed(Failure(refused.status, refused.error)) from None
    try:
        if dialect is None:
            return Held(response, response.chunks(), None)
        if response.status >= 300:
            raise AttemptFailed(await _refused(response, dialect))
        return await _held(response, dialect, streams)
    except BaseException:
        await response.close()
        raise


def broken(error: TransportError) -> Failure:
    """A connection that failed; only a certificate does not get better."""
    error_class: ErrorClass = "timeout" if error.kind == "timeout" else "connection"
    text = ErrorText(error_class, None, str(error))
    return Failure(None, text, retryable=error.kind != "tls")


def told_failure(
    status: int, document: ErrorDocument, dialect: Dialect, headers: Mapping[str, str]
) -> Failure:
    """An error that the provider told, under whatever status."""
    error_class = classify_error(status, document, dialect)
    told = headers.get("x-should-retry")
    temporary = error_class in _TRANSIENT or (status in _WAITING and error_class in _VAGUE)
    asked = retry_after(headers)
    return Failure(
        status=status,
        error=ErrorText(error_class, document.code, document.message or f"HTTP status {status}"),
        document=document,
        retry_after_seconds=document.retry_after_seconds if asked is None else asked,
        retryable=temporary if told not in ("true", "false") else told == "true",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `retry-after-ms` or `retry-after` asks for; null without a readable one."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        try:
            seconds = float(text) * unit
        except ValueError:
            seconds = _until(text)
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _until(text: str) -> float:
    """Seconds until an HTTP date; negative when the text is none."""
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return -1.0
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


async def _refused(response: UpstreamResponse, dialect: Dialect) -> Failure:
    body = b""
    try:
        async for chunk in response.chunks():
            body = (body + chunk)[:_MOST_ERROR]
            if len(body) == _MOST_ERROR:
                break
    except TransportError:
        pass  # the status says enough
    document = read_error(body.decode("utf-8", "replace"))
    failure = told_failure(response.status, document, dialect, response.headers)
    await response.close()
    return Failure(**{**vars(failure), "body": body})


async def _held(response: UpstreamResponse, dialect: Dialect, streams: bool) -> Held:
    kind = response.headers.get("content-type", "")
    tap: Tap = StreamTap(dialect) if streams and "/json" not in kind else DocumentTap(dialect)
    held, size = Held(response, response.chunks(), tap), 0
    try:
        async for chunk in held.rest:
            held.begun.append(chunk)
            size += len(chunk)
            tap.feed(chunk)
            _check(tap.reading, held, dialect)
            if tap.reading.output or size > _MOST_HELD:
                return held
    except TransportError as error:
        raise AttemptFailed(broken(error)) from None
    tap.end()
    _check(tap.reading, held, dialect)
    if not tap.reading.finished or (streams and isinstance(tap, DocumentTap)):
        raise AttemptFailed(_no_reply(tap, response.status, size))
    return held


def _check(reading: Reading, held: Held, dialect: Dialect) -> None:
    if reading.error and not reading.output:
        document = error_document(reading.error, "the provider sent an error")
        response = held.response
        raise AttemptFailed(told_failure(response.status, document, dialect, response.headers))


def _no_reply(tap: Tap, status: int, size: int) -> Failure:
    """A stream that ended too early can be asked for again; another document comes again."""
    if isinstance(tap, StreamTap) and (tap.events or not size):
        text = ErrorText("stream_cut", None, "the provider's reply ended before it was complete")
        return Failure(status, text, retryable=True)
    text = ErrorText("bad_response", None, "the provider's reply is not in the expected form")
    return Failure(status, text)
