"""The five axes of a repository's score (SPEC 4, R0), each with what it was computed from."""

import posixpath
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from itertools import islice
from statistics import median_low
from typing import Final

from nanobench.dataset.changes import path_kind
from nanobench.dataset.clone import Clone
from nanobench.dataset.extract.origin import Origin
from nanobench.dataset.extract.tree import Tree
from nanobench.dataset.repositories.history import MergedChange, changes_with_tests, merged_pulls
from nanobench.dataset.tokens import TOKENIZER, tokens_of_bytes
from nanobench.errors import InvalidInputError
from nanobench.model.registry import (
    Activity,
    ChangeEvidence,
    ContextPressure,
    DependencyDepth,
    LanguageBreadth,
    Novelty,
    ScoredRepository,
)

ACTIVE_SINCE: Final = datetime(2026, 5, 1, tzinfo=UTC)
BREADTH_SAMPLE: Final = 50
DEPTH_SAMPLE: Final = 5
_TYPICAL_SHARE: Final = Fraction(1, 10)
_MOST_POINTS: Final = 4
_DAYS_PER_MONTH: Final = Fraction(146097, 4800)  # of the Gregorian calendar


def score_repository(
    clone: Clone, head: str, origin: Origin, domain: str, novelty: Novelty
) -> ScoredRepository:
    """Score a repository at one commit; the same commit gives the same score for ever.

    Args:
        head: full SHA-1 of a commit of the main branch.

    Raises:
        InvalidInputError: too few merged changes have sources and tests.
        RepositoryError: the clone lacks objects.
    """
    recent = list(islice(changes_with_tests(clone, head), BREADTH_SAMPLE))
    if len(recent) < DEPTH_SAMPLE:
        raise InvalidInputError(
            f"only {len(recent)} merged pull requests edit sources and tests; "
            f"{DEPTH_SAMPLE} are needed",
            where=f"{clone.path}, commit {head}",
            remedy="score a clone with its history, at a commit of the main branch",
        )
    changes = [_evidence(clone, change) for change in _typical(recent)]
    languages, depth = _languages(recent), _depth(changes)
    activity, context = _activity(clone, head), _context(changes)
    axes = (languages, depth, activity, novelty, context)
    return ScoredRepository(
        repo=origin.repo,
        repo_url=origin.url,
        domain=domain,
        commit=head,
        languages=languages,
        depth=depth,
        activity=activity,
        novelty=novelty,
        context=context,
        changes=tuple(changes),
        total=sum(axis.points for axis in axes),
    )


def _typical(recent: Sequence[MergedChange]) -> list[MergedChange]:
    """The newest that mend something, filled up with the newest others; newest first."""
    chosen = sorted(recent, key=lambda change: not change.fix)[:DEPTH_SAMPLE]
    return [change for change in recent if change in chosen]


def _languages(recent: Sequence[MergedChange]) -> LanguageBreadth:
    edits = Counter(language for change in recent for language in change.languages("source"))
    counted = sorted(name for name, count in edits.items() if count >= _TYPICAL_SHARE * len(recent))
    return LanguageBreadth(
        points=min(_MOST_POINTS, len(counted)),
        sample=len(recent),
        changes=dict(sorted(edits.items())),
        counted=tuple(counted),
    )


def _depth(changes: Sequence[ChangeEvidence]) -> DependencyDepth:
    mean = Fraction(sum(change.files for change in changes), len(changes))
    return DependencyDepth(points=min(_MOST_POINTS, int(mean)), mean_files=round(float(mean), 2))


def _activity(clone: Clone, head: str) -> Activity:
    until = clone.commit(head).moment
    merged = sum(1 for _ in merged_pulls(clone, head, ACTIVE_SINCE))
    seconds = max(int((until - ACTIVE_SINCE).total_seconds()), 0)
    months = Fraction(seconds, 86400) / _DAYS_PER_MONTH
    rate = merged / max(months, Fraction(1))
    return Activity(
        points=4 if rate >= 2 else 2 if rate >= 1 else 0,
        merged=merged,
        since=ACTIVE_SINCE,
        until=until,
        months=round(float(months), 2),
        per_month=round(float(rate), 2),
    )


def _context(changes: Sequence[ChangeEvidence]) -> ContextPressure:
    tokens = median_low(change.context_tokens for change in changes)
    points = 4 if tokens > 80_000 else 3 if tokens >= 50_000 else 2 if tokens >= 20_000 else 0
    return ContextPressure(points=points, median_tokens=tokens, tokenizer=TOKENIZER)


def _evidence(clone: Clone, change: MergedChange) -> ChangeEvidence:
    return ChangeEvidence(
        commit=change.commit.sha,
        pull=change.commit.pull,
        fix=change.fix,
        files=len(change.required),
        context_tokens=_context_tokens(clone, change),
    )


def _context_tokens(clone: Clone, change: MergedChange) -> int:
    """Tokens of the sources beside the edited ones: the packages that one has to understand."""
    tree = Tree.at(clone, change.base)
    directories = {posixpath.dirname(path) for path in change.required}
    beside = [
        sha
        for path, sha in tree.blobs.items()
        if posixpath.dirname(path) in directories and path_kind(path) == "source"
    ]
    return tokens_of_bytes(sum(clone.sizes(beside)))
