"""`nanobench logs`: whole outputs of commands, by id."""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import json_option
from nanobench.errors import UsageError

if TYPE_CHECKING:
    from nanobench.pipeline.logs import Output, Piece, Selection

_RANGE = re.compile(r"([1-9][0-9]{0,17})?:([1-9][0-9]{0,17})?")
_JSON_LINE_BYTES = 1024 * 1024
_COMMAND_WIDTH = 100


def _range(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, int | None] | None:
    if value is None:
        return None
    match = _RANGE.fullmatch(value)
    if not match or not any(match.groups()):
        raise click.BadParameter(f"{value!r} is not of the form FIRST:LAST, lines counted from 1")
    first, last = int(match[1] or 1), int(match[2]) if match[2] else None
    if last is not None and last < first:
        raise click.BadParameter(f"{value!r} ends before it begins")
    return first, last


def _pattern(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> re.Pattern[str] | None:
    try:
        return None if value is None else re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise click.BadParameter(f"{value!r} is no regular expression: {error}") from None


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("output_id", metavar="[ID]", required=False)
@click.option("--cell", metavar="CELL", help="The cell's id, if RUN is the --out of a bench.")
@click.option("--attempt", type=click.IntRange(min=1), help="Of the cell.  [default: the last]")
@click.option("--head", type=click.IntRange(min=1), metavar="N", help="The first N lines.")
@click.option("--tail", type=click.IntRange(min=1), metavar="N", help="The last N lines.")
@click.option(
    "--range", "span", callback=_range, metavar="A:B", help="Lines A to B; either may be absent."
)
@click.option(
    "--grep", callback=_pattern, metavar="RE", help="Of these lines those that match (Python's re)."
)
@json_option
def logs(
    run: Path,
    output_id: str | None,
    cell: str | None,
    attempt: int | None,
    head: int | None,
    tail: int | None,
    span: tuple[int, int | None] | None,
    grep: re.Pattern[str] | None,
    as_json: bool,
) -> None:
    """Show the whole output of a command of a run.

    Options choose a part of it; without ID, the outputs are listed.

    RUN is the directory of an attempt or of a cell, or the --out of a bench. Outputs are those of
    the agent (agent-report, agent-stderr) and of each suite. A terminal gets control characters
    as escapes; a file or a pipe gets the bytes as they were.

    Exit codes: 0 fine, 2 usage, 3 there are no outputs or one is damaged.
    """
    from nanobench.pipeline.logs import Selection, find_attempt

    if sum(chosen is not None for chosen in (head, tail, span)) > 1:
        raise UsageError("--head, --tail and --range exclude each other")
    place = find_attempt(run, cell, attempt)
    if output_id is None:
        if head or tail or span or grep:
            raise UsageError("no output is named", remedy="`nanobench logs RUN` lists the outputs")
        _list(place, as_json)
        return
    first, last = span or (1, head)
    selection = Selection(first=first, last=last, tail=tail, pattern=grep)
    (_print_json if as_json else _print)(place, output_id, selection)


def _list(place: Path, as_json: bool) -> None:
    from nanobench.pipeline.logs import list_outputs

    outputs = list_outputs(place)
    if as_json:
        rows = [
            {"id": one.output_id, "lines": one.lines, "bytes": one.size, "command": one.command}
            for one in outputs
        ]
        click.echo(json.dumps({"attempt": str(place), "outputs": rows}, indent=2))
        return
    width = max((len(one.output_id) for one in outputs), default=0)
    for one in outputs:
        click.echo(_row(one, width))


def _row(output: Output, width: int) -> str:
    from nanobench.report.escape import plain

    sizes = f"{output.lines:>9,} lines {output.size:>13,} bytes"
    command = plain(output.command or "", _COMMAND_WIDTH)
    return f"{plain(output.output_id):<{width}}  {sizes}  {command}".rstrip()


def _print(place: Path, output_id: str, selection: Selection) -> None:
    from nanobench.pipeline.logs import read_output

    pieces = read_output(place, output_id, selection)
    if not sys.stdout.isatty():
        for piece in pieces:
            sys.stdout.buffer.write(piece.data)
        sys.stdout.buffer.flush()
        return
    for text in _readable(pieces):
        click.echo(text, nl=False)


def _readable(pieces: Iterator[Piece]) -> Iterator[str]:
    """Text for a terminal, with a line end at its end."""
    from nanobench.report.escape import visible

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    ended = True
    for piece in pieces:
        ended = piece.data.endswith(b"\n")
        yield visible(decoder.decode(piece.data, final=ended))
    if not ended:
        yield visible(decoder.decode(b"", final=True)) + "\n"


def _print_json(place: Path, output_id: str, selection: Selection) -> None:
    """One document, written as it is read; a line is cut at `_JSON_LINE_BYTES`, which it says."""
    from nanobench.pipeline.logs import read_output

    pieces = read_output(place, output_id, selection)
    opening, separator = f'{{"id": {json.dumps(output_id)}, "lines": [', "\n"
    click.echo(opening, nl=False)
    for number, parts in groupby(pieces, key=lambda piece: piece.line):
        kept, size = bytearray(), 0
        for part in parts:
            kept += part.data[: max(0, _JSON_LINE_BYTES - size)]
            size += len(part.data)
        text = kept.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
        row = {"number": number, "text": text, "cut": size > len(kept)}
        click.echo(separator + json.dumps(row), nl=False)
        separator = ",\n"
    click.echo("\n]}")
