"""The calibration as a document: what scripted models were called, against what they are.

A pure function of records and of the table of labels; both rulesets judge the same records.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from nanobench.agent.scripted.labels import (
    INFRASTRUCTURE,
    LABELS,
    OTHER,
    SOLVED,
    Row,
    expected,
    label_of,
)
from nanobench.model.base import Document, Identifier
from nanobench.model.plan import Cell, Mode, Ruleset
from nanobench.model.record import Record
from nanobench.model.verdict import Verdict
from nanobench.scoring.judge import judge

CALIBRATION_SCHEMA_VERSION: Final = "1.0"


class Check(Document):
    """One run under one ruleset. A miss says in `problem` what differs."""

    task_id: Identifier
    behaviour: str
    mode: Mode
    ruleset: Ruleset
    cell_id: str
    expected: tuple[str, ...]
    expected_score: float | None
    because: str
    label: str | None = None
    score: float | None = None
    rule: int | None = None
    reason: str | None = None
    problem: str | None = None
    evidence: tuple[str, ...] = ()


class LeftOut(Document):
    """A behaviour that makes no sense for a task."""

    task_id: Identifier
    behaviour: str
    reason: str


class Tally(Document):
    """One ruleset over all runs. `coverage` is the share of failed runs that a rule names."""

    ruleset: Ruleset
    checks: int
    misses: int
    seen: dict[str, int]
    never_seen: tuple[str, ...]
    coverage: float | None


class Calibration(Document):
    """Every check, what was left out, and what ran."""

    schema_version: Literal["1.0"] = CALIBRATION_SCHEMA_VERSION
    ran_on: date | None
    versions: dict[str, tuple[str, ...]]
    tallies: tuple[Tally, ...]
    checks: tuple[Check, ...]
    not_applicable: tuple[LeftOut, ...]

    @property
    def misses(self) -> tuple[Check, ...]:
        """The checks that went wrong."""
        return tuple(check for check in self.checks if check.problem is not None)


@dataclass(frozen=True)
class Played:
    """A cell that was to be run, and its record; null if there is none."""

    cell: Cell
    record: Record | None


def build_calibration(
    played: Iterable[Played], left_out: Sequence[LeftOut], rulesets: Sequence[Ruleset]
) -> Calibration:
    """Judge every run by every ruleset, and hold the labels against the table.

    A run in a mode in which its behaviour has no known label is not checked.
    """
    played = tuple(played)
    checks = tuple(
        _check(one, ruleset, row)
        for one in sorted(played, key=lambda one: _order(one.cell))
        for ruleset in rulesets
        if (row := expected(one.cell.model.model, one.cell.mode, ruleset)) is not None
    )
    records = [one.record for one in played if one.record is not None]
    return Calibration(
        ran_on=max((r.timing.started_at.date() for r in records), default=None),
        versions=_versions(records),
        tallies=tuple(_tally(ruleset, checks) for ruleset in rulesets),
        checks=checks,
        not_applicable=tuple(sorted(left_out, key=lambda one: (one.task_id, one.behaviour))),
    )


def _order(cell: Cell) -> tuple[str, str, str]:
    return cell.task_id, cell.model.model, cell.mode


def _check(one: Played, ruleset: Ruleset, row: Row) -> Check:
    cell = one.cell
    check = Check(
        task_id=cell.task_id,
        behaviour=cell.model.model,
        mode=cell.mode,
        ruleset=ruleset,
        cell_id=cell.cell_id,
        expected=row.labels,
        expected_score=row.score(cell.mode),
        because=row.because,
    )
    if one.record is None:
        return check.model_copy(update={"problem": "there is no record"})
    verdict = judge(one.record.signals, ruleset)
    found = {
        "label": label_of(verdict),
        "score": verdict.score,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "evidence": _evidence(verdict, one.record),
        "problem": _problem(verdict, row, cell.mode),
    }
    return check.model_copy(update=found)


def _problem(verdict: Verdict, row: Row, mode: Mode) -> str | None:
    label = label_of(verdict)
    if label not in row.labels:
        return f"it is called {label}"
    if verdict.score != row.score(mode):
        return f"its score is {verdict.score} and not {row.score(mode)}"
    if row.reasons and verdict.reason not in row.reasons:
        wanted = " or ".join(str(reason) for reason in row.reasons)
        return f"the reason is {verdict.reason} and not {wanted}"
    return None


def _evidence(verdict: Verdict, record: Record) -> tuple[str, ...]:
    """The verdict's own, and the facts by which a miss can be understood."""
    verification, agent = record.signals.verification, record.signals.agent
    return (
        *verdict.evidence,
        f"ending: {agent.ending}, error: {agent.error_class or 'none'}",
        f"targets: {verification.targets_passed} of {verification.target_count}",
        *(f"suite {s.name}: {s.state}, exit {s.exit_code}" for s in verification.suites),
        *(f"symptom: {s.kind}, {s.message[:160]}" for s in verification.symptoms[:3]),
    )


def _versions(records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for record in records:
        provenance = record.provenance
        for name in ("nanobench", "nanocoder", "node", "platform"):
            found.setdefault(name, set()).add(getattr(provenance, name))
        found.setdefault("sandbox", set()).add(provenance.isolation.sandbox)
    return {name: tuple(sorted(values)) for name, values in sorted(found.items())}


def _tally(ruleset: Ruleset, checks: Sequence[Check]) -> Tally:
    mine = [check for check in checks if check.ruleset == ruleset]
    seen = [check.label for check in mine if check.label is not None]
    failed = [label for label in seen if label not in (SOLVED, INFRASTRUCTURE)]
    named = sum(label != OTHER for label in failed)
    return Tally(
        ruleset=ruleset,
        checks=len(mine),
        misses=sum(check.problem is not None for check in mine),
        seen={label: seen.count(label) for label in LABELS if label in seen},
        never_seen=tuple(label for label in LABELS if label not in seen),
        coverage=named / len(failed) if failed else None,
    )
