"""What integration tests share: one state directory, so that Nanocoder is installed once."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.scripted.server import ScriptedServer
from nanobench.agent.scripted.sources import TaskView
from nanobench.dataset.sample.sample import sample_task
from nanobench.environment.toolchain import Toolchain
from nanobench.files import StateDirectory
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.golden import resolve_golden
from nanobench.workspace.snapshot import SnapshotStore


@pytest.fixture(scope="session")
def shared_state(tmp_path_factory: pytest.TempPathFactory) -> StateDirectory:
    """The state directory of the session, or the warm one that NANOBENCH_STATE_DIR names.

    Workers of one session share it: the product guards every install by a lock.
    """
    chosen = os.environ.get("NANOBENCH_STATE_DIR")
    if chosen:
        return StateDirectory.locate(chosen)
    base = tmp_path_factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return StateDirectory.locate(Path(session, "shared-state"))


@pytest.fixture(scope="session")
def toolchain(shared_state: StateDirectory) -> Toolchain:
    return Toolchain(shared_state.tools)


@pytest.fixture(scope="session")
def view(shared_state: StateDirectory) -> TaskView:
    """The sample task, its golden patch and its base."""
    task, cache = sample_task(shared_state), ObjectCache(shared_state.repositories)
    snapshot = SnapshotStore(shared_state.snapshots, cache).get(task.repo_url, task.base_commit)
    return TaskView(task, resolve_golden(task, snapshot, cache), snapshot)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """A scripted provider."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def nanobench(tmp_path: Path) -> Callable[..., Any]:
    """`nanobench(*arguments, env={})` runs the command; a traceback is never acceptable."""

    def run(*arguments: object, env: dict[str, str] | None = None) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "nanobench", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path / "home"), **(env or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        return done

    return run
