import time
from typing import Any

import pytest
import requests
from github.GithubException import GithubException

from nanobench.errors import InfrastructureError, UsageError
from nanobench.github import client as module
from nanobench.github.client import (
    ATTEMPTS,
    Client,
    GithubAbsentError,
    GithubAccessError,
    open_client,
)
from nanobench.github.context import read_context

LIMIT = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(module, "_pause", found.append)
    return found


def failing(*errors: Exception) -> Any:
    """An operation that fails once for each error, and then is done."""
    left = list(errors)

    def operation() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return operation


def refused(status: int, message: str, **headers: str) -> GithubException:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return GithubException(status, {"message": message}, named)


@pytest.fixture
def client() -> Client:
    return Client("t0ken", "nano/bench", "https://api.github.com")


def test_a_secondary_limit_is_waited_out_as_long_as_github_says(
    client: Client, waited: list[float]
) -> None:
    errors = [refused(403, LIMIT, Retry_After="7"), refused(429, LIMIT, retry_after="3")]
    assert client.run(failing(*errors), "post") == "done"
    assert waited == [7.0, 3.0]


def test_failures_of_the_server_and_of_the_network_are_tried_again_with_growing_pauses(
    client: Client, waited: list[float]
) -> None:
    errors = [refused(502, "bad gateway"), requests.ConnectionError(), refused(500, "oh")]
    assert client.run(failing(*errors), "post") == "done"
    assert waited == [1.0, 2.0, 4.0]


def test_patience_has_an_end(client: Client, waited: list[float]) -> None:
    with pytest.raises(InfrastructureError, match="502"):
        client.run(failing(*[refused(502, "bad gateway")] * ATTEMPTS), "post")
    assert len(waited) == ATTEMPTS - 1
    with pytest.raises(InfrastructureError, match="cannot be reached"):
        client.run(failing(*[requests.Timeout()] * ATTEMPTS), "post")


def test_a_primary_limit_is_waited_for_only_if_it_ends_soon(
    client: Client, waited: list[float]
) -> None:
    def limited(seconds: int) -> GithubException:
        reset = str(int(time.time()) + seconds)
        headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
        return GithubException(403, {"message": "API rate limit exceeded for x"}, headers)

    assert client.run(failing(limited(30)), "post") == "done"
    assert 20 < waited[0] <= 30
    with pytest.raises(InfrastructureError, match="outlasts the retries"):
        client.run(failing(limited(3000)), "post")
    assert len(waited) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (refused(403, "Resource not accessible by integration"), GithubAccessError),
        (refused(401, "Bad credentials"), GithubAccessError),
        (refused(404, "Not Found"), GithubAbsentError),
        (refused(410, "Gone"), GithubAbsentError),
        (refused(422, "body is too long"), InfrastructureError),
    ],
)
def test_what_will_not_pass_is_told_at_once(
    client: Client, waited: list[float], error: GithubException, kind: type[Exception]
) -> None:
    with pytest.raises(kind) as told:
        client.run(failing(error), "post a review")
    assert waited == []
    assert "post a review in nano/bench" in str(told.value)
    assert told.value.remedy  # type: ignore[attr-defined]


def test_without_a_token_or_a_repository_the_error_says_what_to_set() -> None:
    with pytest.raises(UsageError, match="GITHUB_TOKEN"):
        open_client({}, read_context({"GITHUB_REPOSITORY": "a/b"}))
    with pytest.raises(UsageError, match="GITHUB_REPOSITORY"):
        open_client({"GH_TOKEN": "x"}, read_context({}))
