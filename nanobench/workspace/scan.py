"""Walk a workspace that may be hostile and find what differs from the base commit.

Links are never followed, no setting of the workspace is read, and every tracked file is hashed:
its times and its index entry are claims of the agent's.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nanobench.workspace.changes import EXECUTABLE, REGULAR, SYMLINK, Change
from nanobench.workspace.ignore import IgnoreRules
from nanobench.workspace.index import blob_sha
from nanobench.workspace.paths import is_git_metadata
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.teardown import list_directory

STORED_FILE_LIMIT = 20 * 1024 * 1024
STORED_TOTAL_LIMIT = 256 * 1024 * 1024
ADDED_LIMIT = 10_000  # files; who adds more has unpacked something, or wants to be in the way

# What runtimes and tools leave when they are merely run; pollution wherever it is untracked.
_DROPPINGS = frozenset(
    {
        b"__pycache__",
        b".nanocoder",
        b".pytest_cache",
        b".mypy_cache",
        b".ruff_cache",
        b".hypothesis",
        b".venv",
        b"node_modules",
    }
)
_ROOT_DROPPINGS = frozenset({b".pnpm-store", b".npm", b".cache", b".coverage"})
_RUNTIME_STATE = b".nanocoder"  # at the root: the harness's own, even where it is tracked


@dataclass
class Scan:
    """What a walk found; paths are relative bytes, a directory's ends with a slash.

    `sizes` holds the bytes of every file in `changes` that is not deleted, `mode_only` the
    changed files whose content is the base's, `unlisted` counts added files beyond the limit.
    """

    changes: list[Change] = field(default_factory=list)
    sizes: dict[bytes, int] = field(default_factory=dict)
    mode_only: set[bytes] = field(default_factory=set)
    pollution: list[bytes] = field(default_factory=list)
    skipped: list[bytes] = field(default_factory=list)
    unlisted: int = 0


def scan_workspace(
    workspace: Path, snapshot: Snapshot, hidden: Collection[bytes], residue: Collection[bytes]
) -> Scan:
    """Compare a workspace with its base commit.

    Args:
        workspace: the root; nothing may be running in it any more.
        snapshot: the base.
        hidden: base paths whose absence is intended.
        residue: paths (files or directories) that count as part of the base.
    """
    with IgnoreRules(snapshot) as rules:
        walk = _Walk(workspace, snapshot, rules, residue)
        walk.run()
    gone = snapshot.entries.keys() - walk.present - set(hidden)
    for path in gone:
        if not path.startswith(_RUNTIME_STATE + b"/") and not walk.is_unreadable(path):
            entry = snapshot.entries[path]
            walk.scan.changes.append(Change(path, None, None, entry.mode))
    walk.scan.changes.sort(key=lambda change: change.path)
    walk.scan.pollution.sort()
    walk.scan.skipped.sort()
    return walk.scan


class _Walk:
    def __init__(
        self,
        workspace: Path,
        snapshot: Snapshot,
        rules: IgnoreRules,
        residue: Collection[bytes],
    ) -> None:
        self.scan = Scan()
        self.present: set[bytes] = set()
        self._root = os.fsencode(workspace)
        self._snapshot = snapshot
        self._rules = rules
        self._residue = {path.rstrip(b"/") for path in residue}
        self._unreadable: list[bytes] = []
        self._stored = 0
        self._added = 0

    def run(self) -> None:
        waiting = [b""]
        while waiting:
            directory = waiting.pop()
            for name, status in self._list(directory):
                path = directory + name
                if path in self._residue and not self._is_tracked(path):
                    continue
                if is_git_metadata(name):
                    if directory:  # the root's own is expected, and read by nobody
                        self.scan.skipped.append(path)
                elif stat.S_ISDIR(status.st_mode):
                    if self._enters(path, name):
                        waiting.append(path + b"/")
                else:
                    self._visit(path, name, status)

    def is_unreadable(self, path: bytes) -> bool:
        return any(path.startswith(directory) for directory in self._unreadable)

    def _is_tracked(self, path: bytes) -> bool:
        return path in self._snapshot.entries or path in self._snapshot.directories

    def _list(self, directory: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
        location = self._root + b"/" + directory
        try:
            entries = sorted(list_directory(location), key=lambda entry: entry.name)
        except OSError:  # too deep a path, a foreign mount, a broken disk
            self._unreadable.append(directory)
            self.scan.skipped.append(directory)
            return
        for entry in entries:
            try:
                yield entry.name, entry.stat(follow_symlinks=False)
            except OSError:
                self.scan.skipped.append(directory + entry.name)

    def _enters(self, path: bytes, name: bytes) -> bool:
        if path == _RUNTIME_STATE:
            self.scan.pollution.append(path + b"/")
            return False
        if path in self._snapshot.directories:
            return True
        if self._is_pollution(path + b"/", name):
            if not _is_empty(self._root + b"/" + path):
                self.scan.pollution.append(path + b"/")
            return False
        return True

    def _is_pollution(self, path: bytes, name: bytes) -> bool:
        at_root = path.rstrip(b"/") == name
        dropped = (
            name in _DROPPINGS
            or (at_root and name in _ROOT_DROPPINGS)
            or name.endswith((b".pyc", b".pyo"))
        )
        return dropped or self._rules.ignore(path)

    def _visit(self, path: bytes, name: bytes, status: os.stat_result) -> None:
        mode = _git_mode(status.st_mode)
        if mode is None or (mode == SYMLINK and name.lower() == b".gitmodules"):
            self.scan.skipped.append(path)  # git cannot hold it
            return
        base = self._snapshot.entries.get(path)
        if base is None:
            if self._added == ADDED_LIMIT:
                self.scan.unlisted += 1
                return
            if self._is_pollution(path, name):
                self.scan.pollution.append(path)
                return
            self._added += 1
        else:
            self.present.add(path)
        try:
            change = self._compare(path, mode, status.st_size)
        except OSError:
            self.scan.skipped.append(path)
            return
        if change is not None:
            self.scan.changes.append(change)
            self.scan.sizes[path] = status.st_size

    def _compare(self, path: bytes, mode: int, size: int) -> Change | None:
        """The change at a path, or None when it is as at the base."""
        base = self._snapshot.entries.get(path)
        location = self._root + b"/" + path
        if size > STORED_FILE_LIMIT:
            content = None
            comparable = base is not None and self._snapshot.size(path) == size
            sha = _large_sha(location, size) if comparable else None
        else:
            content = os.readlink(location) if mode == SYMLINK else _read(location)
            sha = blob_sha(content)
        if base is not None and base.sha == sha:
            if base.mode == mode:
                return None
            self.scan.mode_only.add(path)
        if content is not None:
            self._stored += len(content)
        kept = content if self._stored <= STORED_TOTAL_LIMIT else None
        return Change(path, mode, kept, base.mode if base else None)


def _is_empty(location: bytes) -> bool:
    try:
        with os.scandir(location) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _git_mode(mode: int) -> int | None:
    if stat.S_ISLNK(mode):
        return SYMLINK
    if stat.S_ISREG(mode):
        return EXECUTABLE if mode & 0o100 else REGULAR
    return None


def _open(location: bytes) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(location, flags)
    except PermissionError:
        os.chmod(location, 0o600)  # its mode has been noted
        return os.open(location, flags)


def _read(location: bytes) -> bytes:
    descriptor = _open(location)
    try:
        size = os.fstat(descriptor).st_size
        parts = []
        while chunk := os.read(descriptor, size + 1):
            parts.append(chunk)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _large_sha(location: bytes, size: int) -> str:
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with os.fdopen(_open(location), "rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
