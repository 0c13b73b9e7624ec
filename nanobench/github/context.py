"""Why and where a workflow runs: the event, the repository, the pull request if there is one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from nanobench.errors import InvalidInputError

_MAX_EVENT_BYTES = 25 * 1024 * 1024  # GitHub caps the payload of an event at this
_REPOSITORY = re.compile(r"[A-Za-z0-9_-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")
_PULL_REQUEST_EVENTS = ("pull_request", "pull_request_target", "pull_request_review")


@dataclass(frozen=True)
class PullRequest:
    """The pull request that an event is about; `fork`: its head lies in another repository."""

    number: int
    head_sha: str
    fork: bool


@dataclass(frozen=True)
class TriggeringRun:
    """The run that a `workflow_run` event is about. All but its id was chosen by its author."""

    run_id: int
    event: str
    head_sha: str
    head_branch: str
    head_owner: str


@dataclass(frozen=True)
class Context:
    """One job of a workflow.

    Attributes:
        event: its name; empty outside of Actions.
        repository: `owner/name`; empty if unknown.
        sha: the commit that the workflow runs at.
        run_url: where the run is shown; empty outside of Actions.
        api_url: of GitHub's REST interface.
        pull_request: that the event is about; null for pushes, releases, schedules, dispatches.
        triggered_by: the run that a `workflow_run` event is about.
        release: the tag of the release that a `release` event is about; empty for other events.
    """

    event: str
    repository: str
    sha: str
    run_url: str
    api_url: str
    pull_request: PullRequest | None = None
    triggered_by: TriggeringRun | None = None
    release: str = ""

    @property
    def tested_sha(self) -> str:
        """The commit that results are of: the head of the pull request or of the triggering run."""
        about = self.pull_request or self.triggered_by
        return about.head_sha if about else self.sha

    @property
    def read_only(self) -> bool:
        """Whether the job's token cannot write, whatever its permissions say."""
        privileged = self.event == "pull_request_target"
        return bool(self.pull_request and self.pull_request.fork) and not privileged


def read_context(environ: Mapping[str, str]) -> Context:
    """The context that Actions describes in the environment and in the event's file.

    Raises:
        InvalidInputError: the event's file cannot be read or is none of its kind.
    """
    event = environ.get("GITHUB_EVENT_NAME", "")
    repository = environ.get("GITHUB_REPOSITORY", "")
    if repository and not _REPOSITORY.fullmatch(repository):
        raise InvalidInputError("this is no repository", where="GITHUB_REPOSITORY")
    payload = _payload(environ.get("GITHUB_EVENT_PATH"))
    server = environ.get("GITHUB_SERVER_URL", "https://github.com")
    run_id = environ.get("GITHUB_RUN_ID", "")
    try:
        return Context(
            event=event,
            repository=repository,
            sha=environ.get("GITHUB_SHA", ""),
            run_url=f"{server}/{repository}/actions/runs/{run_id}" if run_id else "",
            api_url=environ.get("GITHUB_API_URL", "https://api.github.com"),
            pull_request=_pull_request(event, payload),
            triggered_by=_triggering(event, payload),
            release=_release(event, payload),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise InvalidInputError(
            f"the payload is none of a {event!r} event", where="GITHUB_EVENT_PATH"
        ) from None


def _payload(named: str | None) -> dict[str, Any]:
    if not named:
        return {}
    path = Path(named)
    try:
        if path.stat().st_size > _MAX_EVENT_BYTES:
            raise ValueError("too large")
        payload = from_json(path.read_bytes())
        if not isinstance(payload, dict):
            raise ValueError("no object")
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"the event's payload cannot be read: {error}", where=str(path)
        ) from None
    return payload


def _pull_request(event: str, payload: dict[str, Any]) -> PullRequest | None:
    if event not in _PULL_REQUEST_EVENTS:
        return None
    found = payload["pull_request"]
    head, base = found["head"].get("repo"), found["base"]["repo"]
    return PullRequest(
        number=int(found["number"]),
        head_sha=str(found["head"]["sha"]),
        # The head's repository is null once a fork was deleted.
        fork=head is None or head["full_name"] != base["full_name"],
    )


def _release(event: str, payload: dict[str, Any]) -> str:
    return str(payload.get("release", {}).get("tag_name", "")) if event == "release" else ""


def _triggering(event: str, payload: dict[str, Any]) -> TriggeringRun | None:
    if event != "workflow_run":
        return None
    found = payload["workflow_run"]
    head = found.get("head_repository") or {"owner": {"login": ""}}
    return TriggeringRun(
        run_id=int(found["id"]),
        event=str(found["event"]),
        head_sha=str(found["head_sha"]),
        head_branch=str(found["head_branch"]),
        head_owner=str(head["owner"]["login"]),
    )
