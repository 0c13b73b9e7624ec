"""Recording: a transport that keeps what passes through it."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanobench.agent.gateway.canonical import KEY_VERSION, canonical_request
from nanobench.agent.gateway.cassette import (
    Cassette,
    RecordedExchange,
    RecordedReply,
    cassette_path,
    split,
)
from nanobench.agent.gateway.dialects.registry import find_dialect
from nanobench.agent.gateway.reply import StreamTap
from nanobench.agent.gateway.scrubbing import Scrubber
from nanobench.agent.gateway.substitution import Locations, describe, substitutions
from nanobench.agent.gateway.transport import (
    Transport,
    TransportError,
    UpstreamRequest,
    UpstreamResponse,
)
from nanobench.files import make_directory, write_atomic
from nanobench.model.plan import Cell

_ADDRESS = frozenset({"baseUrl", "apiKey"})


@dataclass(frozen=True)
class Subject:
    """What is recorded: a cell, run by a version of Nanocoder at some place.

    `provider` is Nanocoder's provider object as the agent gets it, and `priced_as` the
    provider's id in the package of prices, null if it has none.
    """

    cell: Cell
    nanocoder: str
    provider: Mapping[str, Any]
    priced_as: str | None
    locations: Locations


@dataclass
class _Pending:
    """An exchange whose reply is not complete yet."""

    request: dict[str, Any]
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)
    ended: bool = False
    failure: str | None = None


class Recorder:
    """Collects the exchanges of one cell; `save` writes them.

    The transport runs in the gateway's thread, `save` when the cell's route is closed.
    """

    def __init__(self, subject: Subject, scrubber: Scrubber) -> None:
        self._subject = subject
        self._scrubber = scrubber
        self._substitutions = substitutions(subject.locations)
        self._parts: dict[str, str] = {}
        self._seen: Counter[str] = Counter()
        self._pending: list[_Pending] = []

    def transport(self, wire: Transport) -> Transport:
        """Record what goes through `wire`."""
        return _RecordingTransport(self, wire)

    def begin(self, request: UpstreamRequest) -> _Pending:
        """Note a request, in the order in which they are sent."""
        canonical = canonical_request(request, self._substitutions)
        kept = {
            "key": canonical.key,
            "ordinal": self._seen[canonical.key],
            "pinned": dict(request.pinned),
            **split(canonical, self._parts, self._scrubber.secrets),
        }
        self._seen[canonical.key] += 1
        pending = _Pending(kept)
        self._pending.append(pending)
        return pending

    def save(self, directory: Path) -> Path:
        """Write the cassette, whole or not at all; one of an earlier attempt is replaced.

        Raises:
            StateError: the directory cannot be written.
        """
        subject = self._subject
        cassette = Cassette(
            key_version=KEY_VERSION,
            cell=subject.cell,
            nanocoder=subject.nanocoder,
            provider={k: v for k, v in subject.provider.items() if k not in _ADDRESS},
            priced_as=subject.priced_as,
            locations=subject.locations,
            substitutions=tuple(describe(self._substitutions)),
            parts=self._parts,
            exchanges=tuple(self._exchange(pending) for pending in self._pending),
        )
        path = cassette_path(make_directory(directory), subject.cell)
        write_atomic(path, self._scrubber.secrets(cassette.to_json().encode()))
        return path

    def _exchange(self, pending: _Pending) -> RecordedExchange:
        if not pending.status and pending.failure:
            return RecordedExchange.model_validate({**pending.request, "failure": pending.failure})
        reply = RecordedReply.of(
            pending.status,
            self._scrubber.headers(pending.headers),
            self._scrubber.body(pending.status, bytes(pending.content)),
            broke_off=pending.failure,
            abandoned=pending.failure is None and not (pending.ended or _complete(pending)),
        )
        return RecordedExchange.model_validate({**pending.request, "reply": reply})


def _complete(pending: _Pending) -> bool:
    """Whether a stream told its own end; an agent may leave before the connection is closed."""
    _, method, route, *_ = pending.request["head"]
    dialect = find_dialect(method, route)
    if dialect is None:
        return False
    tap = StreamTap(dialect)
    tap.feed(bytes(pending.content))
    tap.end()
    return tap.reading.finished


class _RecordingTransport:
    def __init__(self, recorder: Recorder, wire: Transport) -> None:
        self._recorder = recorder
        self._wire = wire

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        pending = self._recorder.begin(request)
        try:
            response = await self._wire.send(request)
        except TransportError as error:
            pending.failure = error.kind
            raise
        pending.status, pending.headers = response.status, dict(response.headers)
        return _RecordedResponse(response, pending)

    async def close(self) -> None:
        await self._wire.close()


class _RecordedResponse:
    """Passes a reply on, chunk by chunk, and keeps a copy."""

    def __init__(self, response: UpstreamResponse, pending: _Pending) -> None:
        self._response = response
        self._pending = pending
        self.status = response.status
        self.headers = response.headers
        self.replayed = False

    @property
    def ended(self) -> bool:
        return self._response.ended

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.chunks():
                self._pending.content += chunk
                yield chunk
        except TransportError as error:
            self._pending.failure = error.kind
            raise
        self._pending.ended = True

    async def close(self) -> None:
        await self._response.close()
