"""Which merged changes could be tasks, ranked by fixed rules. Software ranks, a person picks."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from nanobench.dataset.clone import Clone
from nanobench.dataset.extract.origin import Origin
from nanobench.dataset.repositories.history import MergedChange, changes_with_tests

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
            "subject": commit.subject,
            "required_files": len(self.change.required),
            "languages": self.change.languages("source"),
            "test_languages": self.change.languages("test"),
            "source_lines": self.change.lines("source"),
            "test_lines": self.change.lines("test"),
            "points": self.points,
            "rules": [rule.words for rule in self.rules],
        }


def rank_candidates(clone: Clone, head: str, since: datetime) -> list[Candidate]:
    """The candidates of a branch, best first.

    Raises:
        RepositoryError: the clone lacks objects.
    """
    found = [
        Candidate(change, tuple(rule for rule in RULES if rule.holds(change)))
        for change in changes_with_tests(clone, head, since)
        if _between(FEWEST_FILES, len(change.required), MOST_FILES)
    ]
    # Newest first within the same points: the sort keeps the branch's order.
    return sorted(found, key=lambda candidate: -candidate.points)
