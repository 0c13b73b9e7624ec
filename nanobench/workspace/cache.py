"""Bare repositories, one per URL, that hold exactly the commits that were asked for."""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from nanobench.errors import InvalidInputError, RepositoryError
from nanobench.files import make_directory, state_error
from nanobench.workspace.git import GitError, run_git, without_credentials
from nanobench.workspace.teardown import remove_tree

T = TypeVar("T")

_SHA = re.compile(r"[0-9a-f]{40}")
# What a fetch that was killed leaves behind; under our lock nobody else is writing.
_LEFTOVERS = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/pack/.tmp-*")


class ObjectCache:
    """Commits of public repositories, fetched one by one without their history.

    A commit is pinned by the ref `refs/nanobench/<sha>`, so that nothing prunes it. One lock
    file per repository keeps processes and threads apart.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._checked: set[tuple[str, str]] = set()
        self._guard = threading.Lock()

    def ensure(self, url: str, commits: Sequence[str]) -> Path:
        """A bare git directory that holds these commits with their whole trees.

        Raises:
            InvalidInputError: a commit is not a full SHA-1.
            RepositoryError: the repository cannot be reached or lacks a commit.
            StateError: the cache cannot be written.
        """
        for commit in commits:
            if not _SHA.fullmatch(commit):
                raise InvalidInputError(
                    f"{commit!r} is not a full commit SHA-1 of 40 hexadecimal digits",
                    where=without_credentials(url),
                )
        repository = self._path(url)
        if self._is_checked(url, commits, repository):
            return repository
        with self._locked(repository):
            if repository.exists() and not self._holds_what_it_lists(repository):
                remove_tree(repository)
            missing = [commit for commit in commits if not _pinned(repository, commit)]
            if missing:
                self._fetch(url, repository, missing)
        with self._guard:
            self._checked.update((url, commit) for commit in commits)
        return repository

    def reading(self, url: str, commits: Sequence[str], read: Callable[[Path], T]) -> T:
        """What `read` makes of the git directory.

        When git fails in it, the repository is dropped, fetched anew, and read once more.

        Raises:
            RepositoryError: as `ensure`, or git failed twice.
        """
        repository = self.ensure(url, commits)
        try:
            return read(repository)
        except GitError:
            self.drop(url)
            return read(self.ensure(url, commits))

    def drop(self, url: str) -> None:
        """Forget a repository that proved to be broken."""
        repository = self._path(url)
        with self._guard:
            self._checked = {known for known in self._checked if known[0] != url}
        with self._locked(repository):
            remove_tree(repository)

    def _path(self, url: str) -> Path:
        name = re.sub(r"[^A-Za-z0-9]+", "-", url.rstrip("/").rpartition("/")[2])[:40].strip("-")
        return self.root / f"{name or 'repository'}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"

    def _is_checked(self, url: str, commits: Sequence[str], repository: Path) -> bool:
        with self._guard:
            known = all((url, commit) in self._checked for commit in commits)
        return known and repository.is_dir()

    @contextmanager
    def _locked(self, repository: Path) -> Iterator[None]:
        make_directory(self.root)
        try:
            lock = FileLock(self.root / f"{repository.name}.lock")
            lock.acquire()
        except OSError as error:
            raise state_error(error, self.root) from None
        try:
            yield
        finally:
            lock.release()

    @staticmethod
    def _holds_what_it_lists(repository: Path) -> bool:
        """Whether every pinned commit is there with its trees and blobs."""
        try:
            run_git("rev-parse", "--git-dir", git_dir=repository)
            pinned = run_git("for-each-ref", "--format=%(refname)^{tree}", git_dir=repository)
            run_git("fsck", "--connectivity-only", "--no-dangling", git_dir=repository)
            trees = run_git("cat-file", "--batch-check", git_dir=repository, stdin=pinned)
        except GitError:
            return False
        return all(line.split()[1:2] == [b"tree"] for line in trees.splitlines())

    def _fetch(self, url: str, repository: Path, commits: Sequence[str]) -> None:
        _clean(repository)
        try:
            make_directory(repository)
            run_git("init", "--quiet", "--bare", "--template=", git_dir=repository)
            run_git(
                "fetch",
                "--quiet",
                "--depth=1",
                "--no-tags",
                "--no-recurse-submodules",
                "--no-write-fetch-head",
                "--no-auto-gc",
                "--",
                url,
                *(f"{commit}:{_ref(commit)}" for commit in commits),
                git_dir=repository,
                user_config=True,
            )
        except BaseException as error:
            _clean(repository)
            if not any(repository.glob("refs/nanobench/*")):
                remove_tree(repository)
            if isinstance(error, GitError):
                raise _unreachable(url, commits, error) from None
            raise


def _ref(commit: str) -> str:
    return f"refs/nanobench/{commit}"


def _pinned(repository: Path, commit: str) -> bool:
    try:
        found = run_git("rev-parse", "--verify", "--quiet", _ref(commit), git_dir=repository)
    except GitError:
        return False
    return found.strip().decode() == commit


def _clean(repository: Path) -> None:
    for pattern in _LEFTOVERS:
        for leftover in repository.glob(pattern):
            remove_tree(leftover)


def _unreachable(url: str, commits: Sequence[str], error: GitError) -> RepositoryError:
    return RepositoryError(
        f"cannot fetch {', '.join(commits)}: {error.what}",
        where=without_credentials(url),
        remedy=(
            "check repo_url, the commit and your access with "
            f"`git fetch {without_credentials(url)} {commits[0]}`; if the history was "
            "rewritten, the task has to be retired"
        ),
    )
