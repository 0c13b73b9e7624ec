"""Holding what people say against what the rules said."""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import get_args

from nanobench.audit.answers import Answers
from nanobench.model.audit import (
    Agreement,
    AuditedCategory,
    AuditKey,
    AuditLabel,
    AuditScore,
    ReviewerAgreement,
)
from nanobench.stats.agreement import cohens_kappa
from nanobench.stats.wilson import wilson


def score_audit(key: AuditKey, answers: Sequence[Answers]) -> AuditScore:
    """Agreement over all, by language, of each reviewer with the rules, and between reviewers.

    An item counts once, by the share of its reviewers who agree with the rules; `neither` and
    `cannot_tell` do not agree. An item that nobody labelled counts nowhere and is named.
    """
    truth = {entry.item: entry.category for entry in key.entries}
    language = {entry.item: entry.language for entry in key.entries}
    shares = {item: _share(item, truth[item], answers) for item in truth}
    judged = {item: share for item, share in shares.items() if share is not None}
    return AuditScore(
        bundle=key.bundle,
        ruleset=key.ruleset,
        overall=_agreement(judged.values()),
        languages={
            name: _agreement(share for item, share in judged.items() if language[item] == name)
            for name in sorted({language[item] for item in judged})
        },
        reviewers=tuple(_reviewer(truth, one) for one in answers),
        between_reviewers={
            f"{one.reviewer}, {other.reviewer}": _between(one, other)
            for one, other in combinations(answers, 2)
        },
        unanswered={
            one.reviewer: missing
            for one in answers
            if (missing := tuple(item for item in sorted(truth) if item not in one.labels))
        },
    )


def _share(item: str, category: AuditedCategory, answers: Iterable[Answers]) -> Fraction | None:
    given = [one.labels[item] for one in answers if item in one.labels]
    return Fraction(sum(label == category for label in given), len(given)) if given else None


def _agreement(shares: Iterable[Fraction]) -> Agreement:
    """Wilson's interval over the items: two answers to one item are not two observations.

    Fractions, since thirds that are added up as floats may miss the 90 % that they reach.
    """
    values = list(shares)
    agreed = sum(values, Fraction())
    low, high = wilson(float(agreed), len(values))
    rate = float(agreed / len(values))
    return Agreement(agreed=float(agreed), items=len(values), rate=rate, low=low, high=high)


def _reviewer(truth: dict[str, AuditedCategory], answers: Answers) -> ReviewerAgreement:
    items = sorted(answers.labels)
    rules: list[AuditedCategory] = [truth[item] for item in items]
    labels = [answers.labels[item] for item in items]
    counted = Counter(zip(rules, labels, strict=True))
    categories: tuple[AuditedCategory, ...] = get_args(AuditedCategory)
    possible: tuple[AuditLabel, ...] = get_args(AuditLabel)
    return ReviewerAgreement(
        reviewer=answers.reviewer,
        agreement=_agreement(
            Fraction(rule == label) for rule, label in zip(rules, labels, strict=True)
        ),
        kappa=cohens_kappa(rules, labels),
        confusion={
            category: {label: counted[category, label] for label in possible}
            for category in categories
        },
    )


def _between(one: Answers, other: Answers) -> float | None:
    items = sorted(one.labels.keys() & other.labels.keys())
    return cohens_kappa(
        [one.labels[item] for item in items], [other.labels[item] for item in items]
    )
