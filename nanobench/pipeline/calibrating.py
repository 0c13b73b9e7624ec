"""Which scripted models a calibration plays on which tasks, and in which modes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nanobench.agent.scripted.behaviours import NotApplicableError, script_for
from nanobench.agent.scripted.labels import expected_modes
from nanobench.model.plan import Cell, Limits
from nanobench.pipeline.bench import Material, PlannedTask, Services, resolve

LIMITS = Limits(agent_seconds=45, max_turns=60)
"""Enough for the work of a scripted model, and soon over for one that never ends."""


@dataclass(frozen=True)
class Unfit:
    """A behaviour that makes no sense for a task, and why."""

    task_id: str
    behaviour: str
    reason: str


def materials(planned: Iterable[PlannedTask], services: Services) -> dict[str, Material]:
    """The tasks' patches and bases, by id.

    Raises:
        NanobenchError: a repository cannot be had, or pinned text has changed.
    """
    return {one.task.task_id: resolve(one, services) for one in planned}


def playable(
    cells: Sequence[Cell], tasks: dict[str, Material]
) -> tuple[tuple[Cell, ...], tuple[Unfit, ...]]:
    """The cells of scripted models whose label is known, and the behaviours that are unfit."""
    unfit: dict[tuple[str, str], Unfit] = {}
    for task_id, behaviour in dict.fromkeys((cell.task_id, cell.model.model) for cell in cells):
        try:
            script_for(behaviour, tasks[task_id].view)
        except NotApplicableError as error:
            unfit[task_id, behaviour] = Unfit(task_id, behaviour, error.reason)
    chosen = tuple(
        cell
        for cell in cells
        if (cell.task_id, cell.model.model) not in unfit
        and cell.mode in expected_modes(cell.model.model)
    )
    return chosen, tuple(unfit.values())
