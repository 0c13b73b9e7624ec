"""One run on one screen: its signals, the four steps of its judgement, each rule's answer."""

import textwrap
from collections.abc import Iterator

from pydantic import PositiveInt

from nanobench.model.base import Document
from nanobench.model.plan import Cell, Ruleset
from nanobench.model.record import Record
from nanobench.model.signals import Signals, SuiteSignals
from nanobench.model.verdict import Verdict
from nanobench.report.escape import plain
from nanobench.report.moves import name_verdict
from nanobench.scoring.case import Case
from nanobench.scoring.clauses import edited_required, looked_up, share
from nanobench.scoring.explanation import Answer, Explanation, RuleAnswer, explain
from nanobench.scoring.rulesets import RULESETS

_INDENT = 11
_FACT_WIDTH = 320
_MESSAGE_WIDTH = 120
_SHOWN = 3


class Fact(Document):
    """Signals of one kind, in words."""

    about: str
    text: str


class RunExplanation(Document):
    """Why one attempt has its verdict; `recorded` is the verdict that its record holds."""

    cell: Cell
    cell_id: str
    attempt: PositiveInt
    recorded: Verdict
    facts: tuple[Fact, ...]
    explanation: Explanation


def explain_record(record: Record, ruleset: Ruleset) -> RunExplanation:
    """Judge a record's signals and say why.

    Raises:
        InvalidInputError: as `judge`.
    """
    return RunExplanation(
        cell=record.cell,
        cell_id=record.cell.cell_id,
        attempt=record.attempt,
        recorded=record.verdict,
        facts=tuple(_facts(record.signals, ruleset)),
        explanation=explain(record.signals, ruleset),
    )


def render_explanation(found: RunExplanation, width: int = 100) -> str:
    """Plain text of at most `width` columns; foreign text in it is harmless."""
    cell, explained = found.cell, found.explanation
    run = f"{cell.model} {cell.task_id} {cell.mode} #{cell.run}, attempt {found.attempt}"
    lines = [
        *_wrapped("run", run, width),
        *_wrapped("verdict", _verdict(explained), width),
        *_recorded(found, width),
    ]
    for fact in found.facts:
        lines += _wrapped(fact.about, fact.text, width)
    lines += _wrapped("trouble?", _trouble(explained.infrastructure), width)
    lines += _wrapped("solved?", _solved(explained.solved), width)
    for rule in explained.rules:
        lines += _wrapped(f"rule {rule.rule}", _rule(rule, explained), width)
    if explained.verdict.category == "unclassified":
        told = f"unclassified: {explained.verdict.reason}, {explained.meaning}"
        lines += _wrapped("no rule", told, width)
    return "\n".join(lines) + "\n"


def _facts(signals: Signals, ruleset: Ruleset) -> Iterator[Fact]:
    """What the rules look at, and nothing else."""
    case = Case(signals, RULESETS[ruleset])
    yield Fact(about="agent", text=_agent(signals))
    yield Fact(about="edits", text=_edits(case))
    yield Fact(about="tests", text=_tests(case))
    shown = [looked_up(symptom) for symptom in case.symptoms[:_SHOWN]]
    more = len(case.symptoms) - len(shown)
    symptoms = "; ".join([*shown, f"and {more} more"] if more else shown)
    yield Fact(about="symptoms", text=symptoms or "none")


def _agent(signals: Signals) -> str:
    agent = signals.agent
    error = f"error {agent.error_class} ({agent.error_source})" if agent.error_class else "no error"
    responses = "unknown" if agent.model_responses is None else agent.model_responses
    message = f": {plain(agent.error_message, _MESSAGE_WIDTH)}" if agent.error_message else ""
    return (
        f"{agent.ending}, exit {agent.exit_code}, report {agent.report}, "
        f"replies {responses}, {error}{message}"
    )


def _edits(case: Case) -> str:
    edits = case.signals.edits
    source = "report" if case.reads_report else "diff"
    told = f"{len(case.edited)} by the {source}; {edited_required(case)}"
    if edits.reported is None:
        return f"{told}; nothing reported"
    apart = len(edits.observed_only) + len(edits.reported_only)
    return f"{told}; diff and report differ in {apart}" if apart else told


def _tests(case: Case) -> str:
    verification = case.signals.verification
    if not verification.possible:
        return f"not run: {verification.impossible_because}"
    suites = sorted(verification.suites, key=lambda suite: suite.name)
    return "; ".join([share(case), *map(_suite, suites)])


def _suite(suite: SuiteSignals) -> str:
    control = f", golden state {suite.control}" if suite.control else ""
    return (
        f"{suite.name} ({suite.language}) {suite.state}, exit {suite.exit_code}, "
        f"{suite.targets_passed}/{len(suite.targets)}, {len(suite.regressions)} regressed{control}"
    )


def _verdict(explained: Explanation) -> str:
    verdict = explained.verdict
    named = f"{name_verdict(verdict)} by ruleset {verdict.ruleset}"
    observed = verdict.observed_score
    parts = [
        named,
        *([f"level {verdict.level}"] if verdict.level else []),
        *([explained.meaning] if explained.meaning else []),
        *([f"its tree would have scored {observed}"] if observed is not None else []),
        *([f"flags: {', '.join(verdict.flags)}"] if verdict.flags else []),
    ]
    return "; ".join(parts)


def _recorded(found: RunExplanation, width: int) -> list[str]:
    recorded, now = found.recorded, found.explanation.verdict
    if recorded == now:
        return []
    same = recorded.ruleset == now.ruleset and name_verdict(recorded) == name_verdict(now)
    told = f"{name_verdict(recorded)} by ruleset {recorded.ruleset}"
    return _wrapped("recorded", f"{told}, on other facts" if same else told, width)


def _trouble(answers: tuple[Answer, ...]) -> str:
    if not any(answer.holds for answer in answers):
        return f"no: {answers[0].seen}"
    return "YES: " + "; ".join(f"{answer.condition} ({answer.seen})" for answer in answers)


def _solved(answers: tuple[Answer, ...]) -> str:
    return f"no, not: {_failing(answers)}" if _failing(answers) else f"yes: {_all(answers)}"


def _rule(rule: RuleAnswer, explained: Explanation) -> str:
    """The first part of the condition that fails decides; if none does, the evidence counts."""
    verdict = explained.verdict
    if not rule.holds:
        answer = f"no, not: {_failing(rule.answers)}"
    elif rule.decides:
        answer = f"MATCHES: {'; '.join(verdict.evidence)}"
    elif explained.rules_asked:
        answer = f"holds too, and changes nothing: {_all(rule.answers)}"
    else:
        answer = f"would hold, but was not asked: {_all(rule.answers)}"
    return f"{rule.category or 'Zero Signal'} {answer}"


def _failing(answers: tuple[Answer, ...]) -> str | None:
    failing = (one for one in answers if not one.holds)
    return next((f"{one.condition} ({one.seen})" for one in failing), None)


def _all(answers: tuple[Answer, ...]) -> str:
    return "; ".join(f"{one.condition} ({one.seen})" for one in answers)


def _wrapped(about: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        plain(text, _FACT_WIDTH),
        width=max(width, 2 * _INDENT),
        initial_indent=f"{about:<{_INDENT}}",
        subsequent_indent=" " * _INDENT,
        break_on_hyphens=False,
    )
