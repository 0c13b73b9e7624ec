"""Small repositories of our own, with the histories that extraction has to cope with."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.dataset.clone import open_clone
from nanobench.dataset.extract.extraction import Extraction, Request, extract_task
from nanobench.dataset.extract.origin import Origin

SOURCE = "def double(x):\n    return x + x\n"


class Repo:
    """A repository whose commits have fixed people and rising dates."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._minutes = 0
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Someone")
        self.git("config", "user.email", "someone@example.org")

    def git(self, *args: str, stdin: bytes | None = None) -> bytes:
        moment = f"2026-05-02T00:{self._minutes:02d}:00Z"
        dates = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
        settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            ["git", "-C", str(self.path), "-c", "protocol.file.allow=always", *args],
            input=stdin,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **dates, **settings},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout

    def write(self, files: dict[str, str | bytes | None]) -> None:
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: dict[str, str | bytes | None], message: str = "Change") -> str:
        self.write(files)
        self._minutes += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-F", "-", stdin=message.encode())
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").decode().strip()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A Python project with one source and one test, in its first commit."""
    made = Repo(tmp_path / "widget")
    made.commit(
        {
            "pyproject.toml": "[project]\nname = 'widget'\n",
            "src/widget.py": SOURCE,
            "tests/test_widget.py": "def test_nothing():\n    pass\n",
        },
        "Begin",
    )
    return made


@pytest.fixture
def extract() -> Callable[..., Extraction]:
    """`extract(repo, commit, request)`: the task, whose URL is the repository's own path."""

    def run(repo: Repo, commit: str, request: Request | None = None) -> Extraction:
        origin = Origin("acme/widget", str(repo.path))
        with open_clone(repo.path) as clone:
            return extract_task(clone, clone.resolve(commit), origin, request or Request())

    return run
