"""The sample task, from which scripted models are computed."""

import pytest

from nanobench.agent.scripted.sources import TaskView
from nanobench.dataset.sample.sample import sample_task
from nanobench.files import StateDirectory
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.golden import resolve_golden
from nanobench.workspace.snapshot import SnapshotStore


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> TaskView:
    state = StateDirectory.locate(tmp_path_factory.mktemp("state"))
    task, cache = sample_task(state), ObjectCache(state.repositories)
    snapshot = SnapshotStore(state.snapshots, cache).get(task.repo_url, task.base_commit)
    return TaskView(task, resolve_golden(task, snapshot, cache), snapshot)
