"""From signals to a verdict: pure, total, the same on every machine (SPEC P4)."""

from nanobench.errors import InvalidInputError
from nanobench.model.plan import Ruleset
from nanobench.model.signals import Signals
from nanobench.model.verdict import RuleMatch, Verdict
from nanobench.scoring.case import Case
from nanobench.scoring.infrastructure import Cause, asks_for_response, causes
from nanobench.scoring.reasons import unclassified_reason
from nanobench.scoring.rules import matching_rules
from nanobench.scoring.rulesets import RULESETS
from nanobench.scoring.scores import LABELS, score


def judge(signals: Signals, ruleset: Ruleset) -> Verdict:
    """Judge one run.

    Infrastructure is decided first, then whether the run is solved, then the first rule that
    holds.

    Raises:
        InvalidInputError: a verified run has no target test, so there is nothing to score.
    """
    case = Case(signals, RULESETS[ruleset])
    troubles = causes(case)
    if troubles:
        return _infrastructure(case, troubles)
    if not case.targets:
        raise InvalidInputError(
            "the run has no target test and cannot be scored",
            where="expected.fail_to_pass",
            remedy="run the task's verification gate, which writes `expected`",
        )
    if case.tree_passes:
        return _passing(case)
    return _failed(case, matching_rules(case))


def _passing(case: Case) -> Verdict:
    """Solved, or capped because a limit ended the agent: no category either way."""
    return _graded(
        case,
        reason=case.limit,
        evidence=(f"{case.passed} of {len(case.targets)} target tests pass",),
    )


def _failed(case: Case, matches: tuple[RuleMatch, ...]) -> Verdict:
    if not matches:
        return _graded(
            case,
            category="unclassified",
            reason=unclassified_reason(case),
            evidence=(f"{case.passed} of {len(case.targets)} target tests pass",),
        )
    first = matches[0]
    return _graded(
        case,
        category=first.category,
        rule=first.rule,
        level=first.level,
        reason=case.ended_on if first.rule == 1 else None,
        evidence=first.evidence,
        also_matched=matches[1:],
    )


def _graded(case: Case, **judgement: object) -> Verdict:
    points = score(case)
    return Verdict.model_validate(
        {
            "ruleset": case.ruleset.name,
            "outcome": "graded",
            "score": points,
            "label": LABELS[points],
            "solved": points == 1.0,
            "flags": _flags(case),
            **judgement,
        }
    )


def _infrastructure(case: Case, troubles: tuple[Cause, ...]) -> Verdict:
    reasons = {trouble.reason for trouble in troubles}
    unverified = {"verification_impossible", "control_failed", "control_missing", "edits_unknown"}
    verified = bool(case.targets) and not reasons & unverified
    return Verdict(
        ruleset=case.ruleset.name,
        outcome="infrastructure_error",
        score=None,
        label=None,
        solved=False,
        reason=troubles[0].reason,
        evidence=tuple(fact for trouble in troubles for fact in trouble.evidence),
        observed_score=score(case) if verified else None,
        flags=_flags(case),
    )


def _flags(case: Case) -> tuple[str, ...]:
    """What a reader of the verdict should know about the signals it rests on."""
    edits = case.signals.edits
    flags = {
        "edited_from_diff_without_report": case.ruleset.edits == "reported"
        and not case.reads_report,
        "edits_as_reported": case.ruleset.edits == "observed" and case.reads_report,
        "reported_edits_disagree": edits.source == "diff"
        and edits.reported is not None
        and bool(edits.observed_only or edits.reported_only),
        "model_responses_unknown": asks_for_response(case) and case.responded is None,
    }
    return tuple(name for name, raised in flags.items() if raised)
