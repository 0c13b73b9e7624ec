"""One request of the agent: pinned, sent, retried, passed on, and noted (SPEC X6, X7, X11)."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aiohttp import web

from nanobench.agent.exchange import Attempt, Exchange
from nanobench.agent.gateway.answer import answer
from nanobench.agent.gateway.attempt import AttemptFailed, Failure, Held, attempt, broken
from nanobench.agent.gateway.dialects.base import ErrorText
from nanobench.agent.gateway.dialects.registry import find_dialect
from nanobench.agent.gateway.headers import incoming, outgoing, redact, without_keys
from nanobench.agent.gateway.noting import Noted, exchange
from nanobench.agent.gateway.pinning import (
    Asked,
    Pinned,
    pin,
    read_request,
    refused_parameter,
    temperature_state,
)
from nanobench.agent.gateway.reply import StreamTap
from nanobench.agent.gateway.retrying import Allowance, retrying
from nanobench.agent.gateway.route import UNKNOWN_DIALECT, RouteOptions, Upstream
from nanobench.agent.gateway.transport import Transport, TransportError, UpstreamRequest

_CUT = ErrorText("stream_cut", None, "the provider broke its reply off")
_UNREADABLE = ErrorText("invalid_request", None, "the request's body cannot be read")
_UNBUFFERED = {"cache-control": "no-cache", "x-accel-buffering": "no"}


@dataclass
class Route:
    """What the requests of one cell share. Used within the gateway's event loop."""

    upstream: Upstream
    options: RouteOptions
    transport: Transport
    allowance: Allowance
    secrets: tuple[str, ...]
    begun: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    tasks: set[asyncio.Task[object]] = field(default_factory=set)
    refused: dict[str | None, set[str]] = field(default_factory=dict)  # parameters, by model


class _Reply(web.StreamResponse):
    """Its headers go out in one piece with the first bytes of its body."""

    _send_headers_immediately = False


