"""Merged changes of a branch, as scores and candidates look at them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from nanobench.dataset.changes import ChangedFile, changed_files
from nanobench.dataset.clone import Clone, Commit
from nanobench.dataset.extract.extraction import required_files

_MENDS = re.compile(r"\b(fix(e[sd]|ing)?|bug(s|fix)?|regression)\b", re.I)


@dataclass(frozen=True)
class MergedChange:
    """A pull request that was merged or squashed into the branch."""

    commit: Commit
    files: tuple[ChangedFile, ...]

    @property
    def base(self) -> str:
        """The commit that it was merged onto."""
        return self.commit.parents[0]

    @property
    def fix(self) -> bool:
        """Whether the subject says that it mends something."""
        return _MENDS.search(self.commit.subject) is not None

    @property
    def required(self) -> list[str]:
        """What a task made of it would require."""
        return required_files(self.files)

    def languages(self, kind: str) -> list[str]:
        """Languages of its files of a kind, sorted."""
        found = (file.language for file in self.files if file.kind == kind)
        return sorted({language for language in found if language is not None})

    def lines(self, kind: str) -> int:
        """Lines that it adds to or removes from files of a kind."""
        return sum(file.added + file.removed for file in self.files if file.kind == kind)


def merged_pulls(clone: Clone, head: str, since: datetime | None = None) -> Iterator[Commit]:
    """Merged pull requests, newest first: commits of the branch whose subject names one.

    A number that several commits have is of none of them: the pull request was merged commit by
    commit, or the number is an issue's or another repository's.

    Args:
        since: leave out those committed before.

    Raises:
        RepositoryError: the clone is shallow, so that a part of them is missing.
    """
    clone.refuse_shallow("merged pull requests")
    commits = list(clone.first_parents(head))
    named = Counter(commit.pull for commit in commits)
    for commit in commits:
        recent = since is None or commit.moment >= since
        if commit.pull is not None and named[commit.pull] == 1 and commit.parents and recent:
            yield commit


def changes_with_tests(clone: Clone, head: str) -> Iterator[MergedChange]:
    """Those that edit sources and tests, and no submodule.

    Raises:
        RepositoryError: the clone lacks objects.
    """
    for commit in merged_pulls(clone, head):
        change = change_with_tests(clone, commit)
        if change is not None:
            yield change


def change_with_tests(clone: Clone, commit: Commit) -> MergedChange | None:
    """What a merged pull request did; null without sources or tests, or with a submodule.

    Raises:
        RepositoryError: the clone lacks objects.
    """
    files = changed_files(clone, commit.parents[0], commit.sha)
    kinds = Counter(file.kind for file in files)
    fits = kinds["source"] and kinds["test"] and not kinds["submodule"]
    return MergedChange(commit, files) if fits else None
