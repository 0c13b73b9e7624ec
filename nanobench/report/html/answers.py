"""What the first screen says: which model is best, where and why runs fail, how sure it all is."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nanobench.model.plan import Mode, ModelRef
from nanobench.report.comparison_document import Change, Comparison, Move, TaskChange
from nanobench.report.document import FailureMode, Report, Row, Section, Summary, TaskResult
from nanobench.report.measures import Estimate

_SHOWN = 3
_NUMBER = re.compile(r"^\d+ |, the longest of .*")  # what differs between runs of one sign


@dataclass(frozen=True)
class Lead:
    """The highest pass rate of one mode.

    Attributes:
        best: who has it; several if they share it.
        near: models whose intervals overlap with it: not distinguishable from noise (SPEC S3).
        behind: how many models are clearly behind.
        doubts: why the ranking says less than it seems to.
    """

    mode: Mode
    best: tuple[Summary, ...]
    near: tuple[Summary, ...]
    behind: int
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class Hard:
    """A task over all models and modes of a section."""

    task_id: str
    solved: int
    runs: int


def spoken_of(report: Report) -> Section | None:
    """The section of the first screen: real models on the dataset if there are any."""
    return next(iter(report.sections), None)


def ranked(section: Section) -> list[Summary]:
    """By mode, then from the highest pass rate to the lowest; without a rate last."""
    return sorted(
        section.summaries,
        key=lambda one: (
            one.mode,
            1.0 if one.pass_rate is None else -one.pass_rate,
            str(one.model),
        ),
    )


def leads(section: Section) -> Iterator[Lead]:
    """Who is best, in each mode in which anything was graded."""
    for mode in sorted({summary.mode for summary in section.summaries}):
        own = [s for s in ranked(section) if s.mode == mode and s.pass_rate is not None]
        if not own:
            continue
        best = [summary for summary in own if summary.pass_rate == own[0].pass_rate]
        near = [summary for summary in own[len(best) :] if _overlap(summary, best)]
        yield Lead(
            mode=mode,
            best=tuple(best),
            near=tuple(near),
            behind=len(own) - len(best) - len(near),
            doubts=tuple(_doubts(section, own)),
        )


def hardest(section: Section) -> list[Hard]:
    """The tasks with the lowest share of solved runs, at most three, none that all runs solve."""
    totals: dict[str, tuple[int, int]] = {}
    for task in section.tasks:
        solved, runs = totals.get(task.task_id, (0, 0))
        totals[task.task_id] = solved + task.solved, runs + task.valid_runs
    found = [Hard(task_id, *counts) for task_id, counts in totals.items()]
    failed = [task for task in found if task.solved < task.runs]
    return sorted(failed, key=lambda task: (task.solved / task.runs, task.task_id))[:_SHOWN]


def commonest(section: Section) -> list[tuple[FailureMode, int, Estimate]]:
    """The most frequent ways to fail, at most three, with their share of the failed runs."""
    taxonomy = section.taxonomy
    found = [(mode, count, taxonomy.shares[mode]) for mode, count in _counted(section)]
    return sorted(found, key=lambda one: -one[1])[:_SHOWN]


def concerned(comparison: Comparison) -> tuple[Change, ...]:
    """The models that the verdict is about; all of them if it is about no single one."""
    own = tuple(change for change in comparison.changes if change.verdict == comparison.verdict)
    return own or comparison.changes


def gravest_first(comparison: Comparison) -> list[Change]:
    """All models together, then each, regressions before all else."""
    order = ("regression", "improvement", "not distinguishable from noise", "not comparable")
    each = sorted(comparison.changes, key=lambda change: order.index(change.verdict))
    return [*comparison.overall, *each]


def obstacles(comparison: Comparison) -> list[tuple[str, int]]:
    """Why tasks of models are not compared, the most frequent reason first, at most three."""
    excluded = (task.excluded for task in comparison.tasks if task.excluded is not None)
    return _frequent(reason for reasons in excluded for reason in reasons.split("; "))


def moved(comparison: Comparison, changes: Iterable[Change]) -> list[TaskChange]:
    """The compared tasks of `changes` that moved, the least probable by chance first."""
    own = {(change.model, change.mode) for change in changes}
    found = [
        task
        for task in comparison.tasks
        if (task.model, task.mode) in own and task.p is not None and change_of(task)
    ]
    return sorted(found, key=lambda task: (task.p or 0.0, change_of(task), task.task_id))


def change_of(task: TaskChange) -> float:
    """How the share of solved runs of a compared task changed."""
    return task.solved_after / task.runs_after - task.solved_before / task.runs_before


def moves(changes: Iterable[Change]) -> list[Move]:
    """The labels that moved, the most frequent first, at most three."""
    counts: dict[tuple[str, str], int] = {}
    for change in changes:
        for move in change.shift.moves if change.shift else ():
            if move.before != move.after:
                key = move.before, move.after
                counts[key] = counts.get(key, 0) + move.runs
    found = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:_SHOWN]
    return [Move.model_validate({"before": a, "after": b, "runs": n}) for (a, b), n in found]


def troubles(report: Report) -> list[tuple[str, int]]:
    """Why runs have no score, the most frequent first, at most three."""
    return _frequent(row.reason or "unknown cause" for row in report.in_state("infrastructure"))


def signs_of(section: Section, cells: Iterable[Row]) -> list[tuple[str, str, int]]:
    """What points at the harness or the model, and in how many runs (SPEC O4), the most first."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in cells:
        if row.section == section.kind and row.trajectory is not None:
            for side, told in (
                ("harness", row.trajectory.harness),
                ("model", row.trajectory.model),
            ):
                counts.update({(side, _NUMBER.sub("", sign)) for sign in told})
    found = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [(side, sign, count) for (side, sign), count in found]


