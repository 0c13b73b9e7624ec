"""An index and an object directory of our own, over the base commit's."""

import hashlib
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path

from nanobench.files import make_directory, state_error
from nanobench.workspace.changes import Change
from nanobench.workspace.git import read_blobs, run_git
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.tree import canonical_mode

_ZERO = "0" * 40


def blob_sha(content: bytes) -> str:
    """The SHA-1 that git gives to a blob of this content."""
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


class PrivateIndex:
    """The base commit's index, to be changed at will; nothing of it reaches the snapshot.

    Args:
        snapshot: the base.
        scratch: a directory for the index and for new objects; the caller removes it.

    Raises:
        StateError: the scratch directory cannot be written.
    """

    def __init__(self, snapshot: Snapshot, scratch: Path) -> None:
        self._snapshot = snapshot
        self._objects = scratch / "objects"
        index = scratch / "index"
        self._env = {"GIT_INDEX_FILE": str(index), "GIT_OBJECT_DIRECTORY": str(self._objects)}
        try:
            make_directory(self._objects / "info")
            base_objects = (snapshot.git_dir / "objects").resolve()
            (self._objects / "info/alternates").write_text(f"{base_objects}\n")
            shutil.copyfile(snapshot.git_dir / "index", index)
        except OSError as error:
            raise state_error(error, scratch) from None

    def stage(self, changes: Iterable[Change]) -> None:
        """Put stored changes and deletions into the index.

        Raises:
            StateError: the scratch directory cannot be written.
        """
        ordered = sorted(changes, key=lambda change: (change.mode is not None, change.path))
        lines = []
        for change in ordered:  # deletions first: a file may stand where a directory was
            if change.mode is None:
                lines.append(b"0 %s\t%s\0" % (_ZERO.encode(), change.path))
            elif change.content is not None:
                sha = self._store(change.content).encode()
                lines.append(b"%o %s\t%s\0" % (change.mode, sha, change.path))
        if lines:
            self._git("update-index", "-z", "--index-info", stdin=b"".join(lines))

    def apply(self, patch: bytes) -> None:
        """Apply a unified diff.

        Raises:
            GitError: it does not apply.
        """
        self._git("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch)

    def patch(self) -> bytes:
        """What differs from the base, as a patch with renames and binary files."""
        options = ("-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "-M")
        return self._git("diff-index", "--cached", *options, "--no-color", "main")

    def changes(self) -> tuple[Change, ...]:
        """What differs from the base, with whole contents, sorted by path."""
        raw = self._git("diff-index", "--cached", "-r", "-z", "--no-renames", "main")
        return read_changes(raw, self._snapshot.git_dir, self._env)

    def _git(self, *args: str, stdin: bytes = b"") -> bytes:
        return run_git(*args, git_dir=self._snapshot.git_dir, env=self._env, stdin=stdin)

    def _store(self, content: bytes) -> str:
        sha = blob_sha(content)
        target = self._objects / sha[:2] / sha[2:]
        if target.exists():
            return sha
        header = b"blob %d\0" % len(content)
        try:
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(zlib.compress(header + content, 1))
        except OSError as error:
            raise state_error(error, target) from None
        return sha


def read_changes(
    raw: bytes, git_dir: Path, env: dict[str, str] | None = None
) -> tuple[Change, ...]:
    """Changes from git's raw diff format (`--raw -z --no-renames`), contents read from git."""
    fields = raw.split(b"\0")[:-1]
    found = []
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        before, after, _, sha, _ = head.removeprefix(b":").decode().split()
        found.append((path, int(before, 8), int(after, 8), sha))
    found.sort()
    contents = read_blobs(git_dir, [sha for _, _, after, sha in found if after], env)
    return tuple(
        Change(
            path=path,
            mode=canonical_mode(after) if after else None,
            content=next(contents) if after else None,
            base_mode=canonical_mode(before) if before else None,
        )
        for path, before, after, _ in found
    )
