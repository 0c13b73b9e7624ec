"""The golden patch of a task, resolved and checked against its hash (SPEC T2)."""

import hashlib
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nanobench.errors import HashMismatchError, InvalidInputError
from nanobench.model.task import PatchSource, Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.changes import Change
from nanobench.workspace.git import GitError, run_git
from nanobench.workspace.index import PrivateIndex, read_changes
from nanobench.workspace.paths import display
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.tree import SUBMODULE

_FIELD = "ground_truth_patch"
# git shortens the blob names of text files by the size of the repository it runs in, so the
# same patch has one hash per length.
_ABBREVIATIONS = (*range(7, 17), 40)


@dataclass(frozen=True)
class Golden:
    """What the merged pull request did.

    Args:
        patch: the unified diff, as its hash was taken or as the task file holds it.
        changes: base -> golden state, whole contents, sorted by path.
    """

    patch: bytes
    changes: tuple[Change, ...]


def resolve_golden(task: Task, snapshot: Snapshot, cache: ObjectCache) -> Golden:
    """The golden patch and the changes it makes to the base commit.

    Raises:
        HashMismatchError: the patch does not have the hash that the task states.
        InvalidInputError: it does not apply to the base, starts from another commit, or
            changes submodules.
        RepositoryError: the commits cannot be had.
    """
    source = task.ground_truth_patch
    if isinstance(source, PatchSource):
        golden = _from_commits(task, source, cache)
    else:
        golden = _from_text(task, source, snapshot)
    modules = [change.path for change in golden.changes if change.mode == SUBMODULE]
    if modules or not golden.changes:
        raise InvalidInputError(
            f"the golden patch changes the submodule {display(modules[0])}"
            if modules
            else "the golden patch changes nothing",
            where=_where(task),
            remedy="choose another pull request, or retire the task",
        )
    return golden


def patch_to_pin(git_dir: Path, base: str, merge: str) -> bytes:
    """The patch whose SHA-256 a task states: what `git diff --binary base merge` prints there.

    Where git needs names of several lengths to tell blobs apart, no other repository is sure to
    print the same; it is then the patch with full names (`--full-index`).
    """
    printed = run_git("diff", "--binary", base, merge, git_dir=git_dir)
    full = _full(git_dir, base, merge)
    return printed if printed in _abbreviated(full) else full


def _full(git_dir: Path, base: str, merge: str) -> bytes:
    return run_git("diff", "--binary", "--full-index", base, merge, git_dir=git_dir)


def _where(task: Task) -> str:
    return f"task {task.task_id}, {_FIELD}"


def _from_text(task: Task, text: str, snapshot: Snapshot) -> Golden:
    patch = text.encode()
    if not patch.endswith(b"\n"):
        patch += b"\n"
    with tempfile.TemporaryDirectory() as scratch:
        index = PrivateIndex(snapshot, Path(scratch))
        try:
            index.apply(patch)
        except GitError as error:
            raise InvalidInputError(
                f"the golden patch does not apply to the base commit: {error.what}",
                where=_where(task),
                remedy="make it with `git diff --binary BASE MERGE`",
            ) from None
        return Golden(patch, index.changes())


def _from_commits(task: Task, source: PatchSource, cache: ObjectCache) -> Golden:
    if source.base != task.base_commit:
        raise InvalidInputError(
            f"the golden patch starts at {source.base}, the task at {task.base_commit}",
            where=f"{_where(task)}.base",
            remedy="base_commit and the patch's base have to be the same commit",
        )
    commits = (source.base, source.merge)

    def read(repository: Path) -> Golden:
        patch = _hashed(task, source, _full(repository, *commits))
        raw = run_git("diff-tree", "-r", "-z", "--no-renames", *commits, git_dir=repository)
        return Golden(patch, read_changes(raw, repository))

    return cache.reading(task.repo_url, commits, read)


def _hashed(task: Task, source: PatchSource, full: bytes) -> bytes:
    """The form of the patch that has the stated hash."""
    found = ""
    for patch in _abbreviated(full):
        digest = hashlib.sha256(patch).hexdigest()
        if digest == source.sha256:
            return patch
        found = found or digest
    raise HashMismatchError(
        f"the golden patch has the SHA-256 {found}, the task states {source.sha256}",
        where=f"{_where(task)}.sha256",
        remedy=(
            f"compare with `git diff --binary {source.base} {source.merge} | sha256sum`; "
            "a published task's hash never changes"
        ),
    )


def _abbreviated(full: bytes) -> Iterator[bytes]:
    for length in _ABBREVIATIONS:
        name = rb"([0-9a-f]{%d})[0-9a-f]*" % length
        line = re.compile(
            rb"^index %s\.\.%s(?=( [0-7]+)?\n(?!GIT binary patch))" % (name, name), re.M
        )
        yield line.sub(rb"index \1..\2", full)
