"""A clone on disk, read through a view of its objects that obeys nothing of its configuration.

Local settings, attributes and hooks of a clone can change a diff or run commands. The view is an
empty bare repository that borrows the clone's objects, so that the same commits give the same
bytes everywhere, and nothing that the clone names is run.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from nanobench.errors import InvalidInputError, RepositoryError
from nanobench.workspace.git import GitError, read_blobs, run_git

_SHA = re.compile(r"[0-9a-f]{40}")
# A partial clone must not fetch behind our back.
_NO_FETCH = {"GIT_NO_LAZY_FETCH": "1"}
_FIELDS = "%H%x00%P%x00%cI%x00%B%x00%x00"
_MERGE = re.compile(r"Merge pull request #([1-9][0-9]*) ")
_PULL = re.compile(rf"\(#([1-9][0-9]*)\)\s*$|^{_MERGE.pattern}")


@dataclass(frozen=True)
class Commit:
    """A commit; `committed_at` is the committer's date, ISO 8601 with its zone."""

    sha: str
    parents: tuple[str, ...]
    committed_at: str
    message: str

    @property
    def moment(self) -> datetime:
        """`committed_at`, to compare with."""
        return datetime.fromisoformat(self.committed_at)

    @property
    def subject(self) -> str:
        """The first line."""
        return self.message.strip().partition("\n")[0]

    @property
    def title(self) -> str:
        """The subject, or what stands below the line that GitHub writes over a merge."""
        below = self.message.strip().partition("\n")[2].strip()
        return below.partition("\n")[0] if _MERGE.match(self.subject) and below else self.subject

    @property
    def pull(self) -> int | None:
        """The pull request's number, as GitHub writes it into the subject of what it merges."""
        found = _PULL.search(self.subject)
        return int(found[1] or found[2]) if found else None


