"""`nanobench export`: results in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import tasks_dir_option
from nanobench.errors import UsageError

if TYPE_CHECKING:
    from nanobench.report.pairing import Results

TABLES = ("csv", "parquet")
TREES = ("inspect", "atif", "predictions")


@click.command()
@click.argument(
    "directories", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@click.option(
    "--format",
    "form",
    type=click.Choice((*TABLES, *TREES)),
    required=True,
    help="csv, parquet: one row per run. inspect: logs of Inspect AI. atif: trajectories of "
    "Harbor. predictions: as SWE-bench takes them.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PATH",
    help="The file (csv, parquet) or the directory (others) to write; older files of the same "
    "names are replaced.",
)
@tasks_dir_option
def export(directories: tuple[Path, ...], form: str, out: Path, tasks_dir: Path | None) -> None:
    """Write results in the format of another tool.

    DIR... are result directories of a bench. What cannot be exported is named, and the rest is
    still written.

    Exit codes: 0 written, 2 usage (parquet needs the extra nanobench[parquet]), 3 a record or a
    patch could not be read or there are no results, 4 a file cannot be written.
    """
    from nanobench.cli.judging import check_readable, read_results

    _check_place(form, out)
    results = read_results(directories, tasks_dir=tasks_dir)
    problems = list(results.report.problems)
    if form in TABLES:
        _write_table(results, form, out)
    else:
        problems += _write_tree(results, directories, form, out)
    check_readable(problems)


def _check_place(form: str, out: Path) -> None:
    if form in TABLES and out.is_dir():
        raise UsageError(
            "a file is needed here, this is a directory",
            where=f"--out {out}",
            remedy=f"write --out {out / f'runs.{form}'}",
        )


def _write_table(results: Results, form: str, out: Path) -> None:
    from nanobench.files import make_directory, write_atomic
    from nanobench.report.export.table import csv_table, parquet_table

    text = csv_table(results) if form == "csv" else parquet_table(results)
    make_directory(out.parent)
    write_atomic(out, text)
    click.echo(f"{len(results.report.cells)} runs: {out}")


def _write_tree(results: Results, sources: tuple[Path, ...], form: str, out: Path) -> list[str]:
    """Write the files of a format; gives what could not be exported."""
    from nanobench.files import make_directory, write_atomic
    from nanobench.report.attempts import Attempts
    from nanobench.report.export.files import Export

    made = Export(results, Attempts(results.records, sources))
    directory, count = make_directory(out), 0
    for name, text in getattr(made, form)():
        write_atomic(directory / name, text)
        count += 1
    click.echo(f"{count} files: {out}")
    return made.problems
