"""What the cells of one bench share: services, and what is prepared once per task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar

from nanobench.agent.gateway.server import Gateway
from nanobench.agent.providers import find_provider
from nanobench.agent.scripted.behaviours import TaskView
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.environment.protocol import Environment, Prepared
from nanobench.environment.sandbox import best_sandbox
from nanobench.environment.strategies import Choice, Environments
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import NanobenchError
from nanobench.files import StateDirectory
from nanobench.model.plan import Plan
from nanobench.model.task import Task
from nanobench.pipeline.progress import Progress
from nanobench.pipeline.store import ResultStore
from nanobench.pipeline.taping import Taping
from nanobench.workspace.attachments import check_attachments
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.golden import Golden, resolve_golden
from nanobench.workspace.snapshot import Snapshot, SnapshotStore
from nanobench.workspace.statement import resolve_statement

SCRIPTED = "scripted"
T = TypeVar("T")


@dataclass(frozen=True)
class PlannedTask:
    """A task, the hash of its file, and the dataset version it belongs to (or `sample`)."""

    task: Task
    sha256: str
    dataset: str


class Services:
    """The parts that do the work, on one state directory; `choice` is null for none."""

    def __init__(self, state: StateDirectory, choice: Choice | None = None) -> None:
        self.state = state
        self.choice = choice or Choice()
        self.cache = ObjectCache(state.repositories)
        self.snapshots = SnapshotStore(state.snapshots, self.cache)
        self.toolchain = Toolchain(state.tools)
        self.sandbox = best_sandbox()
        self._environments = Environments(state, self.toolchain, self.sandbox, self.choice)
        self.environment: Environment = self._environments

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._environments.close()


@dataclass(frozen=True)
class Material:
    """All that a task resolves to before its first cell runs."""

    planned: PlannedTask
    snapshot: Snapshot
    golden: Golden
    statement: str

    @property
    def task(self) -> Task:
        """The task file's content."""
        return self.planned.task

    @property
    def view(self) -> TaskView:
        """What a scripted model is computed from."""
        return TaskView(task=self.task, golden=self.golden, snapshot=self.snapshot)


def resolve(planned: PlannedTask, services: Services) -> Material:
    """Fetch the base commit; resolve statement, golden patch and attachments by their hashes.

    Raises:
        RepositoryError: the repository or a commit cannot be had.
        HashMismatchError: pinned text, patch or attachment has changed.
    """
    task = planned.task
    snapshot = services.snapshots.get(task.repo_url, task.base_commit)
    check_attachments(task, snapshot)
    return Material(
        planned=planned,
        snapshot=snapshot,
        golden=resolve_golden(task, snapshot, services.cache),
        statement=resolve_statement(task, services.cache),
    )


class Once:
    """Compute a value once per key, also when many threads ask; an error is kept as well."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[str, Lock] = {}
        self._kept: dict[str, Any] = {}

    def get(self, key: str, compute: Callable[[], T]) -> T:
        """The value of `key`.

        Raises:
            NanobenchError: what `compute` raised, again for every caller.
        """
        with self._guard:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._kept:
                try:
                    self._kept[key] = compute()
                except NanobenchError as error:
                    self._kept[key] = error
            kept: T | NanobenchError = self._kept[key]
        if isinstance(kept, NanobenchError):
            raise kept
        return kept


@dataclass(frozen=True)
class Bench:
    """A plan with everything that its cells need; `gateway` is null where it is off."""

    plan: Plan
    tasks: Mapping[str, PlannedTask]
    services: Services
    store: ResultStore
    progress: Progress
    scripted: ScriptedServer
    gateway: Gateway | None
    environ: Mapping[str, str]
    cwd: Path
    taping: Taping = field(default_factory=Taping)
    _once: Once = field(default_factory=Once)

    def material(self, task_id: str) -> Material:
        """The task's material, resolved once."""
        planned = self.tasks[task_id]
        return self._once.get(f"material {task_id}", lambda: resolve(planned, self.services))

    def environment(self, task_id: str) -> Prepared:
        """The task's dependencies, installed once.

        Raises:
            EnvironmentSetupError: an install command failed.
        """
        material = self.material(task_id)
        return self._once.get(
            f"environment {task_id}",
            lambda: self.services.environment.prepare(material.task, material.snapshot),
        )

    def provider(self, name: str) -> dict[str, Any]:
        """The user's own description of a provider, as Nanocoder reads it.

        Raises:
            InvalidInputError: it cannot be found or read.
        """
        return find_provider(name, self.environ, self.cwd)
