"""Replaying: a transport that answers from a cassette, and from nothing else."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from nanobench.agent.gateway.canonical import KEY_VERSION, CanonicalRequest, canonical_request
from nanobench.agent.gateway.cassette import Cassette, Failure
from nanobench.agent.gateway.dialects.base import ErrorText
from nanobench.agent.gateway.dialects.errors import REPLAY_CODE
from nanobench.agent.gateway.difference import first_difference
from nanobench.agent.gateway.substitution import (
    VARYING,
    Locations,
    describe,
    relocate,
    substitutions,
)
from nanobench.agent.gateway.transport import (
    RefusedError,
    TransportError,
    UpstreamRequest,
    UpstreamResponse,
)
from nanobench.errors import InvalidInputError

_STATUS = 422  # which the agent does not try again
_CHUNK = 1 << 16


def check_replayable(cassette: Cassette) -> None:
    """Refuse a cassette whose keys this version would compute in another way.

    Raises:
        InvalidInputError: it was recorded under other rules.
    """
    described = describe(VARYING)
    rules = [rule for rule in cassette.substitutions if rule in described]
    if cassette.key_version != KEY_VERSION or rules != described:
        raise InvalidInputError(
            "the cassette was recorded under other rules for what may vary",
            where=cassette.cell.cell_id,
            remedy="record the bench again, or replay it with the version that recorded it",
        )


class Replay:
    """Plays one cassette: each exchange once, requests with the same key in recorded order."""

    def __init__(self, cassette: Cassette, locations: Locations) -> None:
        self._cassette = cassette
        self._locations = locations
        self._substitutions = substitutions(locations)
        self._waiting = list(cassette.exchanges)

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Answer as recorded, a failure included.

        Raises:
            RefusedError: the recording does not hold this request, or other parameters were
                pinned in it.
            TransportError: as recorded.
        """
        asked = canonical_request(request, self._substitutions)
        at = next((at for at, one in enumerate(self._waiting) if one.key == asked.key), None)
        if at is None:
            raise _refused(self._miss(asked))
        exchange, pinned = self._waiting[at], dict(request.pinned)
        if exchange.pinned != pinned:
            raise _refused(
                "replay refused: this run pins other parameters than the recording "
                f"(recorded {_told(exchange.pinned)}, now {_told(pinned)})"
            )
        del self._waiting[at]
        reply = exchange.reply
        if reply is None:
            raise TransportError(exchange.failure or "reset", "no reply came")
        if reply.abandoned:
            raise _refused(
                "replay miss: the agent was ended while this reply was recorded, so that the "
                "recording does not hold all of it"
            )
        return _Replayed(
            status=reply.status,
            headers=reply.headers,
            content=relocate(reply.content, self._cassette.locations, self._locations),
            broke_off=reply.broke_off,
        )

    async def close(self) -> None:
        """Nothing is held."""

    def _miss(self, asked: CanonicalRequest) -> str:
        total = len(self._cassette.exchanges)
        number = total - len(self._waiting) + 1
        if not self._waiting:
            return f"replay miss: request {number} was not recorded; the recording holds {total}"
        expected = self._cassette.request(self._waiting[0])
        difference = first_difference(expected, asked)
        return f"replay miss: request {number} is not the one recorded; {difference}"


@dataclass(frozen=True)
class _Replayed:
    status: int
    headers: Mapping[str, str]
    content: bytes
    broke_off: Failure | None = None
    replayed: bool = True
    ended: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.content), _CHUNK):
            yield self.content[start : start + _CHUNK]
        if self.broke_off is not None:
            raise TransportError(self.broke_off, "the reply broke off")

    async def close(self) -> None:
        """Nothing is held."""


def _refused(message: str) -> RefusedError:
    return RefusedError(_STATUS, ErrorText("replay", REPLAY_CODE, message))


def _told(pinned: dict[str, float | int | None]) -> str:
    pairs = (f"{name} {value}" for name, value in sorted(pinned.items()))
    return ", ".join(pairs) or "nothing"
