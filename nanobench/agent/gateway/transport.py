"""What carries a request to a provider: the wire, a recording of it, or a replay."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from nanobench.agent.gateway.dialects.base import ErrorText

TransportFailure = Literal["refused", "reset", "timeout", "dns", "tls"]


@dataclass(frozen=True)
class UpstreamRequest:
    """One request as it goes out.

    Attributes:
        method: of the request.
        route: path after the provider's base URL, with its query, without keys.
        headers: to send, authorization included; names in lower case.
        body: as sent, sampling pinned.
        agent_body: as the agent sent it.
        dialect: name of the dialect, or `unknown`.
        pinned: the sampling parameters in `body` (`temperature`, `seed`) that the gateway set.
    """

    method: str
    route: str
    headers: Mapping[str, str]
    body: bytes
    agent_body: bytes
    dialect: str
    pinned: Mapping[str, Any]


class TransportError(Exception):
    """No reply, or no rest of one. The message holds neither address nor key."""

    def __init__(self, kind: TransportFailure, message: str) -> None:
        super().__init__(message)
        self.kind: TransportFailure = kind


class RefusedError(Exception):
    """A request that is answered with an error of ours: never sent, never tried again."""

    def __init__(self, status: int, error: ErrorText) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error


class UpstreamResponse(Protocol):
    """A reply whose body is still to come; header names are in lower case."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """As received."""

    @property
    def replayed(self) -> bool:
        """Whether it comes from a cassette."""

    @property
    def ended(self) -> bool:
        """Whether it is known already that nothing follows the chunks so far."""

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, not split at events; once only.

        Raises:
            TransportError: it breaks off, or nothing comes for too long.
        """

    async def close(self) -> None:
        """Let go of the connection, also in the middle of the body."""


class Transport(Protocol):
    """One way to reach a provider. Used within one event loop."""

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Send a request and wait for the reply's headers.

        Raises:
            TransportError: none came.
            RefusedError: none is to be had.
        """

    async def close(self) -> None:
        """Let go of everything."""
