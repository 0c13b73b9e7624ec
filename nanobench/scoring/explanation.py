"""Why a run has its verdict: every question that was asked of its signals, and the answers.

`judge` decides; this only tells. Both read the same tables, and a test holds for every run that
they agree.
"""

from pydantic import Field

from nanobench.model.base import Document
from nanobench.model.plan import Ruleset
from nanobench.model.signals import Signals
from nanobench.model.verdict import Category, Level, Verdict
from nanobench.scoring import reasons
from nanobench.scoring.case import Case
from nanobench.scoring.clauses import SOLVED, Clause
from nanobench.scoring.infrastructure import Policy, asks_for_response, causes, decisive
from nanobench.scoring.judge import judge
from nanobench.scoring.rules import RULES, Rule
from nanobench.scoring.rulesets import RULESETS


class Answer(Document):
    """One part of a condition: whether it holds, and what was seen."""

    condition: str
    holds: bool
    seen: str


class RuleAnswer(Document):
    """A rule, asked whatever came before it."""

    rule: int
    category: Category | None
    level: Level
    holds: bool
    decides: bool = Field(description="the verdict is this rule's")
    answers: tuple[Answer, ...]


class Explanation(Document):
    """The four steps of docs/taxonomy.md for one run.

    A run that is infrastructure or has no failing test is not judged by rules; then `rules_asked`
    is false, and the rules only show what they would have said.
    """

    verdict: Verdict
    meaning: str | None = Field(description="of the verdict's reason")
    infrastructure: tuple[Answer, ...] = Field(
        description="the causes that hold, the deciding one first; else why the run is graded"
    )
    solved: tuple[Answer, ...]
    rules_asked: bool
    rules: tuple[RuleAnswer, ...]


def explain(signals: Signals, ruleset: Ruleset) -> Explanation:
    """Judge one run, and say why.

    Raises:
        InvalidInputError: as `judge`.
    """
    verdict = judge(signals, ruleset)
    case = Case(signals, RULESETS[ruleset])
    asked = verdict.outcome == "graded" and not case.tree_passes
    first = next((rule for rule in RULES if rule.holds(case)), None) if asked else None
    return Explanation(
        verdict=verdict,
        meaning=_meaning(verdict),
        infrastructure=_infrastructure(case),
        solved=_answers(SOLVED, case),
        rules_asked=asked,
        rules=tuple(_rule_answer(rule, case, rule is first) for rule in RULES),
    )


def _rule_answer(rule: Rule, case: Case, decides: bool) -> RuleAnswer:
    return RuleAnswer(
        rule=rule.number,
        category=rule.category,
        level=rule.level,
        holds=rule.holds(case),
        decides=decides,
        answers=_answers(rule.condition, case),
    )


def _answers(clauses: tuple[Clause, ...], case: Case) -> tuple[Answer, ...]:
    return tuple(
        Answer(condition=clause.text, holds=clause.holds(case), seen=clause.seen(case))
        for clause in clauses
    )


def _infrastructure(case: Case) -> tuple[Answer, ...]:
    found = tuple(
        Answer(
            condition=reasons.INFRASTRUCTURE[cause.reason],
            holds=True,
            seen="; ".join(cause.evidence) or cause.reason,
        )
        for cause in causes(case)
    )
    policy, word = decisive(case)
    graded = Answer(
        condition="trouble of the machine, the network or the provider",
        holds=False,
        seen=f"{word}: {_why_graded(case, policy)}",
    )
    return found or (graded,)


def _why_graded(case: Case, policy: Policy) -> str:
    why = [
        *(["nothing was edited"] if policy == "rate_limit" else []),
        *(["the model had answered"] if asks_for_response(case) else []),
    ]
    return f"graded, since {' and '.join(why)}" if why else "graded"


def _meaning(verdict: Verdict) -> str | None:
    if verdict.reason is None:
        return None
    if verdict.outcome == "infrastructure_error":
        return reasons.INFRASTRUCTURE[verdict.reason]
    return {**reasons.UNCLASSIFIED_REASONS, **reasons.LIMITS, **reasons.HALTED}[verdict.reason]
