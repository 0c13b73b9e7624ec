"""`nanobench bench`: plan, run and report on one machine."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import out_directory_option
from nanobench.cli.requests import (
    EnvironmentRequest,
    OutcomeRequest,
    PlanRequest,
    TapeRequest,
    environment_request,
    outcome_request,
    plan_request,
    tape_request,
)
from nanobench.errors import WHERE_INDENT, InfrastructureError

if TYPE_CHECKING:
    from nanobench.cli.common import Terms
    from nanobench.cli.requests import Resolved
    from nanobench.report.comparison_document import Comparison
    from nanobench.report.document import Report
    from nanobench.report.pairing import Results

_CAUSES = 5


@click.command()
@plan_request
@tape_request
@out_directory_option
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cells at a time.  [default: half of the processors]",
)
@environment_request
@outcome_request
def bench(
    request: PlanRequest,
    tape: TapeRequest,
    out: Path,
    jobs: int | None,
    environment: EnvironmentRequest,
    outcome: OutcomeRequest,
) -> None:
    """Plan, run and report on one machine.

    The same command resumes an interrupted bench.
    Results go to --out: plan.json, cells/, and the report in report/. Finished cells are kept;
    cells that were cut short or met infrastructure trouble are run again, three times at most.

    Exit codes: 0 every cell is graded, 1 a regression against --baseline, 2 usage, 3 invalid
    input, 4 cells are missing or ended in infrastructure trouble or a directory cannot be used,
    130 interrupted.
    """
    from nanobench.cli.common import Terms
    from nanobench.cli.judging import check_regression

    resolved = request.resolve()
    baseline = outcome.read_baseline(request.tasks_dir)  # before hours of work, not after
    for warning in resolved.planned.warnings:
        click.echo(f"warning: {warning}", err=True)
    taping = tape.resolve(resolved.planned.plan.limits)
    terms = Terms(taping, environment.choice)
    jobs = jobs or default_jobs()
    how = How(
        jobs,
        terms,
        require_isolation=environment.require_isolation,
        tasks_dir=request.tasks_dir,
    )
    report = run_plan(resolved, out, how)
    comparison = _compared(baseline, out, request.tasks_dir) if baseline else None
    if outcome.as_json:
        click.echo(report.to_json(), nl=False)
    else:
        tell(report, out, comparison)
    if comparison is not None:
        check_regression(comparison)
    check_complete(report)


def _compared(baseline: Results, out: Path, tasks_dir: Path | None) -> Comparison:
    """The comparison with a baseline, written into the report as well."""
    from nanobench.cli.judging import read_results
    from nanobench.cli.report import write_html, write_report
    from nanobench.report.comparison import compare_results

    results = read_results([out], tasks_dir=tasks_dir)
    comparison = compare_results(baseline, results)
    write_report(results, out / "report", comparison)
    write_html(results, [out], out / "report", comparison)
    return comparison


@dataclass(frozen=True)
class How:
    """How a plan is run.

    Args:
        jobs: cells at a time.
        terms: recordings, ceilings and the choice of environments; null: the defaults.
        afresh: whether results that stand are thrown away first.
        require_isolation: refuse to run agents that are isolated less than fully.
        tasks_dir: the dataset whose audit the report goes by; null: the one that is found.
    """

    jobs: int
    terms: Terms | None = None
    afresh: bool = False
    require_isolation: bool = False
    tasks_dir: Path | None = None


def run_plan(resolved: Resolved, out: Path, how: How) -> Report:
    """Run what is unfinished of a plan, or all of it, and write the report of all below `out`.

    Raises:
        NanobenchError: the input is wrong, a directory cannot be used, or the run was interrupted.
    """
    from nanobench.cli.common import open_bench, run_unfinished
    from nanobench.cli.judging import read_results
    from nanobench.cli.progress import progress
    from nanobench.cli.report import write_html, write_report
    from nanobench.files import make_directory
    from nanobench.pipeline.store import ResultStore

    plan, store = resolved.planned.plan, ResultStore(out)
    with store.held():
        if how.afresh:
            store.clear()
        store.adopt(plan)
        with (
            progress(len(plan.cells)) as shown,
            open_bench(plan, resolved.catalog, resolved.state, store, shown, how.terms) as opened,
        ):
            run_unfinished(opened, how.jobs, require_isolation=how.require_isolation)
        results = read_results([out], tasks_dir=how.tasks_dir)
        write_report(results, make_directory(out / "report"))
        write_html(results, [out], out / "report")
    for problem in results.report.problems:
        click.echo(f"warning: {problem}", err=True)
    return results.report


def default_jobs() -> int:
    """Half of the processors: a cell's agent and tests use more than one at times."""
    return max(1, (os.cpu_count() or 2) // 2)


def tell(report: Report, out: Path, comparison: Comparison | None = None) -> None:
    """Print the table, the verdict if there is a baseline, and where the report is."""
    from nanobench.cli.judging import tell_verdict
    from nanobench.cli.report import show

    show(report)
    if comparison is not None:
        tell_verdict(comparison)
    click.echo(f"report: {out / 'report' / 'report.html'}")


def check_complete(report: Report) -> None:
    """Refuse to call a bench done whose cells are not all graded.

    Raises:
        InfrastructureError: cells are missing or ended in infrastructure trouble; each cause is
            named once.
    """
    from nanobench.report.terminal import cause

    incomplete = [row for row in report.cells if row.state != "present"]
    if not incomplete:
        return
    causes = Counter(cause(row) for row in incomplete).most_common()
    raise InfrastructureError(
        f"{len(incomplete)} of {len(report.cells)} cells have no score",
        where=WHERE_INDENT.join(f"{count} of them: {name}" for name, count in causes[:_CAUSES]),
        remedy="see the report; repeat the same command to run them again",
    )
