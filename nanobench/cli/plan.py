"""`nanobench plan`: the cells of a bench, in a file."""

import json
from pathlib import Path

import click

from nanobench.cli.options import json_option
from nanobench.cli.requests import PlanRequest, plan_request
from nanobench.errors import UsageError


@click.command()
@plan_request
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The plan file to write, e.g. plan.json.",
)
@json_option
def plan(request: PlanRequest, out: Path, as_json: bool) -> None:
    """Write the cells of a bench to a plan file.

    A cell is a model, a task, a mode and a run number. Nothing is run. Warnings tell what the
    planned runs could not show.

    Exit codes: 0 written, 2 usage, 3 a task file is wrong, 4 a directory cannot be used.
    """
    from nanobench.files import make_directory, write_atomic

    if out.is_dir():
        raise UsageError(
            "a file is needed here, this is a directory",
            where=f"--out {out}",
            remedy=f"write --out {out / 'plan.json'}",
        )
    planned = request.resolve().planned
    make_directory(out.parent)
    write_atomic(out, planned.plan.to_json())
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
