"""`nanobench regrade`: records to the verdicts of another ruleset."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import RULESETS, json_option
from nanobench.errors import WHERE_INDENT, InvalidInputError

if TYPE_CHECKING:
    from nanobench.model.plan import Ruleset

_LISTED = 20
_LOG_WIDTH = 160


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--ruleset", type=click.Choice(RULESETS), required=True, help="The rules to judge by."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR2",
    help="A new directory for the new records and their report.  [default: only tell]",
)
@json_option
def regrade(directory: Path, ruleset: Ruleset, out: Path | None, as_json: bool) -> None:
    """Judge records by another ruleset.

    Every record below DIR is judged anew from the signals that it keeps; nothing is run, and
    the old records stay as they are. Shown are the labels that move. With --out the new records
    go into DIR2, which `nanobench report` and all other commands read.

    Exit codes: 0 fine, 2 usage, 3 a record could not be read or there are no results, 4 DIR2
    cannot be written.
    """
    from nanobench.pipeline.regrading import regrade as judge_anew

    found = judge_anew(directory, ruleset, out)
    if out is not None:
        _report(out)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        from nanobench.report.moves import render_moves

        terminal = sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if terminal else _LOG_WIDTH
        click.echo(render_moves(found, width=width), nl=False)
        if out is not None:
            click.echo(f"report: {out / 'report' / 'report.html'}")
    if found.problems:
        raise _unused(found.problems)


def _report(out: Path) -> None:
    from nanobench.cli.judging import read_results
    from nanobench.cli.report import write_html, write_report
    from nanobench.files import make_directory

    results = read_results([out])
    write_report(results, make_directory(out / "report"))
    write_html(results, [out], out / "report")


def _unused(problems: tuple[str, ...]) -> InvalidInputError:
    from nanobench.report.escape import plain

    more = [f"and {len(problems) - _LISTED} more"] if len(problems) > _LISTED else []
    return InvalidInputError(
        f"{len(problems)} records could not be used; the others were judged",
        where=WHERE_INDENT.join([*(plain(name) for name in problems[:_LISTED]), *more]),
        remedy="read records of a newer version with that version; remove damaged ones",
    )
