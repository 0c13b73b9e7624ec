"""Two results side by side: every task of every model and mode, and whether it compares."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nanobench.model.plan import Mode, ModelRef, Plan, Ruleset
from nanobench.model.record import Record
from nanobench.report.aggregate import report_of
from nanobench.report.conditions import Conditions, conditions, differences
from nanobench.report.document import Report, Row, SectionKind, TaskResult
from nanobench.report.entries import Circumstances, Entries, Entry, Records
from nanobench.report.standing import standing_entries
from nanobench.stats.permutation import Pair


@dataclass(frozen=True)
class Results:
    """One of the two results: its report, and of what stands in it, by cell id, the circumstances
    and the records.
    """

    name: str
    report: Report
    circumstances: Mapping[str, Circumstances]
    records: Mapping[str, Record]

    @classmethod
    def of(
        cls,
        name: str,
        plan: Plan | None,
        records: Iterable[Record],
        problems: Sequence[str] = (),
        *,
        merged_rulesets: Collection[Ruleset] = (),
    ) -> "Results":
        """As `build_report` takes them; `name` is what readers call them."""
        return cls.of_entries(name, plan, Entries(merged_rulesets).of(records), problems)

    @classmethod
    def of_entries(
        cls, name: str, plan: Plan | None, entries: Iterable[Entry], problems: Sequence[str]
    ) -> "Results":
        """As `of`; `problems` is looked at when all entries have been taken."""
        found, notes = standing_entries(entries)
        report = report_of(plan, found, notes, problems)
        under = {cell_id: entry.under for cell_id, entry in found.items()}
        return cls(name, report, under, Records(found))


@dataclass(frozen=True)
class TaskSide:
    """One task of one model in one mode in one of the results; `rows` are the valid runs."""

    result: TaskResult
    rows: tuple[Row, ...]
    conditions: Conditions


@dataclass(frozen=True)
class PairedTask:
    """One task of one model in one mode in both results."""

    model: ModelRef
    mode: Mode
    task_id: str
    before: TaskSide | None
    after: TaskSide | None

    @property
    def excluded(self) -> str | None:
        """Why it does not compare; null if it does."""
        if self.before is None or self.after is None:
            return f"only {'after' if self.before is None else 'before'}"
        sides = (("before", self.before), ("after", self.after))
        short = [f"{s.result.not_compared} {when}" for when, s in sides if s.result.not_compared]
        return (
            "; ".join([*short, *differences(self.before.conditions, self.after.conditions)]) or None
        )

    @property
    def counts(self) -> Pair:
        """Solved and valid runs; a side without the task has none."""
        numbers = [
            (side.result.solved, side.result.valid_runs) if side else (0, 0)
            for side in (self.before, self.after)
        ]
        return Pair(*numbers[0], *numbers[1])


def pair_tasks(before: Results, after: Results) -> list[PairedTask]:
    """All tasks of both results, ordered by model, mode and task.

    Scripted models and the sample are not compared beside real models on the dataset: they stand
    here only if neither result has any of these.
    """
    sides = [_sides(results) for results in (before, after)]
    keys = set().union(*sides)
    if any(key[0] == "models" for key in keys):
        keys = {key for key in keys if key[0] == "models"}
    return [
        PairedTask(model, mode, task, sides[0].get(key), sides[1].get(key))
        for key in sorted(keys, key=lambda key: (key[0], str(key[1]), *key[2:]))
        for _, model, mode, task in (key,)
    ]


_Key = tuple[SectionKind, ModelRef, Mode, str]


def _sides(results: Results) -> dict[_Key, TaskSide]:
    rows: dict[_Key, list[Row]] = {}
    for row in results.report.in_state("present"):
        cell = row.cell
        rows.setdefault((row.section, cell.model, cell.mode, cell.task_id), []).append(row)
    found: dict[_Key, TaskSide] = {}
    for section in results.report.sections:
        for result in section.tasks:
            key = (section.kind, result.model, result.mode, result.task_id)
            own = tuple(rows.get(key, ()))
            ran = conditions(results.circumstances[row.cell_id] for row in own)
            found[key] = TaskSide(result, own, ran)
    return found