class Clone:
    """Commits, trees and files of a clone."""

    def __init__(self, path: Path, git_dir: Path, view: Path) -> None:
        self.path = path
        self.git_dir = git_dir
        self.view = view

    def refuse_shallow(self, missing: str) -> None:
        """Refuse a clone without its whole history.

        Args:
            missing: what of it the caller needs, for people.

        Raises:
            RepositoryError: the clone is shallow.
        """
        if (self.view / "shallow").is_file():
            raise RepositoryError(
                f"the clone is shallow: {missing} may be missing from it",
                where=str(self.path),
                remedy="fetch everything with `git fetch --unshallow --tags`",
            )

    def resolve(self, revision: str) -> str:
        """The full SHA-1 of a commit named by any revision of the clone.

        Raises:
            InvalidInputError: there is no such commit.
        """
        wanted = f"{revision}^{{commit}}"
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        try:
            found = run_git(*args, git_dir=self.git_dir, env=_NO_FETCH).decode().strip()
        except GitError:
            found = ""
        if not _SHA.fullmatch(found):
            raise InvalidInputError(
                f"the clone has no commit {revision!r}",
                where=str(self.path),
                remedy="fetch it into the clone, or name it by its SHA",
            )
        return found

    def commit(self, sha: str) -> Commit:
        """A commit by its full SHA-1.

        Raises:
            RepositoryError: the clone lacks it.
        """
        return next(self._log("--max-count=1", sha))

    def first_parents(self, head: str) -> Iterator[Commit]:
        """The commits of a branch, newest first; of a merge only the side it was made on.

        Raises:
            RepositoryError: the clone lacks a commit.
        """
        yield from self._log("--first-parent", head)

    def tree(self, commit: str) -> dict[bytes, str]:
        """Path to blob SHA-1 of all files; submodules are not among them."""
        listing = self.git("ls-tree", "-r", "-z", "--full-tree", commit)
        found = {}
        for line in listing.split(b"\0")[:-1]:
            head, path = line.split(b"\t", 1)
            _, kind, sha = head.split()
            if kind == b"blob":
                found[path] = sha.decode()
        return found

    def submodules(self, commit: str) -> list[bytes]:
        """Paths of the submodules."""
        lines = self.git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
        return [line.split(b"\t", 1)[1] for line in lines if line.startswith(b"160000 ")]

    def blobs(self, shas: Sequence[str]) -> list[bytes]:
        """The contents of blobs.

        Raises:
            RepositoryError: the clone lacks one.
        """
        return list(read_blobs(self.view, shas, _NO_FETCH))

    def sizes(self, shas: Sequence[str]) -> list[int]:
        """The lengths of blobs, in bytes.

        Raises:
            RepositoryError: the clone lacks one.
        """
        wanted = "".join(f"{sha}\n" for sha in shas).encode()
        lines = self.git("cat-file", "--batch-check", stdin=wanted).splitlines()
        for line in lines:
            if len(line.split()) != 3:
                raise RepositoryError(
                    f"object {line.split()[0].decode()} is missing",
                    where=str(self.path),
                    remedy="clone the repository whole, without --filter",
                )
        return [int(line.split()[2]) for line in lines]

    def origin(self) -> str | None:
        """The URL that the clone was made from."""
        config = _common(self.git_dir) / "config"
        if not config.is_file():
            return None
        try:
            found = run_git("config", "--file", str(config), "--get", "remote.origin.url")
        except GitError:
            return None
        return found.decode(errors="replace").strip() or None

    def git(self, *args: str, stdin: bytes = b"") -> bytes:
        """git on the view.

        Raises:
            RepositoryError: git ended with an error.
        """
        try:
            return run_git(*args, git_dir=self.view, env=_NO_FETCH, stdin=stdin)
        except GitError as error:
            raise RepositoryError(
                error.what,
                where=str(self.path),
                remedy="clone the repository whole, without --depth and --filter",
            ) from None

    def _log(self, *args: str) -> Iterator[Commit]:
        # Not `-z`, which would end a message at its own NUL: the fields bring theirs.
        options = ("--no-show-signature", "--encoding=UTF-8", f"--format=tformat:{_FIELDS}")
        output = self.git("log", *options, *args).decode(errors="replace")
        for block in output.split("\0\0\n")[:-1]:
            sha, parents, moment, message = block.split("\0", 3)
            yield Commit(sha, tuple(parents.split()), moment, message)


@contextmanager
def open_clone(path: Path) -> Iterator[Clone]:
    """A clone, bare or with a work tree, for as long as the context lasts.

    Raises:
        InvalidInputError: the path is no clone.
    """
    git_dir = _git_dir(path)
    common = _common(git_dir)
    objects = (common / "objects").resolve()
    if "\n" in str(objects):
        raise InvalidInputError("the path holds a line break", where=str(path))
    with TemporaryDirectory(prefix="nanobench-clone-") as directory:
        view = Path(directory)
        run_git("init", "--quiet", "--bare", "--template=", str(view))
        (view / "objects/info").mkdir(exist_ok=True)
        (view / "objects/info/alternates").write_text(f"{objects}\n")
        if (common / "shallow").is_file():
            shutil.copyfile(common / "shallow", view / "shallow")
        yield Clone(path, git_dir, view)


def _git_dir(path: Path) -> Path:
    """The git directory; a clone is never looked for above the path."""
    inner = path / ".git"
    if inner.is_file():  # a linked work tree, or a submodule
        text = inner.read_text(errors="replace")
        inner = path / text.removeprefix("gitdir:").strip()
    found = inner if inner.is_dir() else path
    if not (found / "HEAD").is_file() or not (_common(found) / "objects").is_dir():
        raise InvalidInputError(
            "this is no clone of a git repository",
            where=str(path),
            remedy="clone the repository with `git clone URL` and name that directory",
        )
    return found


def _common(git_dir: Path) -> Path:
    """Where objects and settings lie; a linked work tree shares its main one's."""
    link = git_dir / "commondir"
    return git_dir / link.read_text().strip() if link.is_file() else git_dir
