"""A task's dependencies on this machine: installed once, used by every cell (DESIGN 7)."""

import hashlib
import json
import os
import platform
import threading
import time
from pathlib import Path

from nanobench.environment.install import Installer
from nanobench.environment.leftovers import find_leftovers, mark
from nanobench.environment.once import build_once
from nanobench.environment.protocol import Prepared
from nanobench.environment.room import Place, Room
from nanobench.environment.runtimes import Runtimes, find_runtimes
from nanobench.environment.sandbox import Sandbox
from nanobench.environment.shared import Shared, dependencies_key, install_apart, is_whole
from nanobench.environment.toolchain import Toolchain
from nanobench.files import StateDirectory
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.teardown import remove_tree


class NativeEnvironment:
    """Prepares environments on the machine itself, in the sandbox that works here."""

    def __init__(self, state: StateDirectory, toolchain: Toolchain, sandbox: Sandbox) -> None:
        self._state = state
        self._toolchain = toolchain
        self._sandbox = sandbox
        self._guard = threading.Lock()
        self._runtimes: dict[str, Runtimes] = {}

    def key(self, task: Task) -> str:
        """Hash of all that a task's dependencies come from.

        Raises:
            EnvironmentSetupError: a runtime that the task names cannot be had.
        """
        place = {
            "sandbox": self._sandbox.name,
            "platform": f"{platform.system()} {platform.machine()}",
        }
        return dependencies_key(task, self._find_runtimes(task).versions, place)

    def check(self, task: Task, snapshot: Snapshot) -> None:
        """Nothing is known before the runtimes are looked for; see `Environment.check`."""

    def kind(self, task: Task) -> Sandbox:
        """The machine's own sandbox; see `Environment.kind`."""
        return self._sandbox

    def prepare(self, task: Task, snapshot: Snapshot) -> Prepared:
        """Install a task's dependencies, unless they are installed already.

        One install per key, whoever asks at the same time. Without fixed paths nothing can be
        shared: each room then installs for itself when it is opened.

        Raises:
            EnvironmentSetupError: a runtime cannot be had or an install command failed.
            StateError: the state directory cannot be written.
        """
        runtimes = self._find_runtimes(task)
        installer = Installer(self._sandbox, self._toolchain, runtimes, task)
        key = self.key(task)
        if not self._sandbox.fixed_paths:
            return InWorkspace(key, installer, snapshot)
        directory = build_once(
            self._state.environments / key,
            lambda partial: install_apart(partial, installer, snapshot),
            is_whole,
        )
        return Shared(key, installer, directory)

    def _find_runtimes(self, task: Task) -> Runtimes:
        wanted: dict[str, str] = {str(k): v for k, v in task.environment.runtimes.items()}
        name = json.dumps(wanted, sort_keys=True)
        with self._guard:
            if name not in self._runtimes:
                self._runtimes[name] = find_runtimes(self._toolchain, wanted)
            return self._runtimes[name]


class InWorkspace:
    """Dependencies that each workspace gets for itself, where no path can be fixed."""

    def __init__(self, key: str, installer: Installer, snapshot: Snapshot) -> None:
        self.key = key
        self.sandbox = installer.sandbox
        self.image: str | None = None
        self.residue: frozenset[bytes] = frozenset()
        self.install_seconds: float | None = None
        self.undated: tuple[str, ...] = ()
        self._installer = installer
        self._snapshot = snapshot

    def open(self, workspace: Path, run_dir: Path) -> Room:
        """Install into the workspace; see `Prepared.open`."""
        if not self._installer.task.environment.install:
            self.install_seconds = 0.0
            return self._installer.room(Place(workspace, run_dir))
        before = mark(workspace)
        started = time.monotonic()
        self.undated = self._installer.run(workspace, run_dir)
        self.install_seconds = time.monotonic() - started
        left = find_leftovers(workspace, before)
        for path in left.changed:
            self._restore(workspace, path, before[path])
        if not self.residue:  # the first stands, so that cells at work do not disturb each other
            self.residue = left.paths
        return self._installer.room(Place(workspace, run_dir, residue=left.paths))

    def _restore(self, workspace: Path, path: bytes, before: str) -> None:
        """Undo an install's change of a file that stood as the base commit has it."""
        entry = self._snapshot.entries.get(path)
        if entry is None or not entry.mode & 0o100000 or entry.mode & 0o020000:
            return  # the agent's own, a link, or a submodule
        content = self._snapshot.blob(path)
        executable = bool(entry.mode & 0o100)
        if before == f"{executable} {hashlib.sha256(content).hexdigest()}":
            target = workspace / os.fsdecode(path)
            remove_tree(target)
            target.write_bytes(content)
            target.chmod(0o755 if executable else 0o644)