def modes_by_model(section: Section) -> list[tuple[ModelRef, Mode, dict[FailureMode, int]]]:
    """How often each model failed in which way."""
    found: dict[tuple[ModelRef, Mode], dict[FailureMode, int]] = {}
    for task in section.tasks:
        counts = found.setdefault((task.model, task.mode), {})
        for mode, count in task.failure_modes.items():
            counts[mode] = counts.get(mode, 0) + count
    return [(model, mode, counts) for (model, mode), counts in found.items()]


def drops(summaries: Iterable[Summary]) -> tuple[float, float] | None:
    """The smallest and the largest drop that a second result would show; null if none would."""
    found = [s.detectable_drop for s in summaries if s.detectable_drop is not None]
    return (min(found), max(found)) if found else None


def _frequent(names: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(names).items(), key=lambda one: (-one[1], one[0]))[:_SHOWN]


def _counted(section: Section) -> Iterator[tuple[FailureMode, int]]:
    return ((mode, count) for mode, count in section.taxonomy.counts.items() if count)


def _overlap(summary: Summary, best: Sequence[Summary]) -> bool:
    own = summary.pass_rate_interval
    others = [one.pass_rate_interval for one in best]
    return own is not None and any(other and own.high >= other.low for other in others)


def _doubts(section: Section, summaries: Sequence[Summary]) -> Iterator[str]:
    short = [summary for summary in summaries if summary.compared_tasks < summary.tasks]
    if short:
        yield f"{len(short)} of {len(summaries)} models lack runs that a comparison needs"
    graded = [_graded(section.tasks, summary) for summary in summaries]
    if len({frozenset(runs) for runs in graded}) > 1:
        yield "not all models were graded on the same tasks"
    elif any(runs != graded[0] for runs in graded):
        yield "not all models were graded equally often on each task"


def _graded(tasks: Iterable[TaskResult], summary: Summary) -> dict[str, int]:
    """How many runs of each task were graded."""
    return {
        task.task_id: task.valid_runs
        for task in tasks
        if (task.model, task.mode) == (summary.model, summary.mode) and task.valid_runs
    }
