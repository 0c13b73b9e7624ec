"""`nanobench report`: result directories to one report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import json_option, out_directory_option
from nanobench.errors import InfrastructureError, InvalidInputError

if TYPE_CHECKING:
    from nanobench.report.document import Report

FAILURES = ("missing", "infrastructure")
_LISTED = 20
_LOG_WIDTH = 160


def _fail_on(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    for name in names:
        if name not in FAILURES:
            raise click.BadParameter(f"{name!r} is none of: {', '.join(FAILURES)}")
    return names


@click.command()
@click.argument(
    "directories", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@out_directory_option
@click.option(
    "--fail-on",
    callback=_fail_on,
    metavar=",".join(FAILURES),
    default="",
    help="Exit with 4 if a planned cell is missing, or one ended in infrastructure trouble.",
)
@json_option
def report(
    directories: tuple[Path, ...], out: Path, fail_on: tuple[str, ...], as_json: bool
) -> None:
    """Merge records, judge them, and render a report.

    All results below DIR... go into report.md and report.json in --out.
    Every planned cell is listed as present, missing or infrastructure; only graded runs enter
    a score. A file that is no readable record is named, and the rest is still reported.

    Exit codes: 0 fine, 2 usage, 3 a record could not be read or there are no results,
    4 there is what --fail-on names, or a directory cannot be written.
    """
    from nanobench.files import make_directory
    from nanobench.pipeline.store import load_results
    from nanobench.report.aggregate import build_report

    results = load_results(directories)
    if results.plan is None and not results.records and not results.problems:
        raise InvalidInputError(
            "there is neither a plan nor a record here",
            where=", ".join(map(str, directories)),
            remedy="name the --out directory of a bench",
        )
    document = build_report(results.plan, results.records, results.problems)
    write_report(document, make_directory(out))
    if as_json:
        click.echo(document.to_json(), nl=False)
    else:
        show(document)
        click.echo(f"report: {out / 'report.md'}")
    _judge(document, fail_on)


def write_report(document: Report, directory: Path) -> None:
    """Write `report.json` and `report.md`.

    Raises:
        StateError: the directory cannot be written.
    """
    from nanobench.files import write_atomic
    from nanobench.report.markdown import render_markdown

    write_atomic(directory / "report.json", document.to_json())
    write_atomic(directory / "report.md", render_markdown(document))


def show(document: Report) -> None:
    """Print the table of the cells to standard output."""
    import shutil

    from nanobench.report.terminal import render_table

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _LOG_WIDTH
    click.echo(render_table(document, width=width, color=terminal), nl=False)


def _judge(document: Report, fail_on: tuple[str, ...]) -> None:
    if document.problems:
        raise InvalidInputError(
            f"{len(document.problems)} files could not be used; the report holds the rest",
            where=_list(document.problems),
            remedy="read records of a newer version with that version; remove damaged ones, or run "
            "their cells again",
        )
    rows = [row for row in document.cells if row.state in fail_on]
    if rows:
        raise InfrastructureError(
            f"{len(rows)} of {len(document.cells)} cells are {' or '.join(fail_on)}",
            where=_list([f"{row.cell_id} ({row.state})" for row in rows]),
            remedy="repeat the bench with the same --out to run them",
        )


def _list(names: list[str] | tuple[str, ...]) -> str:
    from nanobench.report.escape import plain

    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return "\n    ".join([*(plain(name) for name in names[:_LISTED]), *more])
