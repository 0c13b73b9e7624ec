"""Dependencies that are installed once at the fixed path and shared by workspaces (DESIGN 7)."""

import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from nanobench.environment.install import DEPENDENCIES, FIXED_DEPENDENCIES, Installer
from nanobench.environment.leftovers import (
    Leftovers,
    find_leftovers,
    lay_file,
    mark,
    real_directory,
)
from nanobench.environment.room import Place, Room
from nanobench.environment.sandbox import Mount
from nanobench.model.base import canonical_json
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.teardown import remove_tree

DESCRIPTION = "environment.json"
# Tools write these inside node_modules, which is read-only: each becomes an empty tmpfs.
TOOL_CACHES = (".cache", ".vite", ".vite-temp")
KEY_SCHEMA = "1"


def dependencies_key(task: Task, versions: Mapping[str, str], place: Mapping[str, str]) -> str:
    """Hash of all that a task's dependencies come from.

    Args:
        task: the commands and variables are its environment's.
        versions: the runtimes that the commands find.
        place: what they run in: sandbox, platform, image.
    """
    environment = task.environment
    parts = {
        "schema": KEY_SCHEMA,
        "url": task.repo_url,
        "commit": task.base_commit,
        "install": environment.install,
        "runtimes": dict(versions),
        "env": environment.env,
        "before": task.dependencies_before().isoformat(),
        "network": environment.network.install,
        **place,
    }
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()


@dataclass(frozen=True)
class _Kept:
    """What is stored of an install: directories by number, files by path."""

    directories: tuple[str, ...]
    files: tuple[str, ...]
    install_seconds: float
    undated: tuple[str, ...]


class Shared:
    """Dependencies installed at the fixed path, mounted read-only into every workspace."""

    def __init__(
        self, key: str, installer: Installer, directory: Path, image: str | None = None
    ) -> None:
        self.key = key
        self.sandbox = installer.sandbox
        self.image = image
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
        if (self._directory / DEPENDENCIES).is_dir():
            mounts.append(Mount(self._directory / DEPENDENCIES, FIXED_DEPENDENCIES))
        place = Place(workspace, run_dir, mounts=tuple(mounts), residue=self.residue)
        return self._installer.room(place)


def is_whole(directory: Path) -> bool:
    """Whether an install ended and is described as this version describes it."""
    try:
        _read_kept(directory)
    except (OSError, ValidationError):
        return False
    return True


def _read_kept(directory: Path) -> _Kept:
    return TypeAdapter(_Kept).validate_json((directory / DESCRIPTION).read_bytes())


def install_apart(partial: Path, installer: Installer, snapshot: Snapshot) -> None:
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
