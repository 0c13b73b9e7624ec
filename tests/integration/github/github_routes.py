"""What the fake answers: a function for each method and path of GitHub's description."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from github_description import Operation

if TYPE_CHECKING:
    from github_fake import Hub

MOST_BODY = 65_536
OWNER, NAME, REPO_ID = "nano", "bench", 7
FULL_NAME = f"{OWNER}/{NAME}"
ACTIONS = "github-actions[bot]"
INTEGRATION = "Resource not accessible by integration"


@dataclass(frozen=True)
class Token:
    """Who a token writes as; `user`: it may ask who it is; `writes`: it may write."""

    login: str = ACTIONS
    user: bool = False
    writes: bool = True


class RefusedError(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True)
class Call:
    """One request, read."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    token: str


Answer = tuple[int, Any]


def _user(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    if not token.user:
        raise RefusedError(403, INTEGRATION)
    return 200, hub.shaped("private-user", login=token.login)


def _repository(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    return 200, hub.shaped(
        "full-repository", id=REPO_ID, full_name=FULL_NAME, default_branch="main", url=hub.api
    )


def _pull(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    return 200, hub.shaped("pull-request", **_known_pull(hub, op))


def _pulls(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    state, head = call.query.get("state", "open"), call.query.get("head")
    return 200, [
        hub.shaped("pull-request-simple", **pull)
        for pull in hub.state.pulls.values()
        if pull["state"] == state and head in (None, pull["head"]["label"])
    ]


def _reviews(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    number = _known_pull(hub, op)["number"]
    return 200, [_shaped_review(hub, made) for made in hub.state.reviews.get(number, [])]


def _create_review(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    number = _known_pull(hub, op)["number"]
    _check_body(call.body["body"])
    if hub.state.before_create:
        hub.state.before_create(number)
    return 200, _shaped_review(hub, hub.add_review(number, call.body["body"], token.login))


def _edit_review(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    number = _known_pull(hub, op)["number"]
    _check_body(call.body["body"])
    for made in hub.state.reviews.get(number, []):
        if str(made["id"]) == op.values["review_id"]:
            if made["user"]["login"] != token.login:
                raise RefusedError(403, INTEGRATION)
            made["body"] = call.body["body"]
            return 200, _shaped_review(hub, made)
    raise RefusedError(404, "Not Found")


def _issues(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    state, labels = call.query.get("state", "open"), set(call.query.get("labels", "").split(","))
    return 200, [
        _shaped_issue(hub, made)
        for made in reversed(hub.state.issues)
        if state in ("all", made["state"]) and labels - {""} <= set(made["labels"])
    ]


def _create_issue(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    _check_body(call.body["body"])
    number = hub._id()
    made = {
        "number": number,
        "state": "open",
        "login": token.login,
        "labels": call.body.get("labels", []),
        "title": call.body["title"],
        "body": call.body["body"],
    }
    hub.state.issues.append(made)
    return 201, _shaped_issue(hub, made)


def _edit_issue(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    for made in hub.state.issues:
        if str(made["number"]) == op.values["issue_number"]:
            made.update(call.body)
            return 200, _shaped_issue(hub, made)
    raise RefusedError(404, "Not Found")


def _artifacts(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    found = [a for a in hub.state.artifacts if call.query.get("name") in (None, a["name"])]
    return 200, _listed(hub, found)


def _run_artifacts(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    own = [a for a in hub.state.artifacts if str(a["workflow_run"]["id"]) == op.values["run_id"]]
    return 200, _listed(hub, own)


def _zip(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    return 302, f"{hub.store}/artifact-{op.values['artifact_id']}"


def _run(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    run = hub.state.runs.get(int(op.values["run_id"]))
    if run is None:
        raise RefusedError(404, "Not Found")
    own = f"{hub.api}/actions/runs/{run['id']}"
    return 200, hub.shaped("workflow-run", **run, url=own, artifacts_url=f"{own}/artifacts")


def _releases(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    return 200, [_shaped_release(hub, release) for release in hub.state.releases]


def _latest(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    if not hub.state.releases:
        raise RefusedError(404, "Not Found")
    return 200, _shaped_release(hub, hub.state.releases[0])


def _by_tag(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    for release in hub.state.releases:
        if release["tag_name"] == op.values["tag"]:
            return 200, _shaped_release(hub, release)
    raise RefusedError(404, "Not Found")


def _assets(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    return 200, [hub.shaped("release-asset", **a) for a in _known_release(hub, op)["assets"]]


def _upload(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    release = _known_release(hub, op)
    if any(asset["name"] == call.query["name"] for asset in release["assets"]):
        raise RefusedError(422, "Validation Failed: already_exists")
    number = hub._id()
    hub.state.blobs[f"asset-{number}"] = call.body
    release["assets"].append(
        {
            "id": number,
            "name": call.query["name"],
            "url": f"{hub.api}/releases/assets/{number}",
            "browser_download_url": f"https://github.com/{FULL_NAME}/{call.query['name']}",
            "digest": f"sha256:{hashlib.sha256(call.body).hexdigest()}",
        }
    )
    return 201, hub.shaped("release-asset", **release["assets"][-1])


def _asset(hub: Hub, call: Call, op: Operation, token: Token) -> Answer:
    return 302, f"{hub.store}/asset-{op.values['asset_id']}"


def _known_pull(hub: Hub, op: Operation) -> dict[str, Any]:
    found = hub.state.pulls.get(int(op.values["pull_number"]))
    if found is None:
        raise RefusedError(404, "Not Found")
    return found


def _known_release(hub: Hub, op: Operation) -> dict[str, Any]:
    for release in hub.state.releases:
        if str(release["id"]) == op.values["release_id"]:
            return release
    raise RefusedError(404, "Not Found")


def _check_body(text: str) -> None:
    if len(text) > MOST_BODY:
        raise RefusedError(422, f"body is too long (maximum is {MOST_BODY} characters)")


def _shaped_review(hub: Hub, made: dict[str, Any]) -> dict[str, Any]:
    return hub.shaped("pull-request-review", **{**made, "user": hub.user(made["user"]["login"])})


def _shaped_release(hub: Hub, release: dict[str, Any]) -> dict[str, Any]:
    assets = [hub.shaped("release-asset", **asset) for asset in release["assets"]]
    return hub.shaped("release", **{**release, "assets": assets})


def _shaped_issue(hub: Hub, made: dict[str, Any]) -> dict[str, Any]:
    return hub.shaped(
        "issue",
        url=f"{hub.api}/issues/{made['number']}",
        html_url=f"https://github.com/{FULL_NAME}/issues/{made['number']}",
        user=hub.user(made["login"]),
        labels=[{"name": name} for name in made["labels"]],
        **{key: made[key] for key in ("number", "state", "title", "body")},
    )


def _listed(hub: Hub, found: list[dict[str, Any]]) -> dict[str, Any]:
    shown = [hub.shaped("artifact", **artifact) for artifact in found]
    return {"total_count": len(found), "artifacts": shown}


_R = "/repos/{owner}/{repo}"
ROUTES: dict[tuple[str, str], Callable[[Hub, Call, Operation, Token], Answer]] = {
    ("GET", "/user"): _user,
    ("GET", _R): _repository,
    ("GET", f"{_R}/pulls"): _pulls,
    ("GET", f"{_R}/pulls/{{pull_number}}"): _pull,
    ("GET", f"{_R}/pulls/{{pull_number}}/reviews"): _reviews,
    ("POST", f"{_R}/pulls/{{pull_number}}/reviews"): _create_review,
    ("PUT", f"{_R}/pulls/{{pull_number}}/reviews/{{review_id}}"): _edit_review,
    ("GET", f"{_R}/issues"): _issues,
    ("POST", f"{_R}/issues"): _create_issue,
    ("PATCH", f"{_R}/issues/{{issue_number}}"): _edit_issue,
    ("GET", f"{_R}/actions/artifacts"): _artifacts,
    ("GET", f"{_R}/actions/artifacts/{{artifact_id}}/{{archive_format}}"): _zip,
    ("GET", f"{_R}/actions/runs/{{run_id}}"): _run,
    ("GET", f"{_R}/actions/runs/{{run_id}}/artifacts"): _run_artifacts,
    ("GET", f"{_R}/releases"): _releases,
    ("GET", f"{_R}/releases/latest"): _latest,
    ("GET", f"{_R}/releases/tags/{{tag}}"): _by_tag,
    ("GET", f"{_R}/releases/{{release_id}}/assets"): _assets,
    ("POST", f"{_R}/releases/{{release_id}}/assets"): _upload,
    ("GET", f"{_R}/releases/assets/{{asset_id}}"): _asset,
}
