"""From a plan and records to the report document: pure, and blind to the order of records."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date
from typing import Any, get_args

from nanobench.model.plan import Cell, Plan, PlanTask, Ruleset
from nanobench.model.record import Provenance, Record
from nanobench.model.signals import VerificationSignals
from nanobench.model.verdict import Verdict
from nanobench.report.breakdown_document import TaskCard
from nanobench.report.breakdowns import token_density
from nanobench.report.document import FailureMode, Report, Row, SectionKind
from nanobench.report.figures import LEVEL_4, MERGED, model_order, sections
from nanobench.report.standing import standing
from nanobench.report.trajectory import trajectory

SCRIPTED_PROVIDER = "scripted"
SAMPLE_DATASET = "sample"
_SECTIONS: tuple[SectionKind, ...] = get_args(SectionKind)
_MERGED_NOTE = (
    "both categories of level 4 are reported as implementation_error: in the last audit, people "
    "agreed with the rules on less than 90 % of them"
)
_SHOWN_EDITS = 50  # an agent can write any number of files


def build_report(
    plan: Plan | None,
    records: Iterable[Record],
    problems: Sequence[str] = (),
    *,
    merged_rulesets: Collection[Ruleset] = (),
) -> Report:
    """Aggregate `records`; every planned cell stands in the result, whatever became of it.

    Args:
        plan: what was to be run; without one no cell can be known to be missing.
        records: any number of attempts at any cells. The highest attempt at a cell stands
            (SPEC X13); of two records of one attempt the one that was started first.
        problems: files that could not be read, by name.
        merged_rulesets: those of which both categories of level 4 are reported as
            `implementation_error`, because their audit disagrees too often (SPEC F6).
    """
    found, notes = standing(records)
    planned = {cell.cell_id: cell for cell in plan.cells} if plan else {}
    samples = {t.task_id for t in plan.tasks if t.origin == "sample"} if plan else set()
    cards = _cards(plan, (record.cell.task_id for record in found.values()))
    cutoffs = dict(sorted(plan.model_cutoffs.items())) if plan else {}
    rows = [_row(record, merged_rulesets) for record in found.values()]
    rows += [
        Row(cell=cell, cell_id=cell_id, section=_section(cell, samples), state="missing")
        for cell_id, cell in planned.items()
        if cell_id not in found
    ]
    rows = [_marked(row, cards, cutoffs) for row in rows] if cutoffs else rows
    rows.sort(key=_row_order)
    kept = list(found.values())
    notes += _notes(plan, kept)
    if any(row.failure_mode == MERGED for row in rows):
        notes.append(_MERGED_NOTE)
    return Report(
        rulesets=tuple(sorted({record.verdict.ruleset for record in kept})),
        datasets=tuple(sorted({record.provenance.dataset for record in kept})),
        provenance=_shared(kept),
        tasks=tuple(cards.values()),
        model_cutoffs=cutoffs,
        sections=tuple(sections(rows, cards)),
        cells=tuple(rows),
        notes=tuple(sorted(notes)),
        problems=tuple(sorted(problems)),
    )


def _cards(plan: Plan | None, others: Iterable[str]) -> dict[str, TaskCard]:
    """What is known of every task, by id and in its order."""
    planned = {task.task_id: task for task in plan.tasks} if plan else {}
    return {
        task_id: _card(task_id, planned.get(task_id)) for task_id in sorted({*planned, *others})
    }


def _card(task_id: str, task: PlanTask | None) -> TaskCard:
    facts = task.facts if task else None
    return TaskCard(
        task_id=task_id,
        tier=task.tier if task else None,
        facts=facts,
        token_density=token_density(facts.token_estimate) if facts else None,
    )


def _marked(row: Row, cards: Mapping[str, TaskCard], cutoffs: Mapping[str, date]) -> Row:
    """The row with the mark for a task merged while the model's training data still grew."""
    facts, cutoff = cards[row.cell.task_id].facts, cutoffs.get(str(row.cell.model))
    if facts is None or cutoff is None:
        return row
    merged = facts.merged_at.astimezone(UTC).date()
    return row.model_copy(update={"possibly_contaminated": merged <= cutoff})


def _section(cell: Cell, samples: set[str]) -> SectionKind:
    if cell.model.provider == SCRIPTED_PROVIDER:
        return "scripted"
    return "sample" if cell.task_id in samples else "models"


def _row_order(row: Row) -> tuple[Any, ...]:
    return (_SECTIONS.index(row.section), *model_order(row), row.cell.task_id, row.cell.run)


def _row(record: Record, merged_rulesets: Collection[Ruleset]) -> Row:
    verdict, signals = record.verdict, record.signals
    graded = verdict.outcome == "graded"
    provenance, edits = record.provenance, signals.edits
    observed = edits.source == "diff"
    edited = sorted(e.path for e in edits.observed) if observed else sorted(edits.reported or ())
    samples = {record.cell.task_id} if provenance.dataset == SAMPLE_DATASET else set()
    return Row(
        cell=record.cell,
        cell_id=record.cell.cell_id,
        section="scripted" if provenance.scripted else _section(record.cell, samples),
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
        "counts": dict(counts),
    }


def _failure_mode(verdict: Verdict, merged_rulesets: Collection[Ruleset]) -> FailureMode:
    if verdict.ruleset in merged_rulesets and verdict.category in LEVEL_4:
        return MERGED
    if verdict.category is not None:
        return verdict.category
    return "zero_signal" if verdict.rule is not None else "ended_by_limit"


def _shared(records: Sequence[Record]) -> dict[str, Any]:
    """The fields of the provenance in which all records agree."""
    if not records:
        return {}
    first = records[0].provenance
    same = {
        name
        for name in Provenance.model_fields
        if all(getattr(r.provenance, name) == getattr(first, name) for r in records)
    }
    return first.model_dump(mode="json", include=same)


def _notes(plan: Plan | None, records: Sequence[Record]) -> list[str]:
    found = []
    for what, values in (
        ("rulesets", {record.verdict.ruleset for record in records}),
        ("versions of Nanocoder", {record.provenance.nanocoder for record in records}),
        ("versions of the dataset", {r.provenance.dataset for r in records} - {SAMPLE_DATASET}),
    ):
        if len(values) > 1:
            found.append(f"results of different {what} stand here: {', '.join(sorted(values))}")
    replayed = sum(record.provenance.replay for record in records)
    if replayed:
        found.append(f"{replayed} of {len(records)} runs are replays: no provider was asked")
    files: dict[str, set[str]] = (
        {task.task_id: {task.sha256} for task in plan.tasks} if plan else {}
    )
    for record in records:
        files.setdefault(record.cell.task_id, set()).add(record.provenance.task_sha256)
    found += [
        f"{task_id}: not all its runs used the same task file"
        for task_id, hashes in files.items()
        if len(hashes) > 1
    ]
    if plan is None:
        found.append("there is no plan.json: cells that never ran cannot be known to be missing")
    else:
        planned = {cell.cell_id for cell in plan.cells}
        ids = {record.cell.cell_id for record in records}
        found += [f"{cell_id}: not in the plan" for cell_id in ids - planned]
    return found
