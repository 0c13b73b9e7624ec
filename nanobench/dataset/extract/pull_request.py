"""A pull request by its URL, through GitHub's API."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from nanobench.dataset.changes import changed_files
from nanobench.dataset.clone import Clone
from nanobench.dataset.extract.origin import closed_issue
from nanobench.errors import InfrastructureError, InvalidInputError

if TYPE_CHECKING:
    from github.PullRequest import PullRequest as ApiPull

_PATH = re.compile(r"/([^/]+/[^/]+)/pull/([1-9][0-9]*)(/.*)?")
_API: Final = "https://api.github.com"
_TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class PullRequest:
    """What a task needs of a merged pull request."""

    repo: str
    url: str
    number: int
    merge_commit: str
    merged_at: str
    commits: int
    changed_files: int
    issue_url: str | None


def is_pull_url(text: str) -> bool:
    """Whether this is the URL of a pull request, and not a commit."""
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and _PATH.fullmatch(parts.path) is not None


def fetch_pull_request(url: str, environ: Mapping[str, str] = os.environ) -> PullRequest:
    """Ask GitHub.

    Args:
        environ: `GITHUB_TOKEN` (optional) and `GITHUB_API_URL`, as GitHub Actions sets them.

    Raises:
        InvalidInputError: there is no such pull request, or it is not merged.
        InfrastructureError: GitHub cannot be reached or does not answer.
    """
    from github import Auth, Github, GithubException, UnknownObjectException
    from requests.exceptions import RequestException

    parts = urlsplit(url)
    found = _PATH.fullmatch(parts.path)
    if found is None:
        raise InvalidInputError("this is no pull request", where=url)
    repo, number = found[1], int(found[2])
    token = environ.get("GITHUB_TOKEN")
    client = Github(
        base_url=environ.get("GITHUB_API_URL") or _api_of(parts.netloc),
        auth=Auth.Token(token) if token else None,
        timeout=_TIMEOUT_SECONDS,
        retry=None,
        lazy=True,
    )
    try:
        return _facts(client.get_repo(repo).get_pull(number), f"https://{parts.netloc}/{repo}")
    except UnknownObjectException:
        raise InvalidInputError(
            "GitHub knows no such pull request, or hides it",
            where=url,
            remedy="check the URL; a private repository needs GITHUB_TOKEN",
        ) from None
    except (GithubException, RequestException) as error:
        raise InfrastructureError(
            f"GitHub gave no answer: {_reason(error)}",
            where=url,
            remedy="try again later, or name the merge commit; GITHUB_TOKEN raises the limit",
        ) from None
    finally:
        client.close()


def _facts(pull: ApiPull, repository: str) -> PullRequest:
    """Of a merged pull request; an open one is refused."""
    if not pull.merged or pull.merge_commit_sha is None or pull.merged_at is None:
        raise InvalidInputError(
            "the pull request is not merged",
            where=f"{repository}/pull/{pull.number}",
            remedy="choose a merged one",
        )
    issue = closed_issue(pull.body or "", repository)
    return PullRequest(
        repo="/".join(repository.rsplit("/", 2)[1:]),
        url=repository,
        number=pull.number,
        merge_commit=pull.merge_commit_sha,
        merged_at=pull.merged_at.isoformat(),
        commits=pull.commits,
        changed_files=pull.changed_files,
        issue_url=f"{repository}/issues/{issue}" if issue else None,
    )


def _api_of(host: str) -> str:
    return _API if host == "github.com" else f"https://{host}/api/v3"


def _reason(error: Exception) -> str:
    status = getattr(error, "status", None)
    return f"status {status}" if status else type(error).__name__


def rebased_base(clone: Clone, pull: PullRequest) -> str | None:
    """Where a pull request starts that was merged commit by commit; null: at the first parent.

    GitHub names the last of the commits then. Which of the two ways it went is told by the number
    of files that changed.

    Raises:
        InvalidInputError: neither fits.
    """
    commit = clone.commit(pull.merge_commit)
    if pull.commits == 1 or len(commit.parents) != 1:
        return None
    if len(changed_files(clone, commit.parents[0], commit.sha)) == pull.changed_files:
        return None
    base = clone.resolve(f"{commit.sha}~{pull.commits}")
    if len(changed_files(clone, base, commit.sha)) != pull.changed_files:
        raise InvalidInputError(
            f"commit {commit.sha} does not hold the {pull.changed_files} files of the pull request",
            where=f"{pull.url}/pull/{pull.number}",
            remedy="name the commit instead of the pull request, and its base with --base",
        )
    return base
