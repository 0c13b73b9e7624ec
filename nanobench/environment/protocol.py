"""What every strategy of an environment offers; the pipeline knows no more (DESIGN 5)."""

from pathlib import Path
from typing import Protocol

from nanobench.environment.room import Room
from nanobench.environment.sandbox import Kind, Sandbox
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot


class Prepared(Protocol):
    """A task's dependencies, ready to be used in workspaces.

    Attributes:
        key: hash of all that the dependencies came from.
        sandbox: what the rooms' commands run in.
        image: the image they run on, by digest or id; null on the machine itself.
        residue: paths that count as part of the base in every workspace. Without fixed paths
            it is empty until a room was opened; what the first one's install left.
        install_seconds: how long the install took; null before it has run.
        undated: install commands that the task's date could not bind, because the npm
            registry had no version old enough (see `Installer.run`).
    """

    key: str
    sandbox: Sandbox
    image: str | None
    residue: frozenset[bytes]
    install_seconds: float | None
    undated: tuple[str, ...]

    def open(self, workspace: Path, run_dir: Path) -> Room:
        """A room over `workspace` with the dependencies in place.

        Args:
            workspace: an unpacked tree of the task's base commit, changed or not.
            run_dir: a directory outside the workspace, for this room alone.

        Raises:
            EnvironmentSetupError: an install command failed (without fixed paths).
            StateError: a directory cannot be written.
        """
        ...


class Environment(Protocol):
    """Prepares tasks by one strategy, or by the one that each task names."""

    def check(self, task: Task, snapshot: Snapshot) -> None:
        """Refuse what the task and its base commit alone show to be wrong; nothing is run.

        Raises:
            InvalidInputError: the task's description of its environment cannot be used.
        """
        ...

    def kind(self, task: Task) -> Kind:
        """What the task's commands run in, also if it cannot be prepared."""
        ...

    def prepare(self, task: Task, snapshot: Snapshot) -> Prepared:
        """Install a task's dependencies, unless they are installed already.

        One install per key, whoever asks at the same time.

        Raises:
            EnvironmentSetupError: a runtime, an image or an engine cannot be had, or an install
                command failed.
            InvalidInputError: the task's description of its environment cannot be used.
            StateError: the state directory cannot be written.
        """
        ...
