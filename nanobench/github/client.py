"""The way to GitHub: PyGithub, patience with what passes, and words for what does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import requests
from github import Auth, Github
from github.GithubException import BadAttributeException, GithubException
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from nanobench.errors import InfrastructureError, UsageError
from nanobench.report.escape import plain

if TYPE_CHECKING:
    from github.Repository import Repository

    from nanobench.github.context import Context

Found = TypeVar("Found")

ATTEMPTS = 5
TIMEOUT_SECONDS = 30
BETWEEN_WRITES_SECONDS = 1.0  # what GitHub asks of who writes several times
# A limit that lasts longer is not waited for: the summary holds what would have been posted.
LONGEST_WAIT_SECONDS = 120.0
ACTIONS_LOGIN = "github-actions[bot]"
_INTEGRATION = "resource not accessible by"
_LIMITED = "rate limit"
_INTERRUPTED = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
)


class GithubAccessError(InfrastructureError):
    """The token may not do this; trying again does not help."""


class GithubAbsentError(InfrastructureError):
    """What was asked for is not there, or this token cannot see it."""


@dataclass(frozen=True)
class Client:
    """One repository, as one token sees it."""

    token: str
    repository_name: str
    api_url: str
    author: str | None = None

    @cached_property
    def repository(self) -> Repository:
        """The repository; nothing is asked before it is used."""
        return self._github.get_repo(self.repository_name)

    @cached_property
    def login(self) -> str:
        """Who writes: the login named at the start, that of a person's token, or Actions' own.

        Tokens of Actions and of apps may not ask who they are.
        """
        if self.author:
            return self.author
        try:
            return self._github.get_user().login
        except GithubException as error:
            if error.status == 403 and _INTEGRATION in _message(error).lower():
                return ACTIONS_LOGIN
            raise

    @cached_property
    def _github(self) -> Github:
        return Github(
            auth=Auth.Token(self.token),
            base_url=self.api_url,
            timeout=TIMEOUT_SECONDS,
            per_page=100,
            lazy=True,
            retry=None,  # `run` repeats whole operations: a repeated POST could write twice
            seconds_between_requests=0,
            seconds_between_writes=BETWEEN_WRITES_SECONDS,
        )

    def run(self, operation: Callable[[], Found], doing: str) -> Found:
        """Do something that may be done twice, and again when GitHub asks for patience.

        Limits and failures of the server are waited out, as long as Retry-After says; `doing`
        names the operation in an error.

        Raises:
            GithubAccessError: the token lacks a permission.
            GithubAbsentError: it is not there.
            InfrastructureError: GitHub refuses or fails.
        """
        retrying = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            retry=retry_if_exception(_passes),
            wait=_wait,
            sleep=_pause,
            reraise=True,
        )
        try:
            return retrying(operation)
        except GithubException as error:
            raise _explained(error, f"{doing} in {self.repository_name}") from None
        except (BadAttributeException, AssertionError) as error:  # PyGithub checks what it reads
            raise InfrastructureError(
                f"GitHub answers with something unknown: {plain(str(error))}",
                where=f"{doing} in {self.repository_name}",
            ) from None
        except requests.RequestException as error:
            raise InfrastructureError(
                f"GitHub cannot be reached: {type(error).__name__}",
                where=f"{doing} in {self.repository_name}",
                remedy="run the job again",
            ) from None


def open_client(environ: Mapping[str, str], context: Context, author: str | None = None) -> Client:
    """A client from GITHUB_TOKEN (or GH_TOKEN) and the repository of the context.

    Raises:
        UsageError: one of them is missing.
    """
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if not token:
        raise UsageError(
            "there is no token for GitHub",
            where="GITHUB_TOKEN",
            remedy="pass it to the step: `env: {GITHUB_TOKEN: ${{ github.token }}}`",
        )
    if not context.repository:
        raise UsageError(
            "there is no repository to talk about",
            where="GITHUB_REPOSITORY",
            remedy="set it to owner/name",
        )
    return Client(token, context.repository, context.api_url, author)


def _pause(seconds: float) -> None:
    time.sleep(seconds)


def _passes(error: BaseException) -> bool:
    """Whether patience can help."""
    if isinstance(error, _INTERRUPTED):
        return True
    if not isinstance(error, GithubException):
        return False
    if error.status >= 500:
        return True
    limited = error.status in (403, 429) and (
        _LIMITED in _message(error).lower() or "retry-after" in _headers(error)
    )
    return limited and _asked_wait(error) <= LONGEST_WAIT_SECONDS


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = _asked_wait(error) if isinstance(error, GithubException) else 0.0
    return max(asked, float(2 ** (state.attempt_number - 1)) if not asked else 0.0)


def _asked_wait(error: GithubException) -> float:
    """Seconds that GitHub asks to wait; 0 if it does not say."""
    headers = _headers(error)
    after = headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(0.0, int(reset) - time.time())
    return 0.0


def _headers(error: GithubException) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in (error.headers or {}).items()}


def _message(error: GithubException) -> str:
    data = error.data
    return str(data.get("message", "")) if isinstance(data, dict) else str(data or "")


def _explained(error: GithubException, where: str) -> InfrastructureError:
    told = plain(_message(error)) or f"status {error.status}"
    if error.status in (403, 429) and _LIMITED in told.lower():
        return InfrastructureError(
            f"GitHub's rate limit outlasts the retries: {told}",
            where=where,
            remedy="run the job again later",
        )
    if error.status in (401, 403):
        return GithubAccessError(
            f"GitHub does not permit this: {told}",
            where=where,
            remedy="give the job the permission (docs/github.md lists them); pull requests from "
            "forks and from Dependabot have a token that can only read",
        )
    if error.status in (404, 410):
        return GithubAbsentError(
            f"GitHub does not have this: {told}",
            where=where,
            remedy="check the name, and that the token may see it",
        )
    return InfrastructureError(
        f"GitHub refuses this with {error.status}: {told}", where=where, remedy="run the job again"
    )
