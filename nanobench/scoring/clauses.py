"""The parts of the rules' conditions, each with its words and with what was seen of it.

The words are those of docs/taxonomy.md, which a test holds against them. `seen` answers whether
or not the clause holds, so that a reader learns why a rule did not match.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nanobench.model.signals import SuiteSignals, Symptom
from nanobench.scoring.case import Case, name_some
from nanobench.scoring.content import content_finding

_SHOWN_SYMPTOMS = 3


@dataclass(frozen=True)
class Clause:
    """One part of a condition.

    Attributes:
        text: as the taxonomy words it.
        holds: whether it does.
        seen: what of the signals decides it.
    """

    text: str
    holds: Callable[[Case], bool]
    seen: Callable[[Case], str]


def share(case: Case) -> str:
    """How many target tests pass."""
    return f"{case.passed} of {len(case.targets)} target tests pass"


def edited_required(case: Case) -> str:
    """How many of the required files were edited, and which."""
    required = len(case.signals.required_files)
    names = f": {name_some(case.required_edited)}" if case.required_edited else ""
    return f"edited {len(case.required_edited)} of {required} required{names}"


def split_languages(case: Case) -> tuple[list[str], list[str]]:
    """The languages that pass fully, and those that do not."""
    full = [name for name, suites in case.languages.items() if _passes_fully(suites)]
    return full, [name for name in case.languages if name not in full]


def _passes_fully(suites: tuple[SuiteSignals, ...]) -> bool:
    return all(
        suite.targets_passed == len(suite.targets) and not suite.regressions for suite in suites
    )


def _ending(case: Case) -> str:
    agent = case.signals.agent
    return f"{agent.ending}, error: {agent.error_class or 'none'}"


def _edits(case: Case) -> str:
    return f"edited {len(case.edited)}: {name_some(case.edited)}" if case.edited else "edited none"


def _mode(case: Case) -> str:
    return f"{case.signals.mode} mode"


def _languages(case: Case) -> str:
    return f"languages with target tests: {name_some(list(case.languages)) or 'none'}"


def _full_languages(case: Case) -> str:
    return f"passes fully: {name_some(split_languages(case)[0]) or 'none'}"


def _failing_languages(case: Case) -> str:
    return f"fails: {name_some(split_languages(case)[1]) or 'none'}"


def _full_failure(case: Case) -> str:
    literal = case.ruleset.full_failure == "none_passes"
    return f"{share(case)}; it takes {'none' if literal else 'less than half'}"


def _left_to_rule_6(case: Case) -> str:
    if not case.ruleset.split_first:
        return f"ruleset {case.ruleset.name} leaves none"
    return "rule 6 holds" if holds(RULE_6, case) else "rule 6 does not hold"


def _is_of_rule(number: int) -> Callable[[Case], bool]:
    def found(case: Case) -> bool:
        finding = content_finding(case)
        return finding is not None and finding.rule == number

    return found


def _symptoms(case: Case) -> str:
    finding = content_finding(case)
    if finding is not None:
        return f"decided by {_named(finding.symptom)}, rule {finding.rule}"
    if not case.symptoms:
        return "no symptom"
    shown = [looked_up(symptom) for symptom in case.symptoms[:_SHOWN_SYMPTOMS]]
    more = len(case.symptoms) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown)


def _named(symptom: Symptom) -> str:
    return f"{symptom.code} on {symptom.symbol}" if symptom.symbol else symptom.code


def looked_up(symptom: Symptom) -> str:
    """A symptom with what is known of its symbol; where nothing was looked up, just its kind."""
    facts = (
        ("required files at base", symptom.in_required_files_at_base),
        ("base", symptom.in_repository_at_base),
        ("golden patch", symptom.in_golden_patch),
        ("agent's lines", symptom.in_agent_lines),
    )
    known = [f"{'in' if fact else 'not in'} {place}" for place, fact in facts if fact is not None]
    told = ", ".join(known) or "nothing is known of its symbol"
    return f"{_named(symptom)} ({symptom.kind.replace('_', ' ')}): {told}"


def holds(clauses: tuple[Clause, ...], case: Case) -> bool:
    """Whether all clauses hold."""
    return all(clause.holds(case) for clause in clauses)


_HINTED = Clause("hinted mode", lambda case: case.signals.mode == "hinted", _mode)
_NAVIGATION = Clause("navigation mode", lambda case: case.signals.mode == "navigation", _mode)
_NO_REQUIRED = Clause(
    "no required file edited", lambda case: not case.required_edited, edited_required
)
_REQUIRED = Clause(
    "a required file edited", lambda case: bool(case.required_edited), edited_required
)
_HALF = Clause("at least half of the target tests pass", lambda case: case.half_passes, share)
_FULL_FAILURE = Clause("full failure", lambda case: case.full_failure, _full_failure)
_NOT_RULE_6 = Clause(
    "not left to rule 6",
    lambda case: not (case.ruleset.split_first and holds(RULE_6, case)),
    _left_to_rule_6,
)

RULE_1 = (
    Clause(
        "the agent ended on a context-size or rate-limit error",
        lambda case: case.ended_on in ("context_size", "rate_limit"),
        _ending,
    ),
    Clause("nothing edited", lambda case: not case.edited, _edits),
)
RULE_2_NAVIGATION = (_NAVIGATION, _NO_REQUIRED)
RULE_2_HINTED = (_HINTED, _NO_REQUIRED)
RULE_3 = (
    _REQUIRED,
    _FULL_FAILURE,
    _NOT_RULE_6,
    Clause("an error on a symbol that does not exist", _is_of_rule(3), _symptoms),
)
RULE_4 = (
    _REQUIRED,
    _FULL_FAILURE,
    _NOT_RULE_6,
    Clause("a type or interface mismatch", _is_of_rule(4), _symptoms),
)
RULE_5 = (_REQUIRED, _HALF)
RULE_6: tuple[Clause, ...] = (
    _NAVIGATION,
    Clause(
        "target tests in two languages or more", lambda case: len(case.languages) > 1, _languages
    ),
    Clause(
        "one language passes fully", lambda case: bool(split_languages(case)[0]), _full_languages
    ),
    Clause("another fails", lambda case: bool(split_languages(case)[1]), _failing_languages),
)
SOLVED = (
    Clause("every target test passes", lambda case: 0 < len(case.targets) == case.passed, share),
    Clause(
        "every suite exits 0",
        lambda case: not unwell(case),
        lambda case: f"ended otherwise: {name_some(unwell(case)) or 'none'}",
    ),
    Clause(
        "nothing regressed",
        lambda case: not regressed(case),
        lambda case: f"regressed: {name_some(regressed(case)) or 'none'}",
    ),
    Clause(
        "no limit ended the agent",
        lambda case: case.limit is None,
        lambda case: f"ending: {case.signals.agent.ending}",
    ),
)
"""What `Case.tree_passes` asks, and the cap of a limit."""


def unwell(case: Case) -> list[str]:
    """The suites that did not end well, by name."""
    suites = sorted(case.signals.verification.suites, key=lambda suite: suite.name)
    return [
        f"{suite.name} ({suite.state}, exit {suite.exit_code})"
        for suite in suites
        if suite.state != "ok" or suite.exit_code != 0
    ]


def regressed(case: Case) -> list[str]:
    """The ids of the tests that regressed, sorted."""
    suites = case.signals.verification.suites
    return sorted(test.id for suite in suites for test in suite.regressions)
