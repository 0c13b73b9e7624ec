"""`nanobench run`: one cell of a plan, one record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import json_option, out_directory_option
from nanobench.cli.requests import (
    EnvironmentRequest,
    PlaceRequest,
    TapeRequest,
    environment_request,
    place_request,
    tape_request,
)
from nanobench.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from nanobench.model.plan import Cell, Plan
    from nanobench.model.record import Record


@click.command()
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="A plan file of `nanobench plan`.",
)
@click.option("--cell", "cell_id", required=True, metavar="ID", help="The cell to run.")
@out_directory_option
@tape_request
@place_request
@environment_request
@json_option
def run(
    plan_file: Path,
    cell_id: str,
    out: Path,
    tape: TapeRequest,
    place: PlaceRequest,
    environment: EnvironmentRequest,
    as_json: bool,
) -> None:
    """Run one cell of a plan.

    Its record is written to --out. A cell that is graded already is not run again.

    Exit codes: 0 graded, 2 usage, 3 invalid input, 4 infrastructure trouble, 130 interrupted.
    """
    from nanobench.cli.builds import take_from
    from nanobench.cli.common import Terms, open_bench, run_unfinished
    from nanobench.cli.progress import progress
    from nanobench.dataset.catalog import Catalog, find_tasks_dir
    from nanobench.files import StateDirectory
    from nanobench.pipeline.scanning import read_plan
    from nanobench.pipeline.store import ResultStore

    whole = read_plan(plan_file)
    cell = _cell(whole, cell_id, plan_file)
    needed = tuple(task for task in whole.tasks if task.task_id == cell.task_id)
    plan = whole.model_copy(update={"cells": (cell,), "tasks": needed})
    taping = tape.resolve(plan.limits)
    state = StateDirectory.locate(place.state_dir)
    take_from(plan_file.parent, whole, state)
    sample = any(task.origin == "sample" for task in needed)
    catalog = Catalog.open(find_tasks_dir(place.tasks_dir), state, include_sample=sample)
    store = ResultStore(out)
    store.adopt(whole)
    terms = Terms(taping, environment.choice)
    with progress(1) as shown, open_bench(plan, catalog, state, store, shown, terms) as opened:
        run_unfinished(opened, jobs=1, require_isolation=environment.require_isolation)
    record = store.standing(cell)
    if as_json and record is not None:
        click.echo(record.to_json(), nl=False)
    _check(record, cell_id, plan.limits.attempts)


def _cell(plan: Plan, cell_id: str, plan_file: Path) -> Cell:
    for cell in plan.cells:
        if cell.cell_id == cell_id:
            return cell
    raise UsageError(
        f"the plan has no cell {cell_id!r}",
        where=str(plan_file),
        remedy="`nanobench plan --json` lists the cells",
    )


def _check(record: Record | None, cell_id: str, attempts: int) -> None:
    """Refuse to call a cell done that has no score.

    Raises:
        InfrastructureError: there is no record, or one of infrastructure trouble.
    """
    if record is None:
        raise InfrastructureError(
            f"the cell has used up its {attempts} attempts without a record",
            where=cell_id,
            remedy="see what ended them, then use another --out",
        )
    if record.verdict.outcome != "graded":
        raise InfrastructureError(
            f"the cell ended in infrastructure trouble: {record.verdict.reason}",
            where="; ".join(record.verdict.evidence),
            remedy="repeat the command to run it again",
        )
