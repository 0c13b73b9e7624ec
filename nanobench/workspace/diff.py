"""The agent's work: how a workspace differs from its base commit (SPEC X5).

git never runs on the agent's `.git` nor under its attributes: the tree is walked, raw bytes are
hashed, and a private index over the base makes the patch.
"""

import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nanobench.errors import StateError
from nanobench.files import make_directory
from nanobench.model.signals import FileEdit
from nanobench.workspace.changes import Change
from nanobench.workspace.index import PrivateIndex
from nanobench.workspace.paths import display, parents
from nanobench.workspace.planted import planted
from nanobench.workspace.scan import Scan, scan_workspace
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.teardown import remove_tree

LISTED_LIMIT = 200
_BINARY_PROBE = 8000  # bytes in which git looks for a NUL
_REF_FILE_LIMIT = 1024 * 1024
_BRANCH = re.compile(rb"refs/heads/[A-Za-z0-9._/-]+")


@dataclass(frozen=True)
class WorkspaceDiff:
    """What an agent left.

    Args:
        changes: every path that differs, with its content, sorted by path.
        edits: the same as a record lists it.
        patch: a git patch of all changes whose content is stored.
        pollution: at most 200 paths that runtimes left, that the base ignores, or that would
            have git run commands or hide files; a directory ends with a slash and stands for
            all it holds.
        skipped: special files, metadata of nested repositories, what could not be read, and how
            many added files are not listed.
        agent_committed: the agent's own `.git` names another commit than the one it was given.
    """

    changes: tuple[Change, ...]
    edits: tuple[FileEdit, ...]
    patch: bytes
    pollution: tuple[str, ...]
    skipped: tuple[str, ...]
    agent_committed: bool


def diff_workspace(
    workspace: Path,
    snapshot: Snapshot,
    scratch: Path,
    *,
    hidden: Collection[bytes] = (),
    residue: Collection[bytes] = (),
) -> WorkspaceDiff:
    """Compare a workspace with its base commit.

    Files over 20 MiB, and those beyond 256 MiB in all, are listed and not stored; of more than
    10,000 added files the others are counted and left out.

    Args:
        workspace: the agent's tree; nothing may be running in it any more.
        snapshot: its base.
        scratch: a directory outside the workspace; left as it was.
        hidden: base paths that were removed on purpose before the agent ran.
        residue: paths that the dependency install left; they count as part of the base.

    Raises:
        StateError: the workspace is gone, or the scratch directory cannot be written.
        GitError: the snapshot is broken.
    """
    if workspace.is_symlink() or not workspace.is_dir():
        raise StateError(
            "the workspace is gone",
            where=str(workspace),
            remedy="do not clean the state directory during a run; run the command again",
        )
    scan = scan_workspace(workspace, snapshot, hidden, residue)
    return WorkspaceDiff(
        changes=tuple(scan.changes),
        edits=tuple(_edit(change, scan) for change in scan.changes),
        patch=_patch(scan.changes, snapshot, scratch),
        pollution=_listed([*planted(workspace), *scan.pollution]),
        skipped=(*_listed(scan.skipped), *_unlisted(scan.unlisted)),
        agent_committed=_agent_committed(os.fsencode(workspace), snapshot.head.encode()),
    )


def _patch(changes: list[Change], snapshot: Snapshot, scratch: Path) -> bytes:
    if not changes:
        return b""
    private = Path(tempfile.mkdtemp(prefix=".index-", dir=make_directory(scratch)))
    try:
        index = PrivateIndex(snapshot, private)
        index.stage(changes)
        return index.patch()
    finally:
        remove_tree(private)


def _edit(change: Change, scan: Scan) -> FileEdit:
    content = change.content
    return FileEdit(
        path=display(change.path),
        change=_kind_of_change(change, scan),
        binary=content is not None and b"\0" in content[:_BINARY_PROBE],
        size=scan.sizes.get(change.path),
        stored=change.mode is None or content is not None,
    )


def _kind_of_change(
    change: Change, scan: Scan
) -> Literal["added", "modified", "deleted", "mode", "type"]:
    if change.base_mode is None:
        return "added"
    if change.mode is None:
        return "deleted"
    if stat.S_IFMT(change.mode) != stat.S_IFMT(change.base_mode):
        return "type"
    return "mode" if change.path in scan.mode_only else "modified"


def _listed(paths: Iterable[bytes]) -> tuple[str, ...]:
    shown = [display(path) for path in paths]
    if len(shown) <= LISTED_LIMIT:
        return tuple(shown)
    return (*shown[:LISTED_LIMIT], f"({len(shown) - LISTED_LIMIT} more)")


def _unlisted(count: int) -> tuple[str, ...]:
    return (f"({count} more added files)",) if count else ()


def _agent_committed(workspace: bytes, given: bytes) -> bool:
    """Whether HEAD or the branch we made names another commit; read as plain files."""
    git_dir = workspace + b"/.git"
    head = _read_small(git_dir, b"HEAD")
    packed = _packed_refs(git_dir)
    if head.startswith(b"ref: "):
        tips = {_tip(git_dir, head.removeprefix(b"ref: "), packed)}
    else:
        tips = {head}
    tips.add(_tip(git_dir, b"refs/heads/main", packed))
    return bool({tip for tip in tips if re.fullmatch(rb"[0-9a-f]{40}", tip)} - {given})


def _tip(git_dir: bytes, ref: bytes, packed: dict[bytes, bytes]) -> bytes:
    if not _BRANCH.fullmatch(ref) or b".." in ref:
        return b""
    return _read_small(git_dir, ref) or packed.get(ref, b"")


def _packed_refs(git_dir: bytes) -> dict[bytes, bytes]:
    lines = (line.split() for line in _read_small(git_dir, b"packed-refs").splitlines())
    return {line[1]: line[0] for line in lines if len(line) == 2}


def _read_small(git_dir: bytes, name: bytes) -> bytes:
    """A regular file's stripped content; empty when it is anything else."""
    try:
        for parent in (git_dir, *(git_dir + b"/" + part for part in parents(name))):
            if not stat.S_ISDIR(os.lstat(parent).st_mode):
                return b""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(git_dir + b"/" + name, flags), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return b""
            return stream.read(_REF_FILE_LIMIT).strip()
    except OSError:
        return b""
