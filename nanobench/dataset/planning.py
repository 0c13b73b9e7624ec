"""From models, tasks, modes and runs to the cells of a plan: a pure function."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import product
from typing import Literal

from nanobench.dataset.catalog import TaskEntry
from nanobench.errors import UsageError
from nanobench.model.plan import (
    DEFAULT_RULESET,
    AgentSettings,
    Cell,
    Limits,
    Mode,
    ModelRef,
    Plan,
    PlanTask,
    Ruleset,
    TaskFacts,
)
from nanobench.model.task import Task
from nanobench.stats.sampling import FEWEST_RUNS_THAT_SEPARATE, Purpose, runs_needed


@dataclass(frozen=True)
class PlanOptions:
    """What holds for all cells of a plan.

    Attributes:
        modes: hinted, navigation, or both.
        runs: per task, model and mode; `auto` leaves it to the policy for `purpose`.
        purpose: what the results are for.
        ruleset, agent, limits, model_cutoffs: as in the plan.
    """

    modes: tuple[Mode, ...] = ("hinted",)
    runs: int | Literal["auto"] = "auto"
    purpose: Purpose = "regression"
    ruleset: Ruleset = DEFAULT_RULESET
    agent: AgentSettings = field(default_factory=AgentSettings)
    limits: Limits = field(default_factory=Limits)
    model_cutoffs: Mapping[str, date] = field(default_factory=dict)


@dataclass(frozen=True)
class Planned:
    """A plan, and what its reader should know before paying for it."""

    plan: Plan
    warnings: tuple[str, ...]


def build_plan(
    models: Sequence[ModelRef], entries: Sequence[TaskEntry], options: PlanOptions
) -> Planned:
    """Plan every model on every task in every mode.

    Cells are ordered by run, then task, mode and model, so that a rate limit or a provider's
    drift during a long bench meets all models alike.

    Raises:
        UsageError: there is no model, no task, no mode or no run, or one of them stands twice;
            or a cutoff is of no planned model.
    """
    tasks = sorted(entries, key=lambda entry: entry.task.task_id)
    _check_distinct("model", [str(model) for model in models])
    _check_distinct("task", [entry.task.task_id for entry in tasks])
    _check_distinct("mode", options.modes)
    if options.runs != "auto" and options.runs < 1:
        raise UsageError("the number of runs must be at least 1", where="--runs")
    runs = {entry.task.task_id: _runs(entry, options) for entry in tasks}
    cells = tuple(
        Cell(model=model, task_id=entry.task.task_id, mode=mode, run=run)
        for run in range(1, max(runs.values()) + 1)
        for entry in tasks
        if run <= runs[entry.task.task_id]
        for mode, model in product(options.modes, models)
    )
    plan = Plan(
        tasks=tuple(
            PlanTask(
                task_id=entry.task.task_id,
                origin=entry.origin,
                sha256=entry.sha256,
                tier=entry.task.tier(),
                facts=_facts(entry.task),
            )
            for entry in tasks
        ),
        cells=cells,
        ruleset=options.ruleset,
        agent=options.agent,
        limits=options.limits,
        model_cutoffs=_cutoffs(models, options.model_cutoffs),
    )
    return Planned(plan, tuple(_warnings(tasks, runs)))


def _runs(entry: TaskEntry, options: PlanOptions) -> int:
    if options.runs != "auto":
        return options.runs
    return runs_needed(entry.task.tier(), options.purpose)


def _facts(task: Task) -> TaskFacts:
    return TaskFacts.model_validate({name: getattr(task, name) for name in TaskFacts.model_fields})


def _cutoffs(models: Sequence[ModelRef], stated: Mapping[str, date]) -> dict[str, date]:
    unknown = sorted(stated.keys() - set(map(str, models)))
    if unknown:
        raise UsageError(
            f"a cutoff is stated of {', '.join(unknown)}, which is not planned",
            where="--model-cutoff",
            remedy="name the model as in --models",
        )
    return dict(sorted(stated.items()))


def _check_distinct(what: str, names: Sequence[str]) -> None:
    if not names:
        raise UsageError(f"a plan needs at least one {what}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"the {what} {', '.join(twice)} stands twice", remedy="name it once")


def _warnings(tasks: Sequence[TaskEntry], runs: dict[str, int]) -> list[str]:
    found = []
    for entry in tasks:
        name, tier = entry.task.task_id, entry.task.tier()
        if entry.task.status.state == "retired":
            found.append(f"{name} is retired ({entry.task.status.reason})")
        if entry.task.expected is None:
            found.append(f"{name} has no 'expected': run `nanobench task gate --write` on its file")
        if runs[name] < runs_needed(tier):
            found.append(
                f"{name} (tier {tier}) needs {runs_needed(tier)} runs before its score enters "
                f"a comparison; planned: {runs[name]}"
            )
    total = sum(runs.values())
    if total < FEWEST_RUNS_THAT_SEPARATE:
        found.append(
            f"a comparison of these results could never separate: even 0/{total} against "
            f"{total}/{total} overlaps; {FEWEST_RUNS_THAT_SEPARATE} runs per model are the least"
        )
    return found
