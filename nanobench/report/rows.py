"""From one record to its row in the report."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from nanobench.model.plan import Cell, Ruleset
from nanobench.model.record import Record
from nanobench.model.signals import VerificationSignals
from nanobench.model.verdict import Verdict
from nanobench.report.document import FailureMode, Row, SectionKind
from nanobench.report.figures import LEVEL_4, MERGED
from nanobench.report.trajectory import trajectory

SAMPLE_DATASET = "sample"
_SCRIPTED_PROVIDER = "scripted"
_SHOWN_EDITS = 50  # an agent can write any number of files


def section_of(cell: Cell, samples: set[str]) -> SectionKind:
    """Where a cell stands; `samples` are the ids of built-in tasks."""
    if cell.model.provider == _SCRIPTED_PROVIDER:
        return "scripted"
    return "sample" if cell.task_id in samples else "models"


def row_of(record: Record, merged_rulesets: Collection[Ruleset]) -> Row:
    """The row of a record; `merged_rulesets` as in `build_report`."""
    verdict, signals = record.verdict, record.signals
    graded = verdict.outcome == "graded"
    provenance, edits = record.provenance, signals.edits
    observed = edits.source == "diff"
    edited = sorted(e.path for e in edits.observed) if observed else sorted(edits.reported or ())
    samples = {record.cell.task_id} if provenance.dataset == SAMPLE_DATASET else set()
    return Row(
        cell=record.cell,
        cell_id=record.cell.cell_id,
        section="scripted" if provenance.scripted else section_of(record.cell, samples),
        state="present" if graded else "infrastructure",
        attempt=record.attempt,
        score=verdict.score,
        label=verdict.label,
        solved=verdict.solved,
        category=verdict.category,
        failure_mode=(
            _failure_mode(verdict, merged_rulesets) if graded and not verdict.solved else None
        ),
        rule=verdict.rule,
        level=verdict.level,
        reason=verdict.reason,
        evidence=verdict.evidence,
        also_matched=tuple(match.rule for match in verdict.also_matched),
        flags=verdict.flags,
        infrastructure=signals.infrastructure,
        observed_score=verdict.observed_score,
        edited=len(edited),
        edits=tuple(edited[:_SHOWN_EDITS]),
        required_edited=edits.required_observed if observed else edits.required_reported,
        usage=signals.agent.usage,
        turns=signals.agent.model_responses,
        agent_seconds=_agent_seconds(record),
        non_deterministic=provenance.non_deterministic,
        trajectory=trajectory(record),
        **_test_figures(signals.verification),
    )


def _agent_seconds(record: Record) -> float | None:
    seconds = record.timing.phases_seconds.get("agent")
    return None if seconds is None else round(seconds, 1)


def _test_figures(verification: VerificationSignals) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for suite in verification.suites:
        counts.update(suite.counts)
    return {
        "targets_passed": verification.targets_passed,
        "targets": verification.target_count,
        "regressions": sum(len(suite.regressions) for suite in verification.suites),
        "counts": dict(sorted(counts.items())),
    }


def _failure_mode(verdict: Verdict, merged_rulesets: Collection[Ruleset]) -> FailureMode:
    if verdict.ruleset in merged_rulesets and verdict.category in LEVEL_4:
        return MERGED
    if verdict.category is not None:
        return verdict.category
    return "zero_signal" if verdict.rule is not None else "ended_by_limit"
