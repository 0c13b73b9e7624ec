"""`nanobench plan`: the cells of a bench, in a file and as the matrix of a workflow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.collecting import collecting
from nanobench.cli.options import json_option
from nanobench.cli.requests import PlanRequest, plan_request
from nanobench.errors import UsageError

if TYPE_CHECKING:
    from nanobench.dataset.planning import Planned
    from nanobench.model.plan import Plan


@dataclass(frozen=True)
class MatrixRequest:
    """What a workflow wants of a plan, as typed."""

    github: bool
    per_provider: int
    allow_empty: bool


matrix_request = collecting(
    "matrix",
    MatrixRequest,
    (
        click.option(
            "--github",
            is_flag=True,
            help="Hand matrix, batches, index and count to the workflow as outputs of the step.",
        ),
        click.option(
            "--per-provider",
            type=click.IntRange(1, 100),
            default=4,
            show_default=True,
            help="With --github: jobs that ask one provider at once.",
        ),
        click.option(
            "--allow-empty",
            is_flag=True,
            help="Write an empty plan, and count 0, if no task fits the selection.",
        ),
    ),
)


@click.command()
@plan_request
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The plan file to write, e.g. plan.json.",
)
@matrix_request
@json_option
def plan(request: PlanRequest, out: Path, matrix: MatrixRequest, as_json: bool) -> None:
    """Write the cells of a bench to a plan file.

    A cell is a model, a task, a mode and a run number. Nothing is run. Warnings tell what the
    planned runs could not show. A build of Nanocoder that is no release is put beside the file.

    Exit codes: 0 written, 2 usage or a plan too large for --github, 3 a task file is wrong,
    4 a directory cannot be used.
    """
    from nanobench.cli.builds import put_beside
    from nanobench.files import StateDirectory, make_directory, write_atomic

    if out.is_dir():
        raise UsageError(
            "a file is needed here, this is a directory",
            where=f"--out {out}",
            remedy=f"write --out {out / 'plan.json'}",
        )
    planned = _planned(request, matrix.allow_empty)
    make_directory(out.parent)
    write_atomic(out, planned.plan.to_json())
    put_beside(planned.plan, StateDirectory.locate(request.state_dir), out.parent)
    if matrix.github:
        _hand_over(planned.plan, matrix.per_provider)
    _tell(planned, out, as_json)


def _planned(request: PlanRequest, allow_empty: bool) -> Planned:
    from nanobench.dataset.planning import Planned
    from nanobench.dataset.selectors import NothingSelectedError
    from nanobench.model.plan import Plan

    try:
        return request.resolve().planned
    except NothingSelectedError as error:
        if not allow_empty:
            raise
        return Planned(Plan(tasks=(), cells=()), (error.what,))


def _hand_over(plan: Plan, per_provider: int) -> None:
    import os

    from nanobench.github.actions import write_outputs
    from nanobench.github.matrix import github_outputs

    write_outputs(os.environ, github_outputs(plan, per_provider))


def _tell(planned: Planned, out: Path, as_json: bool) -> None:
    if as_json:
        summary = {
            "plan": str(out),
            "cells": [cell.cell_id for cell in planned.plan.cells],
            "tasks": [task.task_id for task in planned.plan.tasks],
            "warnings": list(planned.warnings),
        }
        click.echo(json.dumps(summary, indent=2))
        return
    for warning in planned.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(f"{len(planned.plan.cells)} cells of {len(planned.plan.tasks)} tasks: {out}")
