"""The failure taxonomy (SPEC 7): an ordered table of rules, of which the first that holds wins.

A rule holds when all clauses of its condition do. Conditions are independent of each other and
of the score; a solved run is never asked.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nanobench.model.verdict import Category, Level, RuleMatch
from nanobench.scoring import clauses
from nanobench.scoring.case import Case, name_some
from nanobench.scoring.clauses import Clause
from nanobench.scoring.content import content_finding

Evidence = tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """A row of the table.

    Attributes:
        number: 1 to 6; rule 2 has one row for each mode.
        category: null for the Zero Signal of hinted mode.
        level: the confidence level of its evidence.
        condition: all of it must hold.
        evidence: the facts of a run for which it holds.
    """

    number: int
    category: Category | None
    level: Level
    condition: tuple[Clause, ...]
    evidence: Callable[[Case], Evidence]

    def holds(self, case: Case) -> bool:
        """Whether the condition does."""
        return clauses.holds(self.condition, case)

    @property
    def text(self) -> str:
        """The condition in words."""
        return ", ".join(clause.text for clause in self.condition)


def matching_rules(case: Case) -> tuple[RuleMatch, ...]:
    """Every rule that holds, in the order of precedence."""
    return tuple(
        RuleMatch(
            rule=rule.number,
            category=rule.category,
            level=rule.level,
            evidence=rule.evidence(case),
        )
        for rule in RULES
        if rule.holds(case)
    )


def _halted(case: Case) -> Evidence:
    return (f"ended on: {case.ended_on}", "edited nothing")


def _nothing_required(case: Case) -> Evidence:
    required = len(case.signals.required_files)
    if not case.edited:
        return ("edited nothing", f"required files: {required}")
    return (
        f"edited {len(case.edited)}, none of the {required} required: {name_some(case.edited)}",
    )


def _by_content(case: Case) -> Evidence:
    finding = content_finding(case)
    return finding.evidence if finding else ()


def _partly(case: Case) -> Evidence:
    return (clauses.share(case), clauses.edited_required(case), *_what_keeps_it_unsolved(case))


def _what_keeps_it_unsolved(case: Case) -> Evidence:
    regressed, unwell = clauses.regressed(case), clauses.unwell(case)
    facts = []
    if regressed:
        facts.append(f"{len(regressed)} regressed: {name_some(regressed)}")
    if unwell:
        facts.append(f"suites that did not end well: {name_some(unwell)}")
    return tuple(facts)


def _split(case: Case) -> Evidence:
    full, failing = clauses.split_languages(case)
    return (f"passes fully: {name_some(full)}", f"fails: {name_some(failing)}")


RULES: tuple[Rule, ...] = (
    Rule(1, "context_window_exceeded", "3 process", clauses.RULE_1, _halted),
    Rule(
        2,
        "insufficient_context_read",
        "1 structural",
        clauses.RULE_2_NAVIGATION,
        _nothing_required,
    ),
    Rule(2, None, "1 structural", clauses.RULE_2_HINTED, _nothing_required),
    Rule(3, "hallucinated_api", "4 content", clauses.RULE_3, _by_content),
    Rule(4, "wrong_abstraction_layer", "4 content", clauses.RULE_4, _by_content),
    Rule(5, "partial_fix_only", "1 + 2", clauses.RULE_5, _partly),
    Rule(6, "missing_cross_language_change", "1 structural", clauses.RULE_6, _split),
)
