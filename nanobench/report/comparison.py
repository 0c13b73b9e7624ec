"""From two results to their comparison: pure, and blind to the order of records."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from nanobench.model.plan import Mode, ModelRef
from nanobench.report.comparison_document import (
    Change,
    Comparison,
    Label,
    Move,
    Shift,
    Side,
    TaskChange,
    Varied,
    Verdict,
)
from nanobench.report.conditions import held_and_varied
from nanobench.report.document import Needed, Row
from nanobench.report.figures import taxonomy
from nanobench.report.pairing import PairedTask, Results, TaskSide, pair_tasks
from nanobench.report.rounding import estimate, rounded
from nanobench.stats.compare import NOISE, compare
from nanobench.stats.compare import Comparison as Found
from nanobench.stats.permutation import holm, stratified_p
from nanobench.stats.taxonomy_shift import flow

_STRONGEST: tuple[Verdict, ...] = ("regression", "improvement", NOISE)


def compare_results(before: Results, after: Results) -> Comparison:
    """Compare two results, paired by provider, model, task and mode.

    A task enters when both sides have all the runs that its tier needs, none of them is missing,
    and the conditions that decide what a score means are the same; else it is named with the
    reason.
    """
    tasks = pair_tasks(before, after)
    changes = [
        _change(model, mode, list(own))
        for (model, mode), own in groupby(tasks, key=lambda task: (task.model, task.mode))
    ]
    overall = [_change(None, mode, own) for mode, own in _shared_modes(tasks)]
    verdicts = {change.verdict for change in (*changes, *overall)}
    both = [(t.before.conditions, t.after.conditions) for t in tasks if t.before and t.after]
    held, varied = held_and_varied(both)
    return Comparison(
        verdict=next((verdict for verdict in _STRONGEST if verdict in verdicts), "not comparable"),
        before=_side(before),
        after=_side(after),
        overall=tuple(overall),
        changes=tuple(changes),
        tasks=tuple(_task_changes(tasks)),
        held=held,
        varied=tuple(
            Varied(name=name, before=old, after=new) for name, (old, new) in varied.items()
        ),
        notes=tuple(
            f"{side.name}: {note}" for side in (before, after) for note in side.report.notes
        ),
    )


def _shared_modes(tasks: Sequence[PairedTask]) -> Iterator[tuple[Mode, list[PairedTask]]]:
    """The modes in which several models can be compared, and what can."""
    for mode in sorted({task.mode for task in tasks}):
        own = [task for task in tasks if task.mode == mode]
        if len({task.model for task in own if task.excluded is None}) > 1:
            yield mode, own


def _change(model: ModelRef | None, mode: Mode, tasks: Sequence[PairedTask]) -> Change:
    compared = [task for task in tasks if task.excluded is None]
    reasons = Counter(task.excluded for task in tasks if task.excluded is not None)
    found = (
        compare([t.counts for t in compared], [t.task_id for t in compared]) if compared else None
    )
    return Change(
        model=model,
        mode=mode,
        verdict=found.finding if found else "not comparable",
        reasons=tuple(f"{reason} ({count} tasks)" for reason, count in sorted(reasons.items())),
        compared=len(compared),
        excluded=len(tasks) - len(compared),
        **(_figures(found, compared) if found else {}),
    )


def _figures(found: Found, compared: Sequence[PairedTask]) -> dict[str, Any]:
    return {
        "before": estimate(found.before),
        "after": estimate(found.after),
        "same_tasks": estimate(found.same_tasks),
        "tasks_like_these": estimate(found.tasks_like_these),
        "p": rounded(found.p),
        "detectable_drop": found.drop,
        "detectable_rise": found.rise,
        "needed": tuple(
            Needed(difference=rounded(need.difference), runs=need.runs, tasks=need.tasks)
            for need in found.needed
        ),
        "uneven": found.uneven,
        "shift": _shift(compared),
    }


def _shift(compared: Sequence[PairedTask]) -> Shift:
    rows = [(_rows(task.before), _rows(task.after)) for task in compared]
    moves = flow(([_label(r) for r in old], [_label(r) for r in new]) for old, new in rows)
    return Shift(
        before=taxonomy([row for old, _ in rows for row in old]),
        after=taxonomy([row for _, new in rows for row in new]),
        moves=tuple(
            Move(before=old, after=new, runs=count) for (old, new), count in sorted(moves.items())
        ),
    )


def _rows(side: TaskSide | None) -> tuple[Row, ...]:
    return side.rows if side else ()


def _label(row: Row) -> Label:
    return row.failure_mode or "solved"


def _task_changes(tasks: Sequence[PairedTask]) -> Iterator[TaskChange]:
    """Every task; p-values are adjusted over the whole comparison, all models and modes."""
    compared = [task for task in tasks if task.excluded is None]
    p_values = [stratified_p([task.counts]) for task in compared]
    tests = dict(zip(map(id, compared), zip(p_values, holm(p_values), strict=True), strict=True))
    for task in tasks:
        p, adjusted = tests.get(id(task), (None, None))
        yield TaskChange(
            model=task.model,
            mode=task.mode,
            task_id=task.task_id,
            p=None if p is None else rounded(p),
            p_adjusted=None if adjusted is None else rounded(adjusted),
            excluded=task.excluded,
            **task.counts._asdict(),
        )


def _side(results: Results) -> Side:
    report = results.report
    return Side(
        name=results.name,
        cells=len(report.cells),
        present=len(report.in_state("present")),
        missing=tuple(row.cell_id for row in report.in_state("missing")),
        infrastructure=tuple(row.cell_id for row in report.in_state("infrastructure")),
        rulesets=report.rulesets,
        datasets=report.datasets,
        problems=report.problems,
    )