class Forwarding:
    """The way of one request through the gateway."""

    def __init__(self, request: web.Request, path: str, route: Route) -> None:
        self._request = request
        self._path = path
        self._route = route
        self._dialect = find_dialect(request.method, path)
        self._index = route.begun
        route.begun += 1
        self._started = time.monotonic()
        self._noted = Noted()
        self._body = b""
        self._asked = Asked(None)
        self._pinned = Pinned(b"", {})

    async def run(self) -> web.StreamResponse:
        """Answer the agent, and note the exchange whatever happens."""
        noted, tries = self._noted, self._route.options.retry
        try:
            self._body = await self._request.read()
            self._asked = read_request(self._dialect, self._path, self._body)
            guard = self._route.options.guard
            refusal = guard.refusal() if guard and self._request.method == "POST" else None
            if refusal is not None:
                return await self._fail(Failure(402, refusal))
            held = await retrying(self._try, tries, self._route.allowance, noted.attempts)
            return await self._pass_on(held)
        except AttemptFailed as failed:
            return await self._fail(failed.failure)
        except (web.RequestPayloadError, web.HTTPRequestEntityTooLarge):
            return await self._fail(Failure(400, _UNREADABLE))
        except (asyncio.CancelledError, ConnectionError):
            noted.client_left = True
            raise
        finally:
            self._note()

    async def _try(self) -> Held:
        """One try; a parameter that is refused by name is left out from then on."""
        refused = self._route.refused.setdefault(self._asked.model, set())
        while True:
            self._pinned = pin(self._dialect, self._asked, self._body, refused)
            try:
                return await attempt(
                    self._route.transport, self._outgoing(), self._dialect, self._asked.streams
                )
            except AttemptFailed as failed:
                parameter = self._refused_by(failed.failure)
                if parameter is None:
                    raise
                refused.add(parameter)
                failure = failed.failure
                self._noted.attempts.append(Attempt(failure.status, failure.error.error_class))

    def _refused_by(self, failure: Failure) -> str | None:
        if self._dialect is None or failure.status is None or failure.error.error_class == "replay":
            return None
        return refused_parameter(self._dialect, failure.status, failure.document, self._pinned)

    def _outgoing(self) -> UpstreamRequest:
        return UpstreamRequest(
            method=self._request.method,
            route=self._path,
            headers=outgoing(self._request.headers, self._route.upstream),
            body=self._pinned.body,
            agent_body=self._body,
            dialect=self._dialect.name if self._dialect else UNKNOWN_DIALECT,
            pinned=self._pinned.sampling,
        )

    async def _pass_on(self, held: Held) -> web.StreamResponse:
        """Give the agent the reply as it comes, byte for byte."""
        noted = self._noted
        noted.status, noted.reading = held.response.status, held.reading
        noted.replayed = held.response.replayed
        try:
            headers = incoming(held.response.headers, self._route.secrets)
            reply = await self._open(held.response.status, headers)
            if held.begun:
                await self._write(reply, b"".join(held.begun))
                held.begun.clear()
            failure = await self._stream(held, reply)
            if failure is not None:
                return await self._break_off(held, reply, failure)
            await reply.write_eof()
            return reply
        finally:
            await held.response.close()

    async def _stream(self, held: Held, reply: web.StreamResponse) -> Failure | None:
        """Everything up to the provider's end; the failure that came instead of a proper one."""
        tap = held.tap
        try:
            async for chunk in held.rest:
                if tap is not None:
                    tap.feed(chunk)
                await self._write(reply, chunk, last=_is_last(held))
        except TransportError as error:
            return self._cut(held, broken(error))
        if tap is None:
            return None
        if tap.complete:
            await reply.write_eof()  # the agent need not wait until all is read
        tap.end()
        return self._cut(held, Failure(held.response.status, _CUT))

    def _cut(self, held: Held, failure: Failure) -> Failure | None:
        """A break within a reply; none if the reply was complete, or told its error itself."""
        if held.tap is None:
            return failure
        held.tap.settle()
        if held.reading.finished or held.reading.error:
            return None
        timed_out = failure.error.error_class == "timeout"
        return failure if timed_out else Failure(held.response.status, _CUT)

    async def _break_off(
        self, held: Held, reply: web.StreamResponse, failure: Failure
    ) -> web.StreamResponse:
        """The agent takes a bare end for success: tell it in the stream's own words."""
        self._noted.error = failure.error
        if self._dialect is not None and isinstance(held.tap, StreamTap):
            lead = b"\n\n" if self._dialect.framing == "sse" else b"\n"  # an event may be half sent
            await self._write(reply, lead + self._dialect.error_event(failure.error))
            await reply.write_eof()
        elif self._request.transport is not None:
            self._request.transport.close()  # without the end of the body
        return reply

    async def _fail(self, failure: Failure) -> web.StreamResponse:
        self._noted.status, self._noted.error = failure.status, failure.error
        error = answer(failure, self._dialect, len(self._noted.attempts) + 1)
        body = redact(error.body.decode("utf-8", "replace"), self._route.secrets)
        told = {"x-nanobench-error": failure.error.error_class}
        reply = await self._open(error.status, {"content-type": error.content_type, **told})
        await self._write(reply, body.encode())
        await reply.write_eof()
        return reply

    async def _open(self, status: int, headers: Mapping[str, str]) -> web.StreamResponse:
        reply = _Reply(status=status, headers={**headers, **_UNBUFFERED})
        await reply.prepare(self._request)
        self._noted.answered = status
        return reply

    async def _write(self, reply: web.StreamResponse, chunk: bytes, *, last: bool = False) -> None:
        if self._noted.first_byte is None:
            self._noted.first_byte = time.monotonic()
        self._noted.response_bytes += len(chunk)
        await (reply.write_eof(chunk) if last else reply.write(chunk))

    def _note(self) -> None:
        noted, refused = self._noted, self._route.refused.get(self._asked.model, set())
        noted.temperature_state = temperature_state(self._asked, self._pinned, refused)
        done = exchange(noted, self._dialect, self._asked, self._pinned)
        done = replace(
            done,
            index=self._index,
            method=self._request.method,
            route=without_keys(self._path),
            request_bytes=len(self._body),
            first_byte_seconds=self._since_start(noted.first_byte),
            total_seconds=self._since_start(time.monotonic()),
        )
        guard = self._route.options.guard
        self._route.exchanges.append(guard.settle(done) if guard else done)

    def _since_start(self, moment: float | None) -> float | None:
        return None if moment is None else round(moment - self._started, 6)


def _is_last(held: Held) -> bool:
    """Whether a chunk that was just read surely ends a good reply: one piece less to send."""
    return held.response.ended and (held.tap is None or held.tap.complete)
