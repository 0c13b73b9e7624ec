"""A small GitHub for tests: what our commands use of it, with its limits and its moods."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from github_description import Description
from github_routes import (
    ACTIONS,
    FULL_NAME,
    INTEGRATION,
    NAME,
    OWNER,
    REPO_ID,
    ROUTES,
    Call,
    RefusedError,
    Token,
)


@dataclass
class Fault:
    """Answers `times` requests that fit `method` and `path` in place of the fake.

    `after`: the request is carried out all the same, as when an answer is lost on its way.
    """

    method: str
    path: str
    status: int
    message: str = "trouble"
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    after: bool = False


@dataclass(frozen=True)
class Exchange:
    """One request and its answer."""

    method: str
    path: str
    status: int
    body: Any


@dataclass
class State:
    """What the repository holds; tests write into it and look at it."""

    tokens: dict[str, Token] = field(default_factory=lambda: {"t0ken": Token()})
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    issues: list[dict[str, Any]] = field(default_factory=list)
    runs: dict[int, dict[str, Any]] = field(default_factory=dict)
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    releases: list[dict[str, Any]] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    before_create: Callable[[int], None] | None = None


class Hub:
    """The fake: its state, its log, and every breach of GitHub's own description."""

    def __init__(self) -> None:
        self.state = State()
        self.description = Description()
        self.log: list[Exchange] = []
        self.breaches: list[str] = []
        self.seen_by_store: list[dict[str, str]] = []
        self.lock = threading.RLock()
        self.url = self.store = ""
        self._next = 100

    # -- what tests put in

    def add_pull(self, number: int, sha: str, *, fork: bool = False, branch: str = "topic") -> None:
        owner = "stranger" if fork else OWNER
        head = {"full_name": f"{owner}/{NAME}", "owner": {"login": owner}}
        self.state.pulls[number] = {
            "number": number,
            "state": "open",
            "url": f"{self.api}/pulls/{number}",
            "head": {"sha": sha, "ref": branch, "label": f"{owner}:{branch}", "repo": head},
        }

    def add_review(self, number: int, body: str, login: str = ACTIONS) -> dict[str, Any]:
        made = {
            "id": self._id(),
            "body": body,
            "user": {"login": login},
            "html_url": f"https://github.com/{FULL_NAME}/pull/{number}#review-{self._next}",
            "pull_request_url": f"{self.api}/pulls/{number}",
            "state": "COMMENTED",
        }
        self.state.reviews.setdefault(number, []).append(made)
        return made

    def add_artifact(self, name: str, content: bytes, run: dict[str, Any], **more: Any) -> None:
        """`run`: id, head_branch, head_repository_id, event, conclusion, where they matter."""
        number = self._id()
        found = {
            "id": self._id(), "head_branch": "main", "head_repository_id": REPO_ID,
            "event": "push", "conclusion": "success", **run,
        }  # fmt: skip
        self.state.runs[found["id"]] = found
        self.state.blobs[f"artifact-{number}"] = content
        made = {
            "id": number,
            "name": name,
            "expired": False,
            "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
            "archive_download_url": f"{self.api}/actions/artifacts/{number}/zip",
            "workflow_run": {
                "id": found["id"],
                "repository_id": REPO_ID,
                "head_repository_id": found["head_repository_id"],
                "head_branch": found["head_branch"],
                "head_sha": "a" * 40,
            },
            **more,
        }
        self.state.artifacts.insert(0, made)

    def add_release(self, tag: str, **more: Any) -> None:
        number = self._id()
        self.state.releases.insert(
            0,
            {
                "id": number,
                "tag_name": tag,
                "url": f"{self.api}/releases/{number}",
                "upload_url": f"{self.api}/releases/{number}/assets{{?name,label}}",
                "assets": [],
                **more,
            },
        )

    @property
    def api(self) -> str:
        return f"{self.url}/repos/{FULL_NAME}"

    def requests(self, method: str, path: str) -> list[Exchange]:
        """The exchanges whose path holds a pattern."""
        return [e for e in self.log if e.method == method and re.search(path, e.path)]

    # -- what the handlers ask

    def answer(self, call: Call) -> tuple[int, Any, dict[str, str]]:
        operation = self.description.find(call.method, call.path)
        if operation is None:
            self.breaches.append(f"{call.method} {call.path}: not described")
            return 404, {"message": "Not Found"}, {}
        found = self.description.request_problems(operation, call.query, call.body)
        fault = self._fault(call)
        if fault and not fault.after:
            return fault.status, {"message": fault.message}, fault.headers
        headers: dict[str, str] = {}
        try:
            token = self._token(call)
            status, body = ROUTES[call.method, operation.path](self, call, operation, token)
        except RefusedError as refused:
            status, body = refused.status, {"message": refused.message}
        if status == 302:
            headers, body = {"Location": body}, b""
        if isinstance(body, list):
            body, headers = self._page(call, body)
        elif isinstance(body, dict) and "artifacts" in body:
            page, headers = self._page(call, body["artifacts"])
            body = {**body, "artifacts": page}
        found += self.description.response_problems(operation, status, body)
        self.breaches += [f"{call.method} {operation.path} {status}: {told}" for told in found]
        if fault:
            return fault.status, {"message": fault.message}, fault.headers
        return status, body, headers

    def shaped(self, schema: str, /, **values: Any) -> dict[str, Any]:
        return self.description.overlaid(schema, **values)

    def user(self, login: str) -> dict[str, Any]:
        return self.shaped("simple-user", login=login)

    def _fault(self, call: Call) -> Fault | None:
        for fault in self.state.faults:
            if fault.times and fault.method == call.method and re.search(fault.path, call.path):
                fault.times -= 1
                return fault
        return None

    def _token(self, call: Call) -> Token:
        token = self.state.tokens.get(call.token)
        if token is None:
            raise RefusedError(401, "Bad credentials")
        if call.method != "GET" and not token.writes:
            raise RefusedError(403, INTEGRATION)
        return token

    def _page(self, call: Call, items: list[Any]) -> tuple[list[Any], dict[str, str]]:
        size, page = int(call.query.get("per_page", 30)), int(call.query.get("page", 1))
        if page * size >= len(items):
            return items[(page - 1) * size : page * size], {}
        following = f"{self.url}{call.path}?per_page={size}&page={page + 1}"
        return items[(page - 1) * size : page * size], {"Link": f'<{following}>; rel="next"'}

    def _id(self) -> int:
        self._next += 1
        return self._next


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        pass

    def reply(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _interface(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Interface(_Quiet):
        def _serve(self) -> None:
            place = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            plain = self.headers.get("Content-Type", "").startswith("application/json")
            body = json.loads(raw) if raw and plain else raw or None
            sign = self.headers.get("Authorization", "").split(" ")[-1]
            query = dict(parse_qsl(place.query, keep_blank_values=True))
            call = Call(self.command, unquote(place.path), query, body, sign)
            with hub.lock:
                status, answer, headers = hub.answer(call)
                hub.log.append(Exchange(call.method, call.path, status, body))
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.reply(status, content, {"Content-Type": "application/json", **headers})

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PUT(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

    return Interface


def _blob_store(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Store(_Quiet):
        def do_GET(self) -> None:
            hub.seen_by_store.append(dict(self.headers))
            content = hub.state.blobs.get(self.path.strip("/"))
            self.reply(404 if content is None else 200, content or b"", {})

    return Store


@contextmanager
def served(port: int = 0) -> Iterator[Hub]:
    """The fake at `localhost`, and its store on another host: 127.0.0.1."""
    hub = Hub()
    servers = [
        ThreadingHTTPServer(("localhost", port), _interface(hub)),
        ThreadingHTTPServer(("127.0.0.1", 0), _blob_store(hub)),
    ]
    hub.url, hub.store = (
        f"http://{host}:{server.server_address[1]}"
        for host, server in zip(("localhost", "127.0.0.1"), servers, strict=True)
    )
    threads = [
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        for server in servers
    ]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()
