"""Pull requests from an API of our own that answers as GitHub does."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from nanobench.dataset.clone import open_clone
from nanobench.dataset.extract.pull_request import (
    PullRequest,
    fetch_pull_request,
    is_pull_url,
    rebased_base,
)
from nanobench.errors import InfrastructureError, InvalidInputError

URL = "https://github.com/acme/widget/pull/12"
MERGED = {
    "number": 12,
    "merged": True,
    "merge_commit_sha": "1" * 40,
    "merged_at": "2026-05-03T10:00:00Z",
    "commits": 2,
    "changed_files": 3,
    "body": "Fixes #34, see #5",
}
Api = Callable[[int, dict[str, Any]], dict[str, str]]


@pytest.fixture
def api() -> Iterator[Api]:
    """`api(status, document)`: the environment under which the API answers so."""
    answers: list[tuple[int, bytes]] = []
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers[-1]
            seen.append(f"{self.path} {self.headers.get('Authorization')}")
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()

    def answer(status: int, document: dict[str, Any]) -> dict[str, str]:
        answers.append((status, json.dumps(document).encode()))
        return {"GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}", "seen": str(seen)}

    answer.seen = seen  # type: ignore[attr-defined]
    yield answer
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_merged_pull_request_gives_its_facts(api: Any) -> None:
    found = fetch_pull_request(URL, {**api(200, MERGED), "GITHUB_TOKEN": "secret"})
    assert found == PullRequest(
        repo="acme/widget",
        url="https://github.com/acme/widget",
        number=12,
        merge_commit="1" * 40,
        merged_at="2026-05-03T10:00:00+00:00",
        commits=2,
        changed_files=3,
        issue_url="https://github.com/acme/widget/issues/34",
    )
    assert api.seen == ["/repos/acme/widget/pulls/12 token secret"] or api.seen == [
        "/repos/acme/widget/pulls/12 Bearer secret"
    ]


def test_no_token_is_needed(api: Any) -> None:
    fetch_pull_request(URL, api(200, MERGED))
    assert api.seen == ["/repos/acme/widget/pulls/12 None"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [({"body": None}, None), ({"body": "prefix #34"}, None), ({"body": "closes: #3"}, "3")],
)
def test_an_issue_is_taken_from_the_words_that_close_it(
    api: Any, change: dict[str, Any], expected: str | None
) -> None:
    found = fetch_pull_request(URL, api(200, {**MERGED, **change})).issue_url
    assert (found or "/").rpartition("/")[2] == (expected or "")


def test_an_open_pull_request_is_refused(api: Any) -> None:
    with pytest.raises(InvalidInputError, match="not merged"):
        fetch_pull_request(URL, api(200, {**MERGED, "merged": False, "merged_at": None}))


def test_a_pull_request_that_is_not_there_is_a_wrong_input(api: Any) -> None:
    with pytest.raises(InvalidInputError, match="no such pull request"):
        fetch_pull_request(URL, api(404, {"message": "Not Found"}))


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_any_other_refusal_is_infrastructure_and_tells_no_token(api: Any, status: int) -> None:
    environ = {**api(status, {"message": "secret"}), "GITHUB_TOKEN": "secret"}
    with pytest.raises(InfrastructureError, match=f"status {status}") as caught:
        fetch_pull_request(URL, environ)
    assert "secret" not in str(caught.value)


def test_no_answer_is_infrastructure() -> None:
    with pytest.raises(InfrastructureError, match="no answer"):
        fetch_pull_request(URL, {"GITHUB_API_URL": "http://127.0.0.1:9"})


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (URL, True),
        (f"{URL}/files", True),
        ("https://github.example.org/a/b/pull/1", True),
        ("https://github.com/acme/widget/issues/12", False),
        ("1" * 40, False),
        ("acme/widget/pull/12", False),
    ],
)
def test_a_url_is_told_from_a_commit(text: str, is_one: bool) -> None:
    assert is_pull_url(text) is is_one


def _pull(merge: str, commits: int, files: int) -> PullRequest:
    return PullRequest("acme/widget", URL, 12, merge, "", commits, files, None)


def test_a_rebased_pull_request_starts_before_its_first_commit(repo: Any) -> None:
    base = repo.head()
    repo.commit({"a.py": "1\n"})
    merge = repo.commit({"b.py": "1\n"})
    with open_clone(repo.path) as clone:
        assert rebased_base(clone, _pull(merge, 2, 2)) == base
        assert rebased_base(clone, _pull(merge, 2, 1)) is None  # squashed
        assert rebased_base(clone, _pull(merge, 1, 1)) is None
        with pytest.raises(InvalidInputError, match="does not hold the 5 files"):
            rebased_base(clone, _pull(merge, 2, 5))
