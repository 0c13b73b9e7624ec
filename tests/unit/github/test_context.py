import json
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import InvalidInputError
from nanobench.github.context import Context, read_context

REPOSITORY = "nano/bench"


def context(tmp_path: Path, event: str, payload: Any) -> Context:
    file = tmp_path / "event.json"
    file.write_text(payload if isinstance(payload, str) else json.dumps(payload))
    return read_context(
        {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": "d" * 40,
            "GITHUB_RUN_ID": "99",
        }
    )


def pull_request(head: str | None) -> dict[str, Any]:
    repo = {"full_name": head} if head else None
    return {
        "pull_request": {
            "number": 5,
            "head": {"sha": "c" * 40, "repo": repo},
            "base": {"repo": {"full_name": REPOSITORY}},
        }
    }


@pytest.mark.parametrize(
    ("event", "head", "fork", "read_only"),
    [
        ("pull_request", REPOSITORY, False, False),
        ("pull_request", "stranger/bench", True, True),
        ("pull_request", None, True, True),
        ("pull_request_review", "stranger/bench", True, True),
        ("pull_request_target", "stranger/bench", True, False),
    ],
)
def test_a_fork_is_told_by_its_repository_also_when_that_was_deleted(
    tmp_path: Path, event: str, head: str | None, fork: bool, read_only: bool
) -> None:
    found = context(tmp_path, event, pull_request(head))
    assert found.pull_request is not None
    assert (found.pull_request.number, found.pull_request.fork) == (5, fork)
    assert found.tested_sha == "c" * 40
    assert found.read_only is read_only


@pytest.mark.parametrize("event", ["push", "release", "schedule", "workflow_dispatch"])
def test_other_events_have_no_pull_request_even_if_their_payload_names_one(
    tmp_path: Path, event: str
) -> None:
    found = context(tmp_path, event, {**pull_request(REPOSITORY), "inputs": {"tasks": "tier<=2"}})
    assert found.pull_request is None
    assert found.triggered_by is None
    assert not found.read_only
    assert found.tested_sha == "d" * 40
    assert found.run_url == "https://github.com/nano/bench/actions/runs/99"


def test_a_workflow_run_names_the_run_and_where_its_head_is(tmp_path: Path) -> None:
    run = {
        "id": 3,
        "event": "pull_request",
        "head_sha": "c" * 40,
        "head_branch": "main",
        "head_repository": {"owner": {"login": "stranger"}},
    }
    whole = context(tmp_path, "workflow_run", {"workflow_run": run})
    found = whole.triggered_by
    assert found is not None
    assert whole.tested_sha == "c" * 40
    assert (found.run_id, found.head_owner, found.head_branch) == (3, "stranger", "main")
    gone = context(
        tmp_path, "workflow_run", {"workflow_run": {**run, "head_repository": None}}
    ).triggered_by
    assert gone is not None
    assert gone.head_owner == ""


@pytest.mark.parametrize("payload", ["", "[]", "{", '{"pull_request": 3}', "{}"])
def test_a_payload_that_is_none_is_a_clear_error(tmp_path: Path, payload: str) -> None:
    with pytest.raises(InvalidInputError, match="payload"):
        context(tmp_path, "pull_request", payload)


def test_outside_of_actions_nothing_is_known_and_nothing_fails() -> None:
    found = read_context({})
    assert (found.event, found.repository, found.run_url) == ("", "", "")


@pytest.mark.parametrize("name", ["../x", "a/b/c", "a b/c", "a/b\nx"])
def test_a_repository_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="no repository"):
        read_context({"GITHUB_REPOSITORY": name})
