"""`nanobench compare`: two results to a verdict."""

from pathlib import Path

import click

from nanobench.cli.judging import check_readable, check_regression, read_results, tell_verdict
from nanobench.cli.options import json_option, tasks_dir_option


@click.command()
@click.argument("before", metavar="BEFORE", type=click.Path(path_type=Path))
@click.argument("after", metavar="AFTER", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write comparison.md and comparison.json there; created if absent.",
)
@tasks_dir_option
@json_option
def compare(
    before: Path, after: Path, out: Path | None, tasks_dir: Path | None, as_json: bool
) -> None:
    """Say whether a result is better or worse.

    BEFORE and AFTER are result directories of a bench. They are paired by provider, model, task
    and mode; what cannot be compared is named with the reason.

    Exit codes: 0 no regression, 1 a regression, 2 usage, 3 a record could not be read or there
    are no results, 4 a directory cannot be written.
    """
    from nanobench.files import make_directory, write_atomic
    from nanobench.report.comparison import compare_results
    from nanobench.report.comparison_markdown import render_comparison

    sides = [read_results([path], tasks_dir=tasks_dir) for path in (before, after)]
    comparison = compare_results(*sides)
    if out is not None:
        directory = make_directory(out)
        write_atomic(directory / "comparison.json", comparison.to_json())
        write_atomic(directory / "comparison.md", render_comparison(comparison))
    if as_json:
        click.echo(comparison.to_json(), nl=False)
    else:
        tell_verdict(comparison)
    check_readable((*comparison.before.problems, *comparison.after.problems))
    check_regression(comparison)
