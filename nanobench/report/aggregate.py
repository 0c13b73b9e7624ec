"""From a plan and records to the report document: pure, and blind to the order of records."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, get_args

from nanobench.model.plan import Cell, Plan
from nanobench.model.record import Provenance, Record
from nanobench.model.signals import VerificationSignals
from nanobench.model.verdict import Category, Verdict
from nanobench.report.document import (
    FailureMode,
    Report,
    Row,
    Section,
    SectionKind,
    Summary,
    TaskResult,
    Taxonomy,
)
from nanobench.report.trajectory import trajectory

SCRIPTED_PROVIDER = "scripted"
SAMPLE_DATASET = "sample"
FAILURE_MODES: tuple[FailureMode, ...] = (*get_args(Category), "zero_signal", "ended_by_limit")
_SECTIONS: tuple[SectionKind, ...] = get_args(SectionKind)
_DIGITS = 6  # of means and rates
_SHOWN_EDITS = 50  # an agent can write any number of files


def build_report(
    plan: Plan | None, records: Iterable[Record], problems: Sequence[str] = ()
) -> Report:
    """Aggregate `records`; every planned cell stands in the result, whatever became of it.

    Args:
        plan: what was to be run; without one no cell can be known to be missing.
        records: any number of attempts at any cells. The highest attempt at a cell stands
            (SPEC X13); of two records of one attempt the one that was started first.
        problems: files that could not be read, by name.
    """
    standing, notes = _standing(records)
    planned = {cell.cell_id: cell for cell in plan.cells} if plan else {}
    samples = {t.task_id for t in plan.tasks if t.origin == "sample"} if plan else set()
    rows = [_row(record) for record in standing.values()]
    rows += [
        Row(cell=cell, cell_id=cell_id, section=_section(cell, samples), state="missing")
        for cell_id, cell in planned.items()
        if cell_id not in standing
    ]
    rows.sort(key=_row_order)
    kept = list(standing.values())
    notes += _notes(plan, kept)
    return Report(
        rulesets=tuple(sorted({record.verdict.ruleset for record in kept})),
        datasets=tuple(sorted({record.provenance.dataset for record in kept})),
        provenance=_shared(kept),
        sections=tuple(_sections(rows)),
        cells=tuple(rows),
        notes=tuple(sorted(notes)),
        problems=tuple(sorted(problems)),
    )


def _standing(records: Iterable[Record]) -> tuple[dict[str, Record], list[str]]:
    """The record that stands for each cell, by cell id, and notes on contradicting ones."""
    found: dict[str, Record] = {}
    disputed: dict[str, int] = {}
    for record in records:
        cell_id = record.cell.cell_id
        other = found.setdefault(cell_id, record)
        if record.attempt == other.attempt and record != other:
            disputed[cell_id] = record.attempt
            found[cell_id] = min(record, other, key=_age)
        elif record.attempt > other.attempt:
            found[cell_id] = record
    notes = [
        f"{cell_id}: different records of attempt {attempt}; the one started first stands"
        for cell_id, attempt in disputed.items()
        if found[cell_id].attempt == attempt
    ]
    return found, notes


def _age(record: Record) -> tuple[Any, ...]:
    return record.timing.started_at, record.digest()


def _section(cell: Cell, samples: set[str]) -> SectionKind:
    if cell.model.provider == SCRIPTED_PROVIDER:
        return "scripted"
    return "sample" if cell.task_id in samples else "models"


def _row_order(row: Row) -> tuple[Any, ...]:
    return (_SECTIONS.index(row.section), *_model_order(row), row.cell.task_id, row.cell.run)


def _model_order(row: Row) -> tuple[str, str, str]:
    return row.cell.model.provider, row.cell.model.model, row.cell.mode


def _row(record: Record) -> Row:
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
        failure_mode=_failure_mode(verdict) if graded and not verdict.solved else None,
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
        non_deterministic=provenance.non_deterministic,
        trajectory=trajectory(record),
        **_test_figures(signals.verification),
    )


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


def _failure_mode(verdict: Verdict) -> FailureMode:
    if verdict.category is not None:
        return verdict.category
    return "zero_signal" if verdict.rule is not None else "ended_by_limit"


def _sections(rows: Sequence[Row]) -> Iterator[Section]:
    """`rows` come in the order of `_row_order`, so that equal keys lie together."""
    for kind, members in groupby(rows, key=lambda row: row.section):
        own = list(members)
        yield Section(
            kind=kind,
            summaries=tuple(_summary(group) for group in _grouped(own, _model_order)),
            tasks=tuple(
                _task_result(group)
                for group in _grouped(own, lambda row: (*_model_order(row), row.cell.task_id))
            ),
            taxonomy=_taxonomy(own),
        )


def _grouped(rows: Sequence[Row], key: Callable[[Row], Any]) -> Iterator[list[Row]]:
    return (list(group) for _, group in groupby(rows, key=key))


def _summary(rows: Sequence[Row]) -> Summary:
    tasks = list(_grouped(rows, lambda row: row.cell.task_id))
    figures = _figures(rows)
    means = [mean for task in tasks if (mean := _mean_score(task)) is not None]
    return Summary(
        model=rows[0].cell.model,
        mode=rows[0].cell.mode,
        tasks=len(tasks),
        pass_rate=_share(figures["solved"], figures["valid_runs"]),
        mean_score=_rounded(_mean(means)),
        **figures,
    )


def _task_result(rows: Sequence[Row]) -> TaskResult:
    first = rows[0].cell
    figures = _figures(rows)
    valid = [row for row in rows if row.state == "present"]
    return TaskResult(
        model=first.model,
        mode=first.mode,
        task_id=first.task_id,
        raw_count=f"{figures['solved']}/{figures['valid_runs']}",
        pass_at_1=valid[0].solved if valid else None,
        mean_score=_rounded(_mean_score(rows)),
        failure_modes=dict(sorted(Counter(_modes(rows)).items())),
        **figures,
    )


def _figures(rows: Sequence[Row]) -> dict[str, int]:
    states = Counter(row.state for row in rows)
    return {
        "valid_runs": states["present"],
        "missing": states["missing"],
        "infrastructure": states["infrastructure"],
        "solved": sum(row.solved for row in rows if row.state == "present"),
    }


def _modes(rows: Iterable[Row]) -> Iterator[FailureMode]:
    return (row.failure_mode for row in rows if row.failure_mode is not None)


def _taxonomy(rows: Sequence[Row]) -> Taxonomy:
    found = Counter(_modes(rows))
    failed = found.total()
    return Taxonomy(
        failed=failed,
        counts={mode: found[mode] for mode in FAILURE_MODES},
        coverage=_share(failed - found["unclassified"], failed),
    )


def _mean_score(rows: Iterable[Row]) -> float | None:
    return _mean([row.score for row in rows if row.state == "present" and row.score is not None])


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, _DIGITS) if whole else None


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
