"""The failure taxonomy (SPEC 7): an ordered table of rules, of which the first that holds wins.

A rule's condition gives the facts that make it hold, or None. Conditions are independent of
each other and of the score; a solved run is never asked.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nanobench.model.signals import SuiteSignals
from nanobench.model.verdict import Category, Level, RuleMatch
from nanobench.scoring.case import Case, name_some
from nanobench.scoring.content import ContentFinding, content_finding

Evidence = tuple[str, ...]
Condition = Callable[[Case], Evidence | None]


@dataclass(frozen=True)
class Rule:
    """A row of the table.

    Attributes:
        number: 1 to 6; rule 2 has one row for each mode.
        category: null for the Zero Signal of hinted mode.
        level: the confidence level of its evidence.
        condition: gives the evidence, or None where the rule does not hold.
    """

    number: int
    category: Category | None
    level: Level
    condition: Condition


def matching_rules(case: Case) -> tuple[RuleMatch, ...]:
    """Every rule that holds, in the order of precedence."""
    return tuple(
        RuleMatch(rule=rule.number, category=rule.category, level=rule.level, evidence=evidence)
        for rule in RULES
        if (evidence := rule.condition(case)) is not None
    )


def halted_before_editing(case: Case) -> Evidence | None:
    """Rule 1: the agent ended on a context-size or rate-limit error and edited nothing."""
    if case.ended_on not in ("context_size", "rate_limit") or case.edited:
        return None
    return (f"ended on: {case.ended_on}", "edited nothing")


def missed_by_navigation(case: Case) -> Evidence | None:
    """Rule 2 in navigation mode: no required file edited."""
    return _nothing_required(case) if case.signals.mode == "navigation" else None


def missed_though_hinted(case: Case) -> Evidence | None:
    """Rule 2 in hinted mode: no required file edited, Zero Signal."""
    return _nothing_required(case) if case.signals.mode == "hinted" else None


def hallucinated(case: Case) -> Evidence | None:
    """Rule 3: full failure on a missing symbol that does not exist."""
    finding = _failed_by_content(case)
    return finding.evidence if finding and finding.rule == 3 else None


def mismatched(case: Case) -> Evidence | None:
    """Rule 4: full failure on a type or interface mismatch."""
    finding = _failed_by_content(case)
    return finding.evidence if finding and finding.rule == 4 else None


def partly_fixed(case: Case) -> Evidence | None:
    """Rule 5: at least half of the target tests pass and a required file was edited."""
    if not (case.half_passes and case.required_edited):
        return None
    return (_share(case), _edited_required(case), *_what_keeps_it_unsolved(case))


def split_by_language(case: Case) -> Evidence | None:
    """Rule 6: navigation mode, one language's suites pass fully, another's fail."""
    if case.signals.mode != "navigation":
        return None
    full = [name for name, suites in case.languages.items() if _passes_fully(suites)]
    failing = [name for name in case.languages if name not in full]
    if not (full and failing):
        return None
    return (f"passes fully: {name_some(full)}", f"fails: {name_some(failing)}")


RULES: tuple[Rule, ...] = (
    Rule(1, "context_window_exceeded", "3 process", halted_before_editing),
    Rule(2, "insufficient_context_read", "1 structural", missed_by_navigation),
    Rule(2, None, "1 structural", missed_though_hinted),
    Rule(3, "hallucinated_api", "4 content", hallucinated),
    Rule(4, "wrong_abstraction_layer", "4 content", mismatched),
    Rule(5, "partial_fix_only", "1 + 2", partly_fixed),
    Rule(6, "missing_cross_language_change", "1 structural", split_by_language),
)


def _failed_by_content(case: Case) -> ContentFinding | None:
    if not (case.required_edited and case.full_failure):
        return None
    if case.ruleset.split_first and split_by_language(case) is not None:
        return None
    return content_finding(case)


def _nothing_required(case: Case) -> Evidence | None:
    if case.required_edited:
        return None
    required = len(case.signals.required_files)
    if not case.edited:
        return ("edited nothing", f"required files: {required}")
    return (
        f"edited {len(case.edited)}, none of the {required} required: {name_some(case.edited)}",
    )


def _passes_fully(suites: tuple[SuiteSignals, ...]) -> bool:
    return all(
        suite.targets_passed == len(suite.targets) and not suite.regressions for suite in suites
    )


def _share(case: Case) -> str:
    return f"{case.passed} of {len(case.targets)} target tests pass"


def _edited_required(case: Case) -> str:
    required = len(case.signals.required_files)
    return (
        f"edited {len(case.required_edited)} of {required} required: "
        f"{name_some(case.required_edited)}"
    )


def _what_keeps_it_unsolved(case: Case) -> Evidence:
    suites = sorted(case.signals.verification.suites, key=lambda suite: suite.name)
    regressed = sorted(test.id for suite in suites for test in suite.regressions)
    unwell = [
        f"{suite.name} ({suite.state}, exit {suite.exit_code})"
        for suite in suites
        if suite.state != "ok" or suite.exit_code != 0
    ]
    facts = []
    if regressed:
        facts.append(f"{len(regressed)} regressed: {name_some(regressed)}")
    if unwell:
        facts.append(f"suites that did not end well: {name_some(unwell)}")
    return tuple(facts)
