"""An audit in a terminal."""

from collections.abc import Iterator
from typing import get_args

from nanobench.model.audit import (
    LEAST_AGREEMENT,
    Agreement,
    AuditScore,
    AuditStatus,
    ReviewerAgreement,
)
from nanobench.model.plan import Ruleset


def render_score(score: AuditScore) -> str:
    """One screen: over all, by language, by reviewer, and what was taken for what."""
    return "\n".join(_lines(score)) + "\n"


def render_status(status: AuditStatus) -> str:
    """For each ruleset the audit that counts, and what it means for reports."""
    rulesets: tuple[Ruleset, ...] = get_args(Ruleset)
    return "".join(f"ruleset {name}: {_standing(status, name)}\n" for name in rulesets)


def _standing(status: AuditStatus, ruleset: Ruleset) -> str:
    found = status.latest(ruleset)
    if found is None:
        return "never audited; the categories are reported as the rules give them"
    day = found.recorded_at.date().isoformat()
    return f"{day}, {_told(found.score.overall)}; {_consequence(found.score)}"


def _lines(score: AuditScore) -> Iterator[str]:
    yield f"agreement with the rules: {_told(score.overall)}"
    yield _consequence(score)
    for language, agreement in score.languages.items():
        yield f"  {language}: {_told(agreement)}"
    for one in score.reviewers:
        yield from _reviewer(one)
    for pair, kappa in score.between_reviewers.items():
        yield f"between {pair}: kappa {_kappa(kappa)}"
    for name, items in score.unanswered.items():
        yield f"not answered by {name!r}: {', '.join(items)}"


def _reviewer(one: ReviewerAgreement) -> Iterator[str]:
    yield f"{one.reviewer!r}: {_told(one.agreement)}, kappa {_kappa(one.kappa)}"
    for category, labels in one.confusion.items():
        given = ", ".join(f"{count} {label}" for label, count in labels.items() if count)
        yield f"  {category}: {given or 'none'}"


def _consequence(score: AuditScore) -> str:
    if score.holds:
        return "the two categories are reported apart"
    return (
        f"below {LEAST_AGREEMENT:.0%}: reports show hallucinated_api and wrong_abstraction_layer "
        "as implementation_error"
    )


def _told(one: Agreement) -> str:
    return f"{one.agreed:g} of {one.items}, {one.rate:.1%} ({one.low:.0%} to {one.high:.0%})"


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
