"""The fake of GitHub, jobs of every event, and commands run as a step runs them."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the fake stands in files of its own

from github_fake import Hub, served
from github_routes import FULL_NAME, NAME, OWNER

from nanobench.cli import main as cli
from nanobench.github import client

SHA = "c" * 40
COMMAND = re.compile(r"::(error|warning) (file=[\w./-]+,)?title=[\w .-]+::|::add-mask::s3cret$")


@pytest.fixture
def hub() -> Iterator[Hub]:
    """The fake; a request or an answer that GitHub's description does not know fails the test."""
    with served() as running:
        yield running
    assert running.breaches == []


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client would have waited."""
    waited: list[float] = []
    monkeypatch.setattr(client, "_pause", waited.append)
    monkeypatch.setattr(client, "BETWEEN_WRITES_SECONDS", 0)
    return waited


@dataclass(frozen=True)
class Done:
    """What a step did."""

    code: int
    out: str
    err: str
    summary: str
    outputs: dict[str, str]


@dataclass
class Job:
    """A job of a workflow: `run` is one of its steps."""

    hub: Hub
    directory: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def event(self, name: str, payload: dict[str, Any] | None = None, token: str = "t0ken") -> None:
        event = self.directory / "event.json"
        event.write_text(json.dumps(payload or {}))
        values = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": FULL_NAME,
            "GITHUB_SHA": "d" * 40,
            "GITHUB_RUN_ID": "99",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_API_URL": self.hub.url,
            "GITHUB_TOKEN": token,
            "GITHUB_OUTPUT": str(self.directory / "output"),
            "GITHUB_STEP_SUMMARY": str(self.directory / "summary"),
            "GITHUB_WORKSPACE": str(self.directory),
        }
        for key, value in values.items():
            self.monkeypatch.setenv(key, value)

    def run(self, *arguments: object) -> Done:
        for name in ("output", "summary"):
            (self.directory / name).write_text("")
        self.monkeypatch.setattr(sys, "argv", ["nanobench", *map(str, arguments)])
        code = cli._run()
        out, err = self.capsys.readouterr()
        assert "internal error" not in err
        assert "t0ken" not in out + err
        commands = [line for line in (out + err).splitlines() if line.startswith("::")]
        assert all(COMMAND.match(line) for line in commands), "foreign text became a command"
        return Done(code, out, err, (self.directory / "summary").read_text(), self._outputs())

    def _outputs(self) -> dict[str, str]:
        """As the runner reads them."""
        found, lines = {}, iter((self.directory / "output").read_text().split("\n"))
        for line in lines:
            if "<<" in line:
                name, _, end = line.partition("<<")
                found[name] = "\n".join(iter(lines.__next__, end))
        return found


@pytest.fixture
def job(
    hub: Hub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pauses: list[float],
) -> Job:
    """A job of a push; `job.event` makes it one of another event."""
    for name in ("GH_TOKEN", "NANOCODER_PROVIDERS"):
        monkeypatch.delenv(name, raising=False)
    made = Job(hub, tmp_path, monkeypatch, capsys)
    made.event("push")
    return made


def pull_request_event(number: int = 5, *, fork: bool = False, **more: Any) -> dict[str, Any]:
    """The payload of a pull_request event, as far as anyone reads it."""
    owner = "stranger" if fork else OWNER
    return {
        "action": "synchronize",
        "number": number,
        "pull_request": {
            "number": number,
            "head": {
                "sha": SHA,
                "ref": "topic",
                "repo": {"full_name": f"{owner}/{NAME}", "fork": fork},
            },
            "base": {"ref": "main", "repo": {"full_name": FULL_NAME}},
            **more,
        },
        "repository": {"full_name": FULL_NAME},
    }


def workflow_run_event(run_id: int, *, branch: str = "topic", sha: str = SHA) -> dict[str, Any]:
    """The payload of a workflow_run event of a fork's pull request: it names no pull request."""
    return {
        "action": "completed",
        "workflow_run": {
            "id": run_id,
            "event": "pull_request",
            "head_sha": sha,
            "head_branch": branch,
            "head_repository": {"full_name": f"stranger/{NAME}", "owner": {"login": "stranger"}},
            "pull_requests": [],
            "conclusion": "failure",
        },
    }


@pytest.fixture
def events() -> dict[str, Callable[..., dict[str, Any]]]:
    """Payloads by event."""
    return {"pull_request": pull_request_event, "workflow_run": workflow_run_event}
