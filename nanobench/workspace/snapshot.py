"""A base commit, ready to be unpacked: its tree with a `.git` of one synthetic commit."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from nanobench.errors import StateError
from nanobench.files import make_directory, state_error, write_atomic
from nanobench.workspace.build import ARCHIVE, GIT_DIR, IGNORE_RULES, TREE, build_snapshot
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.git import git_words, read_blobs, run_git
from nanobench.workspace.paths import parents
from nanobench.workspace.teardown import remove_tree
from nanobench.workspace.tree import Entry, parse_tree

__all__ = ["Entry", "Snapshot", "SnapshotStore"]

_LAYOUT = "1"  # a change of what `build_snapshot` writes needs a new number
_MANIFEST = "manifest.json"


class Snapshot:
    """The whole tree of one base commit; immutable.

    Attributes:
        url: the repository.
        commit: the base commit.
        git_dir: a bare git directory that holds the synthetic commit alone, with its index.
        ignore_rules: a directory with the `.gitignore` files of the base, and nothing else.
        entries: path -> entry, sorted by path.
    """

    def __init__(self, url: str, commit: str, directory: Path) -> None:
        self.url = url
        self.commit = commit
        directory = directory.absolute()
        self.git_dir = directory / GIT_DIR
        self.ignore_rules = directory / IGNORE_RULES
        self.entries: Mapping[bytes, Entry] = parse_tree((directory / TREE).read_bytes())
        self._archive = directory / ARCHIVE

    @cached_property
    def head(self) -> str:
        """SHA-1 of the synthetic commit."""
        return (self.git_dir / "refs/heads/main").read_text().strip()

    @cached_property
    def directories(self) -> frozenset[bytes]:
        """Every directory that holds a tracked file; the root is the empty path."""
        return frozenset({b""}.union(*map(parents, self.entries)))

    def blob(self, path: bytes) -> bytes:
        """The raw content of a file at the base commit, or a symlink's target.

        Raises:
            KeyError: no such file.
        """
        return self.blobs([path])[path]

    def blobs(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """The raw contents of several files, read at once.

        Raises:
            KeyError: no such file.
        """
        wanted = list(dict.fromkeys(paths))
        shas = [self.entries[path].sha for path in wanted]
        return dict(zip(wanted, read_blobs(self.git_dir, shas), strict=True))

    def size(self, path: bytes) -> int:
        """Bytes of a file at the base commit, without reading it."""
        asked = f"{self.entries[path].sha}\n".encode()
        answer = run_git("cat-file", "--batch-check", git_dir=self.git_dir, stdin=asked)
        return int(answer.split()[2])

    def unpack(self, destination: Path) -> None:
        """Write the tree and its `.git` into a new or empty directory.

        Raises:
            StateError: the directory is in use, or cannot be written.
        """
        make_directory(destination)
        if any(destination.iterdir()):
            raise StateError("the workspace is not empty", where=str(destination))
        if shutil.which("tar") is None:
            _unpack_here(self._archive, destination)
        else:
            _unpack_by_tar(self._archive, destination)


def _unpack_by_tar(archive: Path, destination: Path) -> None:
    argv = ["tar", "-x", "-p", "--no-same-owner", "-f", str(archive), "-C", str(destination)]
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=_tar_environment(),
        start_new_session=True,  # out of reach of Ctrl-C, as git is
    )
    if done.returncode != 0:
        raise StateError(
            f"cannot unpack a workspace: {git_words(done.stderr)}",
            where=str(destination),
            remedy="free some space or choose another --state-dir",
        )


def _tar_environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}  # no TAR_OPTIONS


def _unpack_here(archive: Path, destination: Path) -> None:
    """Without a `tar` program; the archive is our own, so absolute link targets are meant."""
    try:
        with tarfile.open(archive, encoding="utf-8", errors="surrogateescape") as tar:
            tar.extractall(destination, filter="fully_trusted")  # noqa: S202 - own archive
    except OSError as error:
        raise state_error(error, destination) from None


_Signature = tuple[tuple[str, int, int, int], ...]


class SnapshotStore:
    """Snapshots on disk, built once per URL and commit, shared by processes and threads."""

    def __init__(self, root: Path, cache: ObjectCache) -> None:
        self._root = root
        self._cache = cache
        self._known: dict[str, tuple[Snapshot, _Signature]] = {}
        self._guard = threading.Lock()

    def get(self, url: str, commit: str) -> Snapshot:
        """The snapshot of a commit, built when it is absent, damaged or half-written.

        Every file is hashed once per process; afterwards sizes and times must stay the same.

        Raises:
            InvalidInputError: the commit has submodules or Git LFS pointers.
            RepositoryError: the repository cannot be reached or lacks the commit.
            StateError: the store cannot be written.
        """
        key = _key(url, commit)
        directory = self._root / key
        with self._guard:
            known = self._known.get(key)
        if known is not None and _signature(directory) == known[1]:
            return known[0]
        make_directory(self._root)
        try:
            with FileLock(_lock_of(directory)):
                if not _is_intact(directory):
                    self._build(url, commit, directory)
                snapshot = Snapshot(url, commit, directory)
                signature = _signature(directory)
        except OSError as error:
            raise state_error(error, self._root) from None
        if signature is None:
            raise StateError(
                "a snapshot vanished while it was being read",
                where=str(directory),
                remedy="do not clean the state directory during a run; run the command again",
            )
        with self._guard:
            self._known[key] = (snapshot, signature)
        return snapshot

    def _build(self, url: str, commit: str, directory: Path) -> None:
        remove_tree(directory)
        for leftover in self._root.glob(f".{directory.name}.*"):  # of a build that was killed
            remove_tree(leftover)
        building = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=self._root))
        try:

            def build(repository: Path) -> None:
                remove_tree(building)
                make_directory(building)
                build_snapshot(repository, commit, building)

            self._cache.reading(url, [commit], build)
            write_atomic(building / _MANIFEST, json.dumps(_describe(building), sort_keys=True))
            building.rename(directory)
        finally:
            remove_tree(building)


def sweep_snapshots(root: Path) -> list[Path]:
    """Remove what killed processes built half in `root`; that of living ones is locked."""
    swept = []
    for building in sorted(root.glob(".*.*")):
        directory = root / building.name[1:].rpartition(".")[0]
        try:
            with FileLock(_lock_of(directory), timeout=0):
                remove_tree(building)
                swept.append(building)
        except Timeout:
            continue
    return swept


def _lock_of(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.lock")


def _key(url: str, commit: str) -> str:
    digest = hashlib.sha256("\0".join([_LAYOUT, url, commit]).encode()).hexdigest()
    return f"{re.sub('[^0-9a-f]', '', commit)[:12]}-{digest[:16]}"


def _files(directory: Path) -> list[str]:
    found = [
        os.path.relpath(os.path.join(folder, name), directory)  # noqa: PTH118
        for folder, _, names in os.walk(directory)
        for name in names
    ]
    return sorted(name for name in found if name != _MANIFEST)


def _describe(directory: Path) -> dict[str, list[Any]]:
    described = {}
    for name in _files(directory):
        with (directory / name).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        described[name] = [(directory / name).stat().st_size, digest]
    return described


def _is_intact(directory: Path) -> bool:
    try:
        manifest = json.loads((directory / _MANIFEST).read_bytes())
        return bool(manifest) and manifest == _describe(directory)
    except (OSError, ValueError):
        return False


def _signature(directory: Path) -> _Signature | None:
    signature = []
    try:
        for name in (_MANIFEST, ARCHIVE, TREE, *_git_files(directory)):
            status = (directory / name).stat()
            signature.append((name, status.st_size, status.st_mtime_ns, status.st_ino))
    except OSError:
        return None
    return tuple(signature)


def _git_files(directory: Path) -> list[str]:
    return [f"{GIT_DIR}/{name}" for name in _files(directory / GIT_DIR)]
