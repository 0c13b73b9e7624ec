"""Transient failures are met with bounded exponential backoff and jitter (SPEC X11)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    wait_exponential_jitter,
    wait_random,
)

from nanobench.agent.exchange import Attempt
from nanobench.agent.gateway.attempt import AttemptFailed, Failure
from nanobench.agent.gateway.route import RetryPolicy

T = TypeVar("T")
_JITTER = 0.1  # of what the provider asks for, on top of it


@dataclass
class Allowance:
    """The retries that a run still has."""

    left: int


async def retrying(
    try_once: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    allowance: Allowance,
    absorbed: list[Attempt],
) -> T:
    """Call until it succeeds, fails for good, or nothing more is allowed.

    Every failure that another call follows is added to `absorbed`.

    Raises:
        AttemptFailed: the last failure.
    """
    bounds = _Bounds(policy, allowance, absorbed, time.monotonic())
    try:
        return await try_once()  # most requests go well, and are spared the machinery below
    except AttemptFailed as failed:
        before: list[AttemptFailed] = [failed]

    async def again() -> T:
        if before:
            raise before.pop()
        return await try_once()

    backoff = wait_exponential_jitter(
        multiplier=policy.first_wait_seconds,
        max=policy.longest_wait_seconds,
        jitter=policy.first_wait_seconds,
    )
    tries = AsyncRetrying(
        retry=retry_if_exception(
            lambda error: isinstance(error, AttemptFailed) and error.failure.retryable
        ),
        wait=lambda state: _wait(state, backoff),
        stop=bounds.reached,
        before_sleep=bounds.note,
        sleep=asyncio.sleep if policy.waits else _at_once,
        reraise=True,
    )
    return await tries(again)


@dataclass(frozen=True)
class _Bounds:
    """How long one request may be tried; `started` is of the monotonic clock."""

    policy: RetryPolicy
    allowance: Allowance
    absorbed: list[Attempt]
    started: float

    def reached(self, state: RetryCallState) -> bool:
        """Whether no further try is allowed."""
        policy = self.policy
        elapsed = time.monotonic() - self.started + (0.0 if policy.waits else state.idle_for)
        return (
            state.attempt_number >= policy.attempts
            or self.allowance.left <= 0
            or state.upcoming_sleep > policy.longest_wait_seconds
            or elapsed + state.upcoming_sleep > policy.patience_seconds
        )

    def note(self, state: RetryCallState) -> None:
        """Keep the failure that another try follows."""
        self.allowance.left -= 1
        failure = _failure(state)
        self.absorbed.append(
            Attempt(
                status=failure.status,
                error_class=failure.error.error_class,
                retry_after_seconds=failure.retry_after_seconds,
                waited_seconds=round(state.upcoming_sleep, 3),
            )
        )


async def _at_once(seconds: float) -> None:
    """Go on."""


def _wait(state: RetryCallState, backoff: Callable[[RetryCallState], float]) -> float:
    asked = _failure(state).retry_after_seconds
    if asked is None:
        return backoff(state)
    return asked + wait_random(0, asked * _JITTER)(state)


def _failure(state: RetryCallState) -> Failure:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, AttemptFailed)  # noqa: S101 - nothing else is met with a retry
    return error.failure
