"""`nanobench bench`: plan, run and report on one machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import PlanRequest, json_option, out_directory_option, plan_request
from nanobench.errors import InfrastructureError

if TYPE_CHECKING:
    from nanobench.cli.options import Resolved
    from nanobench.model.plan import Plan
    from nanobench.report.document import Report


@click.command()
@plan_request
@out_directory_option
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cells at a time.  [default: half of the processors]",
)
@json_option
def bench(request: PlanRequest, out: Path, jobs: int | None, as_json: bool) -> None:
    """Plan, run and report on one machine; the same command resumes an interrupted bench.

    Results go to --out: plan.json, cells/, and the report in report/. Finished cells are kept;
    cells that were cut short or met infrastructure trouble are run again, three times at most.

    Exit codes: 0 every cell is graded, 2 usage, 3 invalid input, 4 cells are missing or ended in
    infrastructure trouble or a directory cannot be used, 130 interrupted.
    """
    resolved = request.resolve()
    for warning in resolved.planned.warnings:
        click.echo(f"warning: {warning}", err=True)
    report = run_plan(resolved.planned.plan, resolved, out, jobs)
    if as_json:
        click.echo(report.to_json(), nl=False)
    else:
        tell(report, out)
    check_complete(report)


def run_plan(plan: Plan, resolved: Resolved, out: Path, jobs: int | None) -> Report:
    """Run what is unfinished of a plan, and write the report of all of it below `out`.

    Raises:
        NanobenchError: the input is wrong, a directory cannot be used, or the run was interrupted.
    """
    from nanobench.cli.common import open_bench
    from nanobench.cli.progress import progress
    from nanobench.cli.report import write_report
    from nanobench.files import make_directory
    from nanobench.pipeline.cell import run_cell
    from nanobench.pipeline.pool import run_cells, unfinished
    from nanobench.pipeline.store import load_results
    from nanobench.report.aggregate import build_report

    with (
        progress(len(plan.cells)) as shown,
        open_bench(plan, resolved.catalog, resolved.state, out, shown) as opened,
    ):
        opened.store.adopt(plan)
        todo = unfinished(plan, opened.store, shown)
        run_cells(todo, lambda cell: run_cell(cell, opened), jobs or default_jobs())
    results = load_results([out])
    report = build_report(results.plan, results.records, results.problems)
    write_report(report, make_directory(out / "report"))
    return report


def default_jobs() -> int:
    """Half of the processors: a cell's agent and tests use more than one at times."""
    return max(1, (os.cpu_count() or 2) // 2)


def tell(report: Report, out: Path) -> None:
    """Print the table and where the report is."""
    from nanobench.cli.report import show

    show(report)
    click.echo(f"report: {out / 'report' / 'report.md'}")


def check_complete(report: Report) -> None:
    """Refuse to call a bench done whose cells are not all graded.

    Raises:
        InfrastructureError: cells are missing or ended in infrastructure trouble.
    """
    incomplete = [row for row in report.cells if row.state != "present"]
    if incomplete:
        raise InfrastructureError(
            f"{len(incomplete)} of {len(report.cells)} cells have no score",
            where=", ".join(f"{row.cell_id} ({row.reason or row.state})" for row in incomplete[:5]),
            remedy="see the report; repeat the same command to run them again",
        )
