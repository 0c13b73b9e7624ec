"""What a route of the gateway is made of: its provider, and what holds for one cell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.dialects.base import ErrorText
from nanobench.agent.gateway.transport import Transport

UNKNOWN_DIALECT = "unknown"
PLACEHOLDER_KEY = "nanobench-placeholder-key"
"""What the agent holds in the place of a key."""


@dataclass(frozen=True)
class Upstream:
    """A provider, as a provider object of Nanocoder's configuration describes it.

    Attributes:
        base_url: what routes are appended to.
        api_key: sent wherever the agent sends the placeholder; null: no key is sent.
        headers: the provider's own, sent with every request.
        dialect: what the provider is expected to speak; each request's route decides.
        ca_cert_path: PEM file of a certificate authority that is trusted besides the system's.
        provider: its name in the configuration.
    """

    base_url: str
    api_key: str | None = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    dialect: str
    ca_cert_path: Path | None
    provider: str


@dataclass(frozen=True)
class RetryPolicy:
    """How transient failures of a provider are met (SPEC X11).

    Attributes:
        attempts: tries of one request, the first included.
        first_wait_seconds: before the second try; doubled each time, with jitter.
        longest_wait_seconds: of one wait; a provider that asks for more is not asked again.
        patience_seconds: for all tries of one request, until its first output.
        retries_per_run: of all requests of a cell.
        waits: false in a replay, where waits are decided and counted, but not slept.
    """

    attempts: int = 5
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 120.0
    patience_seconds: float = 540.0
    retries_per_run: int = 50
    waits: bool = True


class Guard(Protocol):
    """Watches the spending of a cell. Called in the gateway's thread, so that it must not block."""

    def refusal(self) -> ErrorText | None:
        """The error with which the next request is refused; null lets it pass."""

    def settle(self, exchange: Exchange) -> Exchange:
        """Take note of a finished exchange; returns it with its cost, where one is known."""


@dataclass(frozen=True)
class RouteOptions:
    """What holds for one cell.

    Attributes:
        retry: the policy for transient failures.
        idle_seconds: how long a provider may send nothing.
        guard: refuses requests beyond a budget; null: there is none.
        through: puts a recording or a replay in the place of the wire.
    """

    retry: RetryPolicy = RetryPolicy()
    idle_seconds: float = 300.0
    guard: Guard | None = None
    through: Callable[[Transport], Transport] = lambda wire: wire
