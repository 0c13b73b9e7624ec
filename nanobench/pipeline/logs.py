"""Stored outputs of finished commands, found by id and read in pieces (SPEC X12).

Whatever an output's size, only one piece of it is in memory: a line of a gigabyte comes in
pieces too.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nanobench.errors import InvalidInputError, UsageError
from nanobench.pipeline.records import CELLS, RECORD, read_record
from nanobench.pipeline.store import OUTPUTS, attempts_in
from nanobench.verify.outputs import OUTPUT_SUFFIX

PIECE = 64 * 1024
SEARCHED = 1024 * 1024  # of a line, from its start
_PARTS = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Output:
    """A stored output; lines and bytes are those of the output, not of the file."""

    output_id: str
    lines: int
    size: int
    command: str | None


@dataclass(frozen=True)
class Piece:
    """A part of a line, at most `PIECE` bytes, its line end included; lines count from 1."""

    line: int
    data: bytes


@dataclass(frozen=True)
class Selection:
    """Which lines: first and last (from 1, both included; null: to the end), and a pattern.

    `tail` takes that many last lines instead. The pattern is searched for in the first
    `SEARCHED` bytes of each line.
    """

    first: int = 1
    last: int | None = None
    tail: int | None = None
    pattern: re.Pattern[str] | None = None


def find_attempt(run: Path, cell_id: str | None, attempt: int | None) -> Path:
    """The attempt that `run` names: its directory, its cell's, or the bench's with a cell id.

    Of several attempts the highest stands, unless `attempt` names another.

    Raises:
        InvalidInputError: there is no such directory.
        UsageError: the cell or the attempt has to be named, or there is none of that name.
    """
    if not run.is_dir():
        raise InvalidInputError(
            "there are no results here",
            where=str(run),
            remedy="name the --out directory of a bench, or a directory of a cell in it",
        )
    if (run / CELLS).is_dir():
        run = _cell_directory(run / CELLS, cell_id)
    elif cell_id is not None:
        raise UsageError("a cell is named, but this is no --out directory", where=str(run))
    attempts = dict(attempts_in(run))
    if not attempts:
        if attempt is not None:
            raise UsageError("an attempt is named, but this is no cell", where=str(run))
        return run
    number = max(attempts) if attempt is None else attempt
    if number not in attempts:
        known = ", ".join(map(str, attempts))
        raise UsageError(f"the cell has no attempt {number}", where=str(run), remedy=f"has {known}")
    return attempts[number]


def list_outputs(attempt: Path) -> tuple[Output, ...]:
    """Every stored output, by id; counting reads each of them once.

    Raises:
        InvalidInputError: the directory is no attempt's, or a file is damaged.
    """
    record = read_record(attempt / RECORD)
    ran = () if isinstance(record, str) else record.completion.commands_run
    commands = {command.output_id: command.command for command in ran}
    return tuple(
        _measure(output_id, path, commands.get(output_id))
        for output_id, path in _files(attempt).items()
    )


def read_output(attempt: Path, output_id: str, selection: Selection) -> Iterator[Piece]:
    """The selected lines, in pieces and in order.

    Raises:
        UsageError: there is no output of this id.
        InvalidInputError: its file is damaged.
    """
    path = find_output(attempt, output_id)
    first, last = selection.first, selection.last
    if selection.tail is not None:
        first = max(1, _measure(output_id, path, None).lines - selection.tail + 1)
    pieces = _within(path, first, last)
    yield from pieces if selection.pattern is None else _matching(pieces, selection.pattern)


def find_output(attempt: Path, output_id: str) -> Path:
    """The file of an output.

    Raises:
        UsageError: there is no output of this id.
        InvalidInputError: the directory is no attempt's.
    """
    files = _files(attempt)
    if output_id not in files:
        raise UsageError(
            f"there is no output {output_id!r}",
            where=str(attempt),
            remedy=f"choose one of: {', '.join(files)}" if files else "",
        )
    return files[output_id]


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The output in bytes, as the command wrote it.

    Raises:
        InvalidInputError: the file cannot be read to its end.
    """
    try:
        with gzip.open(path, "rb") as stream:
            yield stream  # type: ignore[misc]  # a GzipFile reads bytes
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError(
            f"the stored output is damaged: {error}",
            where=str(path),
            remedy="its end is lost; what was printed before this line is as it was",
        ) from None


def _cell_directory(cells: Path, cell_id: str | None) -> Path:
    known = sorted(path.name for path in cells.iterdir() if path.is_dir())
    if cell_id is None and len(known) == 1:
        return cells / known[0]
    if cell_id not in known:
        raise UsageError(
            f"there is no cell {cell_id!r} here" if cell_id else "there are several cells here",
            where=str(cells),
            remedy="name one of them with --cell; `nanobench status` lists them",
        )
    return cells / cell_id


def _files(attempt: Path) -> dict[str, Path]:
    directory = attempt / OUTPUTS
    if not directory.is_dir():
        raise InvalidInputError(
            "no outputs are stored here",
            where=str(attempt),
            remedy="name a directory of an attempt; what did not run left no output",
        )
    return {
        path.name.removesuffix(OUTPUT_SUFFIX): path
        for path in sorted(directory.glob(f"*{OUTPUT_SUFFIX}"))
        if path.is_file() and not path.is_symlink() and not path.name.startswith(".")
    }


def _measure(output_id: str, path: Path, command: str | None) -> Output:
    lines = size = 0
    last = b"\n"
    with opened(path) as stream:
        while chunk := stream.read(PIECE):
            lines += chunk.count(b"\n")
            size += len(chunk)
            last = chunk[-1:]
    return Output(output_id, lines + (last != b"\n"), size, command)


def _within(path: Path, first: int, last: int | None) -> Iterator[Piece]:
    number = 1
    with opened(path) as stream:
        while (last is None or number <= last) and (chunk := stream.read(PIECE)):
            breaks = chunk.count(b"\n")
            if number + breaks < first:
                number += breaks
                continue
            for data in _PARTS.findall(chunk):
                if number >= first and (last is None or number <= last):
                    yield Piece(number, data)
                number += data.endswith(b"\n")


def _matching(pieces: Iterator[Piece], pattern: re.Pattern[str]) -> Iterator[Piece]:
    """The lines in whose beginning the pattern is found."""
    held: list[Piece] = []
    size = 0
    shown: bool | None = None  # of the line at hand; null: not decided yet
    for piece in pieces:
        ended = piece.data.endswith(b"\n")
        if shown is None:
            held.append(piece)
            size += len(piece.data)
            if ended or size >= SEARCHED:
                shown = _found(held, pattern)
                yield from held if shown else ()
                held, size = [], 0
        elif shown:
            yield piece
        if ended:
            shown = None
    if held and _found(held, pattern):
        yield from held


def _found(pieces: list[Piece], pattern: re.Pattern[str]) -> bool:
    text = b"".join(piece.data for piece in pieces).decode("utf-8", "replace")
    return pattern.search(text.rstrip("\r\n")) is not None
