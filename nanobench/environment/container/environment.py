"""A task's environment in containers: its image, and dependencies that are installed once in it."""

import os
import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from nanobench.environment.container.devcontainer import Build, Recipe, parse_devcontainer
from nanobench.environment.container.engine import Engine, connect
from nanobench.environment.container.facts import Facts, Question, find_facts
from nanobench.environment.container.images import Images, build_input
from nanobench.environment.container.ledger import Ledger
from nanobench.environment.container.sandbox import Containers, ContainerSandbox
from nanobench.environment.install import NETWORK_VARIABLES, Installer
from nanobench.environment.once import build_once
from nanobench.environment.protocol import Prepared
from nanobench.environment.runtimes import Runtimes, image_runtimes
from nanobench.environment.shared import Shared, dependencies_key, install_apart, is_whole
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import InvalidInputError
from nanobench.files import StateDirectory
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class _Base:
    """A task with what its devcontainer adds, and the image that its commands run on."""

    task: Task
    sandbox: ContainerSandbox
    facts: Facts
    image: str


class ContainerEnvironment:
    """Prepares environments on images, with the engine of this machine.

    Args:
        default_image: for tasks that name neither a Dockerfile nor a devcontainer.
    """

    def __init__(
        self, state: StateDirectory, toolchain: Toolchain, default_image: str | None = None
    ) -> None:
        self._state = state
        self._toolchain = toolchain
        self._default_image = default_image
        self._guard = threading.Lock()
        self._bases: dict[str, _Base] = {}

    def check(self, task: Task, snapshot: Snapshot) -> None:
        """Refuse a devcontainer or Dockerfile that cannot serve; see `Environment.check`."""
        recipe = find_recipe(task, snapshot, self._default_image)
        if isinstance(recipe.source, Build):
            build_input(recipe.source, snapshot, platform.machine())

    def kind(self, task: Task) -> Containers:
        """A container of whatever image; see `Environment.kind`."""
        reached = "_engine" in self.__dict__
        return Containers(self._engine.resources if reached else None)

    def prepare(self, task: Task, snapshot: Snapshot) -> Prepared:
        """Have the image and install the task's dependencies on it; see `Environment.prepare`."""
        with self._guard:  # one build or pull at a time
            name = f"{task.task_id} {task.base_commit} {task.environment.model_dump_json()}"
            if name not in self._bases:
                self._bases[name] = self._base(task, snapshot)
            base = self._bases[name]
        runtimes = self._runtimes(base)
        key = dependencies_key(base.task, runtimes.versions, self._place(base))
        installing = replace(base.sandbox, outside=_outside(os.environ))
        installer = Installer(installing, self._toolchain, runtimes, base.task, own_system=True)
        directory = build_once(
            self._state.environments / key,
            lambda partial: install_apart(partial, installer, snapshot),
            is_whole,
        )
        return Shared(key, replace(installer, sandbox=base.sandbox), directory, base.image)

    def close(self) -> None:
        """End the run by which the engine knows what is ours, and leave the engine."""
        if "_ledger" in self.__dict__:
            self._ledger.close()
        if "_engine" in self.__dict__:
            self._engine.close()

    @cached_property
    def _engine(self) -> Engine:
        return connect()

    @cached_property
    def _ledger(self) -> Ledger:
        return Ledger(self._state)

    def _base(self, task: Task, snapshot: Snapshot) -> _Base:
        recipe = find_recipe(task, snapshot, self._default_image)
        images = Images(self._engine)
        if isinstance(recipe.source, Build):
            inputs = build_input(recipe.source, snapshot, self._engine.architecture)
            image = images.built(inputs, snapshot)
        else:
            image = images.named(recipe.source)
        described = images.describe(image)
        named = recipe.user or described["Config"].get("User") or ""
        sandbox = ContainerSandbox(self._engine, image, self._ledger, self._own_user())
        python = str(task.environment.runtimes.get("python", ""))
        facts = find_facts(sandbox, self._toolchain, Question(described, python, named))
        if self._own_user() == "0:0" and not self._engine.rootless and facts.owner[0] != 0:
            uid, gid = facts.owner
            sandbox = replace(sandbox, user=f"{uid}:{gid}", owner=facts.owner)
        digests = described.get("RepoDigests") or ()
        return _Base(with_recipe(task, recipe), sandbox, facts, str((*digests, image)[0]))

    def _own_user(self) -> str:
        """Whose files a container leaves in the workspace: ours, which a rootless root is."""
        return "0:0" if self._engine.rootless else f"{os.geteuid()}:{os.getegid()}"

    def _runtimes(self, base: _Base) -> Runtimes:
        wanted = {str(name): version for name, version in base.task.environment.runtimes.items()}
        return image_runtimes(self._toolchain, wanted, base.facts.tools)

    def _place(self, base: _Base) -> Mapping[str, str]:
        return {
            "sandbox": base.sandbox.name,
            "platform": f"{platform.system()} {self._engine.architecture}",
            "image": base.sandbox.image,
            "user": base.sandbox.user,
        }


def find_recipe(task: Task, snapshot: Snapshot, default_image: str | None) -> Recipe:
    """How a task's container comes about.

    Raises:
        InvalidInputError: the task's devcontainer is absent or wrong, or the task names nothing
            and there is no default image.
    """
    environment = task.environment
    if environment.devcontainer is not None:
        path = os.fsencode(environment.devcontainer)
        if path not in snapshot.entries:
            raise InvalidInputError(
                "the base commit has no such devcontainer",
                where=environment.devcontainer,
                remedy="name a file of the repository in the task's `environment`",
            )
        text = snapshot.blob(path).decode(errors="replace")
        return parse_devcontainer(text, environment.devcontainer)
    if environment.dockerfile is not None:
        return Recipe(Build(environment.dockerfile))
    if default_image:
        return Recipe(default_image)
    raise InvalidInputError(
        f"task {task.task_id} names no image: neither a Dockerfile nor a devcontainer",
        where=f"{task.task_id}: environment",
        remedy="name an image for such tasks (--image, for example --image debian:bookworm), or "
        "run it with --strategy native",
    )


def with_recipe(task: Task, recipe: Recipe) -> Task:
    """The task with its container's own variables and commands before the task's."""
    environment = task.environment
    added = {
        "env": {**recipe.env, **environment.env},
        "install": (*recipe.install, *environment.install),
    }
    return task.model_copy(update={"environment": environment.model_copy(update=added)})


def _outside(environ: Mapping[str, str]) -> Literal["host", "bridge"]:
    """The network of installs: apart from this machine's services, unless a proxy is one."""
    values = (environ.get(name, "") for name in NETWORK_VARIABLES)
    local = any(word in value for value in values for word in _LOOPBACK)
    return "host" if local else "bridge"
