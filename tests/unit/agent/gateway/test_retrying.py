"""How often and how long a failure is met with another try."""

import asyncio
import time
from dataclasses import replace
from email.utils import formatdate

import pytest

from nanobench.agent.exchange import Attempt
from nanobench.agent.gateway.attempt import AttemptFailed, Failure, retry_after
from nanobench.agent.gateway.dialects.base import ErrorText
from nanobench.agent.gateway.retrying import Allowance, retrying
from nanobench.agent.gateway.route import RetryPolicy

FAILURE = Failure(503, ErrorText("overload", None, "m"), retryable=True)
QUICK = RetryPolicy(first_wait_seconds=0.001)


class Provider:
    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.failures:
            raise AttemptFailed(self.failures.pop(0))
        return "answer"


def play(
    provider: Provider, policy: RetryPolicy = QUICK, left: int = 50
) -> tuple[str, list[Attempt], int]:
    absorbed: list[Attempt] = []
    allowance = Allowance(left)
    try:
        result = asyncio.run(retrying(provider, policy, allowance, absorbed))
    except AttemptFailed as failed:
        result = failed.failure.error.error_class
    return result, absorbed, allowance.left


def test_a_first_success_costs_nothing() -> None:
    provider = Provider()
    assert play(provider) == ("answer", [], 50)
    assert provider.calls == 1


@pytest.mark.parametrize("failures", [1, 2, 4])
def test_failures_are_absorbed_and_noted(failures: int) -> None:
    provider = Provider(*[FAILURE] * failures)
    result, absorbed, left = play(provider)
    assert (result, provider.calls, left) == ("answer", failures + 1, 50 - failures)
    assert [(one.status, one.error_class) for one in absorbed] == [(503, "overload")] * failures


def test_the_last_failure_is_the_one_that_is_told() -> None:
    last = replace(FAILURE, error=ErrorText("server_error", None, "m"))
    provider = Provider(*[FAILURE] * 4, last)
    result, absorbed, _ = play(provider)
    assert (result, provider.calls, len(absorbed)) == ("server_error", 5, 4)


def test_a_final_failure_ends_it_wherever_it_comes() -> None:
    provider = Provider(FAILURE, replace(FAILURE, retryable=False))
    result, absorbed, _ = play(provider)
    assert (result, provider.calls, len(absorbed)) == ("overload", 2, 1)


def test_a_run_s_retries_are_bounded() -> None:
    provider = Provider(*[FAILURE] * 9)
    _, absorbed, left = play(provider, left=2)
    assert (len(absorbed), left, provider.calls) == (2, 0, 3)


@pytest.mark.parametrize(
    ("policy", "asked", "calls"),
    [
        (replace(QUICK, longest_wait_seconds=5), 6.0, 1),
        (replace(QUICK, patience_seconds=1), 2.0, 1),
        (replace(QUICK, attempts=1), None, 1),
        (QUICK, 0.001, 2),
    ],
)
def test_what_takes_too_long_is_not_waited_for(
    policy: RetryPolicy, asked: float | None, calls: int
) -> None:
    provider = Provider(replace(FAILURE, retry_after_seconds=asked))
    play(provider, policy)
    assert provider.calls == calls


def test_waits_grow_and_jitter_stays_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(seconds: float) -> None:
        return None

    monkeypatch.setattr(asyncio, "sleep", at_once)
    _, absorbed, _ = play(Provider(*[FAILURE] * 9), RetryPolicy(attempts=8))
    waits = [one.waited_seconds for one in absorbed]
    for number, wait in enumerate(waits):
        assert min(2**number, 120) <= wait <= min(2**number + 1, 120)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_can_be_a_date() -> None:
    found = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert found is not None
    assert 90 < found <= 100
