"""What the commands that run cells share: tasks of a plan, and a bench around them."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from nanobench.dataset.catalog import Catalog
from nanobench.environment.container.ledger import sweep_at_start
from nanobench.environment.strategies import Choice
from nanobench.errors import InvalidInputError
from nanobench.files import StateDirectory
from nanobench.model.plan import Cell, Plan
from nanobench.pipeline.bench import Bench, PlannedTask, Services
from nanobench.pipeline.cell import run_cell
from nanobench.pipeline.checking import check_input
from nanobench.pipeline.isolating import check_isolation, warn_of
from nanobench.pipeline.places import sweep, temporary_files
from nanobench.pipeline.pool import run_cells, unfinished
from nanobench.pipeline.progress import Progress
from nanobench.pipeline.store import ResultStore
from nanobench.pipeline.taping import Taping


def planned_tasks(plan: Plan, catalog: Catalog) -> dict[str, PlannedTask]:
    """The tasks of a plan, found in the catalogue by id and by the hash of their file.

    Raises:
        InvalidInputError: a task is missing, or is not the one that was planned.
    """
    found = {}
    for planned in plan.tasks:
        entry = catalog.entries.get(planned.task_id)
        if entry is None or entry.origin != planned.origin:
            raise InvalidInputError(
                f"the plan names the task {planned.task_id!r}, which is not here",
                remedy="name the directory of its task file with --tasks-dir",
            )
        if entry.sha256 != planned.sha256:
            raise InvalidInputError(
                f"the task {planned.task_id!r} is not the one that was planned: its file has "
                f"sha256 {entry.sha256}, the plan {planned.sha256}",
                where=str(entry.path or "the built-in sample"),
                remedy="use the dataset version of the plan, or plan again",
            )
        dataset = "sample"
        if entry.origin == "dataset" and catalog.dataset is not None:
            dataset = f"{catalog.dataset.name} {catalog.dataset.version}"
        found[planned.task_id] = PlannedTask(entry.task, entry.sha256, dataset)
    return found


@dataclass(frozen=True)
class Terms:
    """What a bench runs under besides its plan.

    Args:
        taping: recordings and ceilings; null: none.
        choice: of strategy and image; null: each task's own.
    """

    taping: Taping | None = None
    choice: Choice | None = None


@contextmanager
def open_bench(
    plan: Plan,
    catalog: Catalog,
    state: StateDirectory,
    store: ResultStore,
    progress: Progress,
    terms: Terms | None = None,
) -> Iterator[Bench]:
    """A bench on a state directory that has been swept; `terms` is null for the defaults.

    Raises:
        NanobenchError: a task of the plan is not here, or a directory cannot be used.
    """
    from nanobench.agent.gateway.server import Gateway
    from nanobench.agent.scripted.server import ScriptedServer

    tasks = planned_tasks(plan, catalog)
    terms = terms or Terms()
    sweep(state)
    trouble = sweep_at_start(state)
    if trouble:
        click.echo(f"warning: an earlier run may have left containers: {trouble}", err=True)
    with ExitStack() as stack:
        stack.enter_context(temporary_files(state.runs))
        yield Bench(
            plan=plan,
            tasks=tasks,
            services=stack.enter_context(Services(state, terms.choice)),
            store=store,
            progress=progress,
            scripted=stack.enter_context(ScriptedServer()),
            gateway=stack.enter_context(Gateway()) if plan.agent.gateway == "on" else None,
            environ=os.environ,
            cwd=Path.cwd(),
            taping=terms.taping or Taping(),
        )


def run_unfinished(bench: Bench, jobs: int, *, require_isolation: bool = False) -> None:
    """Check the cells that are still to be run, and run them.

    Without full isolation a warning is shown, or nothing is run if it is required. Once the
    bench's ceiling of cost is reached, no further cell is started.

    Raises:
        NanobenchError: the input is wrong, a directory cannot be used, or the run was interrupted.
    """
    todo = unfinished(bench.plan, bench.store, bench.progress)
    if require_isolation:
        check_isolation(todo, bench)
    elif warning := warn_of(todo, bench):
        click.echo(f"warning: {warning}", err=True)
    check_input(todo, bench)
    purse, left_out = bench.taping.purse, []

    def run(cell: Cell) -> None:
        if purse.empty:
            left_out.append(cell)
        else:
            run_cell(cell, bench)

    run_cells(todo, run, jobs)
    if left_out:
        click.echo(
            f"warning: ${purse.spent:.4f} of --max-cost {purse.limit:f} are spent; cells not "
            f"started: {len(left_out)} (repeat the command to spend as much again)",
            err=True,
        )
