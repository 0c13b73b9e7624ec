"""A task's dependencies on this machine: installed once, used by every cell (DESIGN 7)."""

import hashlib
import json
import os
import platform
import shutil
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from nanobench.environment.install import Installer
from nanobench.environment.leftovers import (
    Leftovers,
    find_leftovers,
    lay_file,
    mark,
    real_directory,
)
from nanobench.environment.once import build_once
from nanobench.environment.room import Place, Room
from nanobench.environment.runtimes import Runtimes, find_runtimes
from nanobench.environment.sandbox import Mount, Sandbox
from nanobench.environment.toolchain import Toolchain
from nanobench.files import StateDirectory
from nanobench.model.base import canonical_json
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.teardown import remove_tree

KEY_SCHEMA = "1"
DESCRIPTION = "environment.json"
# Tools write these inside node_modules, which is read-only: each becomes an empty tmpfs.
TOOL_CACHES = (".cache", ".vite", ".vite-temp")


class Prepared(Protocol):
    """A task's dependencies, ready to be used in workspaces.

    Attributes:
        key: hash of all that the dependencies came from.
        residue: paths that count as part of the base in every workspace. Without fixed paths
            it is empty until a room was opened; what the first one's install left.
        install_seconds: how long the install took; null before it has run.
        undated: install commands that the task's date could not bind, because the npm
            registry had no version old enough (see `Installer.run`).
    """

    key: str
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
        environment = task.environment
        parts = {
            "schema": KEY_SCHEMA,
            "url": task.repo_url,
            "commit": task.base_commit,
            "install": environment.install,
            "runtimes": dict(self._find_runtimes(task).versions),
            "env": environment.env,
            "before": task.dependencies_before().isoformat(),
            "network": environment.network.install,
            "sandbox": self._sandbox.name,
            "platform": f"{platform.system()} {platform.machine()}",
        }
        return hashlib.sha256(canonical_json(parts).encode()).hexdigest()

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
            lambda partial: _install_apart(partial, installer, snapshot),
            _is_whole,
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


@dataclass(frozen=True)
class _Kept:
    """What is stored of an install: directories by number, files by path."""

    directories: tuple[str, ...]
    files: tuple[str, ...]
    install_seconds: float
    undated: tuple[str, ...]


class Shared:
    """Dependencies installed at the fixed path, mounted read-only into every workspace."""

    def __init__(self, key: str, installer: Installer, directory: Path) -> None:
        self.key = key
        self._installer = installer
        self._directory = directory
        self._kept = _read_kept(directory)
        self.install_seconds: float | None = self._kept.install_seconds
        self.undated = self._kept.undated
        kept = (*self._kept.directories, *self._kept.files)
        self.residue = frozenset(os.fsencode(path) for path in kept)

    def open(self, workspace: Path, run_dir: Path) -> Room:
        """Lay the kept files into the workspace; see `Prepared.open`."""
        for path in self._kept.files:
            lay_file(self._directory / "files" / path, workspace, Path(path))
        mounts: list[Mount] = []
        for number, path in enumerate(self._kept.directories):
            source = self._directory / "mounts" / str(number)
            mounts.append(Mount(source, path))
            if Path(path).name == "node_modules":
                caches = (f"{path}/{cache}" for cache in TOOL_CACHES)
                mounts += (Mount(source, cache, kind="tmpfs") for cache in caches)
        place = Place(workspace, run_dir, mounts=tuple(mounts), residue=self.residue)
        return self._installer.room(place)


def _is_whole(directory: Path) -> bool:
    """Whether an install ended and is described as this version describes it."""
    try:
        _read_kept(directory)
    except (OSError, ValidationError):
        return False
    return True


def _read_kept(directory: Path) -> _Kept:
    return TypeAdapter(_Kept).validate_json((directory / DESCRIPTION).read_bytes())


def _install_apart(partial: Path, installer: Installer, snapshot: Snapshot) -> None:
    """Install at the fixed path in a tree of its own, and keep only what the install left."""
    source = partial / "source"
    snapshot.unpack(source)
    before = mark(source)
    started = time.monotonic()
    undated = installer.run(source, partial / "run")
    seconds = time.monotonic() - started
    left = find_leftovers(source, before)
    _keep(left, source, partial)
    kept = _Kept(
        directories=tuple(os.fsdecode(path) for path in left.directories),
        files=tuple(os.fsdecode(path) for path in left.files),
        install_seconds=round(seconds, 3),
        undated=undated,
    )
    (partial / DESCRIPTION).write_text(canonical_json(asdict(kept)))
    remove_tree(source)
    remove_tree(partial / "run")


def _keep(left: Leftovers, source: Path, partial: Path) -> None:
    for number, path in enumerate(left.directories):
        target = partial / "mounts" / str(number)
        target.parent.mkdir(exist_ok=True)
        (source / os.fsdecode(path)).rename(target)
        if path.rpartition(b"/")[2] == b"node_modules":
            for cache in TOOL_CACHES:
                (target / cache).mkdir(exist_ok=True)
    (partial / "files").mkdir()
    for path in left.files:
        relative = Path(os.fsdecode(path))
        place = real_directory(partial / "files", relative.parent)
        shutil.copy2(source / relative, place / relative.name, follow_symlinks=False)
