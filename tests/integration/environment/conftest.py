import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.environment.native import NativeEnvironment
from nanobench.environment.protocol import Prepared
from nanobench.environment.room import Room
from nanobench.environment.sandbox import Command, CommandResult, Network, Sandbox, probe_sandboxes
from nanobench.environment.toolchain import Toolchain
from nanobench.files import StateDirectory
from nanobench.model.task import Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.snapshot import Snapshot, SnapshotStore

SANDBOXES = ("bubblewrap", "namespaces", "none")


def _find_sandbox(name: str) -> Sandbox:
    for probe in probe_sandboxes():
        if probe.name == name:
            if probe.sandbox is None:
                pytest.skip(f"{name} does not work here: {probe.problem}")
            return probe.sandbox
    raise AssertionError(name)


@pytest.fixture(params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return _find_sandbox(request.param)


@pytest.fixture(params=("bubblewrap", "namespaces"))
def isolating(request: pytest.FixtureRequest) -> Sandbox:
    return _find_sandbox(request.param)


@pytest.fixture
def bubblewrap() -> Sandbox:
    return _find_sandbox("bubblewrap")


class Shell:
    """Runs scripts in a sandbox and gives their result and output."""

    def __init__(self, directory: Path) -> None:
        self.stdout = directory / "stdout"
        self.stderr = directory / "stderr"

    def command(self, script: str, seconds: float = 30.0, network: Network = "none") -> Command:
        return Command(
            argv=("/bin/sh", "-c", script),
            cwd="/",
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nowhere"},
            timeout_seconds=seconds,
            stdout=self.stdout,
            stderr=self.stderr,
            network=network,
        )

    def __call__(
        self, sandbox: Sandbox, script: str, seconds: float = 30.0, network: Network = "none"
    ) -> tuple[CommandResult, str]:
        result = sandbox.run(self.command(script, seconds, network), ())
        return result, self.stdout.read_text(errors="replace")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def _processes_with(marker: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        arguments = process.info["cmdline"] or []
        if marker in arguments and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def _eventually(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def processes_with() -> Callable[[str], list[psutil.Process]]:
    return _processes_with


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], bool]:
    return _eventually


@pytest.fixture
def marker(request: pytest.FixtureRequest) -> Iterator[str]:
    """An argument for `sleep` by which this test's processes are known."""
    text = f"777.{abs(hash(request.node.nodeid)) % 10**9:09d}"
    yield text
    for process in _processes_with(text):
        process.kill()


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory.locate(tmp_path / "state")


@pytest.fixture(scope="session")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    return Toolchain(tmp_path_factory.mktemp("tools"))


def _git(directory: Path, *arguments: str) -> str:
    env = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.invalid",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.invalid",
    }
    executable = shutil.which("git")
    assert executable is not None
    done = subprocess.run(
        [executable, "-C", str(directory), *arguments],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def _make_repository(directory: Path, files: dict[str, str]) -> str:
    """A repository with one commit of `files`; its SHA."""
    directory.mkdir(parents=True)
    _git(directory, "init", "-q", "-b", "main")
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    _git(directory, "add", "-A")
    _git(directory, "commit", "-q", "-m", "base")
    return _git(directory, "rev-parse", "HEAD")


@pytest.fixture
def make_repository() -> Callable[[Path, dict[str, str]], str]:
    return _make_repository


class Bench:
    """A repository of its own, and everything to prepare and run it."""

    def __init__(self, root: Path, toolchain: Toolchain, make_repository: Any) -> None:
        self.root = root
        self.state = StateDirectory.locate(root / "state")
        self.toolchain = toolchain
        self._make_repository = make_repository
        self._rooms = 0

    def task(self, files: dict[str, str], *install: str, **environment: Any) -> Task:
        repository = self.root / "repository"
        commit = self._make_repository(repository, files)
        document = {
            "task_id": "t",
            "repo": "o/r",
            "repo_url": str(repository),
            "base_commit": commit,
            "languages": ["Python"],
            "domain": "d",
            "complexity_tier": "Tier 1 (Isolated Edit)",
            "task_type": "bug",
            "reasoning_category": "c",
            "token_estimate": 1,
            "problem_statement": "s",
            "required_files": ["a"],
            "ground_truth_patch": "p",
            "test_command": "true",
            "contributor": "c",
            "merged_at": "2026-06-01T00:00:00Z",
            "environment": {"install": install, **environment},
        }
        return Task.model_validate(document)

    def snapshot(self, task: Task) -> Snapshot:
        store = SnapshotStore(self.state.snapshots, ObjectCache(self.state.repositories))
        return store.get(task.repo_url, task.base_commit)

    def prepare(self, sandbox: Sandbox, task: Task) -> Prepared:
        environment = NativeEnvironment(self.state, self.toolchain, sandbox)
        return environment.prepare(task, self.snapshot(task))

    def workspace(self, task: Task) -> tuple[Path, Path]:
        self._rooms += 1
        workspace = self.state.runs / f"{self._rooms}-ws"
        run_dir = self.state.runs / f"{self._rooms}-run"
        run_dir.mkdir()
        self.snapshot(task).unpack(workspace)
        return workspace, run_dir

    def run(self, room: Room, *argv: str, cwd: str = ".") -> tuple[CommandResult, str]:
        stdout, stderr = self.root / "stdout", self.root / "stderr"
        result = room.run(
            argv, cwd=cwd, timeout_seconds=60, stdout=stdout, stderr=stderr, network="none"
        )
        return result, stdout.read_text() + stderr.read_text()


@pytest.fixture
def bench(
    tmp_path: Path, toolchain: Toolchain, make_repository: Callable[[Path, dict[str, str]], str]
) -> Bench:
    return Bench(tmp_path, toolchain, make_repository)
