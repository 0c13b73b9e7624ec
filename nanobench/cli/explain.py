"""`nanobench explain`: a run's signals, the rules, and why each matched or did not."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import RULESETS, json_option
from nanobench.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from nanobench.model.plan import Ruleset
    from nanobench.model.record import Record

_LOG_WIDTH = 100
_MOST_WIDTH = 120


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--cell", metavar="CELL", help="The cell's id, if RUN is the --out of a bench.")
@click.option("--attempt", type=click.IntRange(min=1), help="Of the cell.  [default: the last]")
@click.option(
    "--ruleset", type=click.Choice(RULESETS), help="The rules to judge by.  [default: the record's]"
)
@json_option
def explain(
    run: Path, cell: str | None, attempt: int | None, ruleset: Ruleset | None, as_json: bool
) -> None:
    """Show why a run has its verdict.

    The signals that the rules look at, and each rule with what made it match or not. RUN is a
    record.json, the directory of an attempt or of a cell, or the --out of a bench. `--json` has
    every part of every condition.

    Exit codes: 0 fine, 2 usage, 3 there is no record that can be read.
    """
    from nanobench.report.explanation import explain_record, render_explanation

    record = _record(run, cell, attempt)
    found = explain_record(record, ruleset or record.verdict.ruleset)
    if as_json:
        click.echo(found.to_json(), nl=False)
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _LOG_WIDTH
    click.echo(render_explanation(found, min(width, _MOST_WIDTH)), nl=False)


def _record(run: Path, cell: str | None, attempt: int | None) -> Record:
    from nanobench.pipeline.logs import find_attempt
    from nanobench.pipeline.records import RECORD, read_record

    if run.is_file():
        if cell is not None or attempt is not None:
            raise UsageError("a cell or an attempt is named, but this is a file", where=str(run))
        path = run
    else:
        path = find_attempt(run, cell, attempt) / RECORD
    record = read_record(path)
    if isinstance(record, str):
        cut_short = "an attempt that was cut short left none; --attempt names another"
        raise InvalidInputError(
            f"the file {record}" if path.exists() else "there is no record",
            where=str(path),
            remedy="" if path.exists() else cut_short,
        )
    return record
