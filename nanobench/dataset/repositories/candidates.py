"""Which merged changes could be tasks, ranked by fixed rules. Software ranks, a person picks."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from nanobench.dataset.clone import Clone
from nanobench.dataset.extract.origin import Origin
from nanobench.dataset.repositories.history import MergedChange, change_with_tests, merged_pulls
from nanobench.errors import RepositoryError

FEWEST_FILES: Final = 2
MOST_FILES: Final = 15
_WORDS = 20
_TEST_LINES = 10
_SOURCE_LINES = (20, 400)


def _between(low: int, value: int, high: int) -> bool:
    return low <= value <= high


@dataclass(frozen=True)
class Rule:
    """Points for a change of which `holds` is true."""

    points: int
    words: str
    holds: Callable[[MergedChange], bool]


RULES: Final = (
    Rule(2, "sources in two languages", lambda c: len(c.languages("source")) > 1),
    Rule(2, "sources in three languages", lambda c: len(c.languages("source")) > 2),
    Rule(2, "tests in two languages", lambda c: len(c.languages("test")) > 1),
    Rule(2, "five or more required files", lambda c: len(c.required) >= 5),
    Rule(2, f"{_TEST_LINES} or more lines of tests", lambda c: c.lines("test") >= _TEST_LINES),
    Rule(
        1,
        f"{_SOURCE_LINES[0]} to {_SOURCE_LINES[1]} lines of sources",
        lambda c: _between(_SOURCE_LINES[0], c.lines("source"), _SOURCE_LINES[1]),
    ),
    Rule(1, "the subject says that it mends something", lambda c: c.fix),
    Rule(
        1,
        f"{_WORDS} or more words below the subject",
        lambda c: len(c.commit.message.strip().partition("\n")[2].split()) >= _WORDS,
    ),
)
LISTED: Final = (
    f"merged pull requests with sources and tests, {FEWEST_FILES} to {MOST_FILES} required files, "
    "no submodule; most points first, then the newest"
)


@dataclass(frozen=True)
class Candidate:
    """A change, and the rules that gave it points."""

    change: MergedChange
    rules: tuple[Rule, ...]

    @property
    def points(self) -> int:
        """Their sum."""
        return sum(rule.points for rule in self.rules)

    def row(self, origin: Origin) -> dict[str, Any]:
        """What a list shows of it."""
        commit = self.change.commit
        return {
            "commit": commit.sha,
            "base": self.change.base,
            "pr_url": origin.pull_url(commit.pull),
            "pull": commit.pull,
            "merged_at": commit.committed_at,
            "title": commit.title,
            "required_files": len(self.change.required),
            "languages": self.change.languages("source"),
            "test_languages": self.change.languages("test"),
            "source_lines": self.change.lines("source"),
            "test_lines": self.change.lines("test"),
            "points": self.points,
            "rules": [rule.words for rule in self.rules],
        }


@dataclass(frozen=True)
class Ranking:
    """The candidates of a branch, best first.

    Args:
        merged: how many pull requests were looked at.
        unread: how many of these change files that the clone lacks.
    """

    candidates: tuple[Candidate, ...]
    merged: int
    unread: int


def rank_candidates(clone: Clone, head: str, since: datetime) -> Ranking:
    """Look at what was merged into a branch since a moment.

    Raises:
        RepositoryError: the clone lacks commits, or the files of every change.
    """
    found, unread = [], list[RepositoryError]()
    pulls = list(merged_pulls(clone, head, since))
    for commit in pulls:
        try:
            change = change_with_tests(clone, commit)
        except RepositoryError as error:
            unread.append(error)
            continue
        if change is not None and _between(FEWEST_FILES, len(change.required), MOST_FILES):
            found.append(Candidate(change, tuple(rule for rule in RULES if rule.holds(change))))
    if unread and len(unread) == len(pulls):
        raise unread[0]
    # Newest first within the same points: the sort keeps the branch's order.
    ranked = sorted(found, key=lambda candidate: -candidate.points)
    return Ranking(tuple(ranked), len(pulls), len(unread))
