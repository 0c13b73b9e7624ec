"""A change of one file against the base commit, and how changes are put onto a tree."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nanobench.files import state_error
from nanobench.workspace.paths import display, is_git_metadata, parents

REGULAR = 0o100644
EXECUTABLE = 0o100755
SYMLINK = 0o120000


@dataclass(frozen=True)
class Change:
    """One path that differs from the base commit; a rename is a deletion and an addition.

    Args:
        path: relative to the root, as the file system has it.
        mode: 0o100644, 0o100755, 0o120000, or None for a deletion.
        content: raw bytes, or the target of a symlink. None for a deletion, and for a file
            too large to be stored.
        base_mode: the mode at the base commit; None for an addition.
    """

    path: bytes
    mode: int | None
    content: bytes | None
    base_mode: int | None


def apply_changes(tree: Path, changes: Iterable[Change]) -> list[str]:
    """Put changes onto a tree: deletions first, the deepest first, then writes by path.

    Nothing is ever written or deleted through a symlink. A change that the tree does not
    allow (a symlink or a file where a directory is needed, a directory where a file is
    needed, content that was not stored) is skipped.

    Returns:
        The paths that were skipped, as `display` writes them.

    Raises:
        StateError: the file system refuses (full, read-only).
    """
    root = os.fsencode(tree)
    ordered = sorted(changes, key=lambda change: change.path)
    deletions = [change for change in ordered if change.mode is None]
    writes = [change for change in ordered if change.mode is not None]
    deletions.sort(key=lambda change: change.path.count(b"/"), reverse=True)
    try:
        skipped = [change.path for change in deletions if not _delete(root, change.path)]
        skipped += [change.path for change in writes if not _write(root, change)]
    except OSError as error:
        raise state_error(error, tree) from None
    return [display(path) for path in sorted(skipped)]


def _is_safe(path: bytes) -> bool:
    parts = path.split(b"/")
    plain = all(part not in (b"", b".", b"..") for part in parts)
    return plain and b"\0" not in path and not any(map(is_git_metadata, parts))


def _kind(path: bytes) -> int | None:
    """The file type bits, without following a symlink; None when nothing is there."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _delete(root: bytes, path: bytes) -> bool:
    if not _is_safe(path):
        return False
    above = [os.path.join(root, parent) for parent in parents(path)]
    if any(_kind(parent) not in (stat.S_IFDIR, None) for parent in above):
        return False
    target = os.path.join(root, path)
    kind = _kind(target)
    if kind == stat.S_IFDIR:
        return False
    if kind is not None:
        os.unlink(target)
    for parent in above:  # git keeps no empty directories
        if _kind(parent) is None:
            continue
        try:
            os.rmdir(parent)
        except OSError:
            break
    return True


def _write(root: bytes, change: Change) -> bool:
    if change.content is None or not _is_safe(change.path):
        return False
    for parent in reversed(parents(change.path)):
        directory = os.path.join(root, parent)
        kind = _kind(directory)
        if kind is None:
            os.mkdir(directory, 0o755)
        elif kind != stat.S_IFDIR:
            return False
    target = os.path.join(root, change.path)
    if not _clear(target):
        return False
    if change.mode == SYMLINK:
        os.symlink(change.content, target)
        return True
    permissions = 0o755 if change.mode == EXECUTABLE else 0o644
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(target, flags, permissions), "wb") as stream:
        stream.write(change.content)
        os.fchmod(stream.fileno(), permissions)  # whatever the umask
    return True


def _clear(target: bytes) -> bool:
    kind = _kind(target)
    if kind is None:
        return True
    if kind != stat.S_IFDIR:
        os.unlink(target)
        return True
    try:
        os.rmdir(target)  # only when it is empty
    except OSError:
        return False
    return True
