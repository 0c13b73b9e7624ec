"""From a plan and records to the report document: pure, and blind to the order of records."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date
from typing import Any, get_args

from nanobench.model.plan import Plan, PlanTask, Ruleset
from nanobench.model.record import Record
from nanobench.report.breakdown_document import TaskCard
from nanobench.report.breakdowns import token_density
from nanobench.report.document import Report, Row, SectionKind
from nanobench.report.entries import Entries, Entry, shared_provenance
from nanobench.report.figures import MERGED, model_order, sections
from nanobench.report.rows import SAMPLE_DATASET, section_of
from nanobench.report.standing import standing_entries

_SECTIONS: tuple[SectionKind, ...] = get_args(SectionKind)
_MERGED_NOTE = (
    "both categories of level 4 are reported as implementation_error: in the last audit, people "
    "agreed with the rules on less than 90 % of them"
)


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
    found, notes = standing_entries(Entries(merged_rulesets).of(records))
    return report_of(plan, found, notes, problems)


def report_of(
    plan: Plan | None, found: Mapping[str, Entry], noted: Sequence[str], problems: Sequence[str]
) -> Report:
    """The report of the entries that stand, by cell id; `noted` are notes on them."""
    planned = {cell.cell_id: cell for cell in plan.cells} if plan else {}
    samples = {t.task_id for t in plan.tasks if t.origin == "sample"} if plan else set()
    cards = _cards(plan, (entry.row.cell.task_id for entry in found.values()))
    cutoffs = dict(sorted(plan.model_cutoffs.items())) if plan else {}
    rows = [entry.row for entry in found.values()]
    rows += [
        Row(cell=cell, cell_id=cell_id, section=section_of(cell, samples), state="missing")
        for cell_id, cell in planned.items()
        if cell_id not in found
    ]
    rows = [_marked(row, cards, cutoffs) for row in rows] if cutoffs else rows
    rows.sort(key=_row_order)
    entries = list(found.values())
    circumstances = dict.fromkeys(entry.under for entry in entries)
    notes = [*noted, *_notes(plan, entries)]
    if any(row.failure_mode == MERGED for row in rows):
        notes.append(_MERGED_NOTE)
    return Report(
        rulesets=tuple(sorted({under.ruleset for under in circumstances})),
        datasets=tuple(sorted({under.provenance.dataset for under in circumstances})),
        provenance=shared_provenance(circumstances),
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


def _row_order(row: Row) -> tuple[Any, ...]:
    return (_SECTIONS.index(row.section), *model_order(row), row.cell.task_id, row.cell.run)


def _notes(plan: Plan | None, entries: Sequence[Entry]) -> list[str]:
    found = []
    provenances = {entry.under: entry.under.provenance for entry in entries}
    for what, values in (
        ("rulesets", {under.ruleset for under in provenances}),
        ("versions of Nanocoder", {p.nanocoder for p in provenances.values()}),
        ("versions of the dataset", {p.dataset for p in provenances.values()} - {SAMPLE_DATASET}),
    ):
        if len(values) > 1:
            found.append(f"results of different {what} stand here: {', '.join(sorted(values))}")
    replayed = sum(entry.under.provenance.replay for entry in entries)
    if replayed:
        found.append(f"{replayed} of {len(entries)} runs are replays: no provider was asked")
    files: dict[str, set[str]] = (
        {task.task_id: {task.sha256} for task in plan.tasks} if plan else {}
    )
    for entry in entries:
        task_id = entry.row.cell.task_id
        files.setdefault(task_id, set()).add(entry.under.provenance.task_sha256)
    found += [
        f"{task_id}: not all its runs used the same task file"
        for task_id, hashes in files.items()
        if len(hashes) > 1
    ]
    if plan is None:
        found.append("there is no plan.json: cells that never ran cannot be known to be missing")
    else:
        planned = set(plan.cells)
        found += [
            f"{entry.row.cell_id}: not in the plan"
            for entry in entries
            if entry.row.cell not in planned
        ]
    return found
