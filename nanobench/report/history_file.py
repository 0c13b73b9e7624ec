"""The file of a history: JSON Lines, one entry a line, added to and never rewritten."""

import os
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock
from pydantic import ValidationError

from nanobench.errors import InvalidInputError
from nanobench.files import make_directory, state_error
from nanobench.report.history import HistoryEntry


def read_history(path: Path) -> list[HistoryEntry]:
    """Every line; none if there is no file.

    Raises:
        InvalidInputError: a line is no entry, the last one is not whole, or the file cannot be
            read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InvalidInputError(
            f"the history cannot be read: {error.strerror}", where=str(path)
        ) from None
    *lines, rest = data.split(b"\n")
    if rest:
        raise _damaged(path, len(lines) + 1, "the line was cut short")
    return [_entry(path, number, line) for number, line in enumerate(lines, 1)]


def add_to_history(path: Path, entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Add those entries that are not the last word on their bench already; gives what was added.

    Raises:
        InvalidInputError: as `read_history`.
        StateError: the file cannot be written.
    """
    make_directory(path.parent)
    try:
        with FileLock(path.with_name(f".{path.name}.lock")):
            last = {entry.key: entry for entry in read_history(path)}
            new = [entry for entry in entries if last.get(entry.key) != entry]
            if new:
                _append(path, "".join(_line(entry) for entry in new).encode())
    except OSError as error:
        raise state_error(error, path) from None
    return new


def standing_entries(entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """The last entry on each bench, model and mode, in the order of time."""
    last = {entry.key: entry for entry in entries}
    return sorted(
        last.values(), key=lambda e: (e.section, str(e.model), e.mode, e.began, e.nanocoder, e.key)
    )


def _append(path: Path, data: bytes) -> None:
    """One write of whole lines, so that a crash leaves at most the last of them cut."""
    with path.open("ab", buffering=0) as stream:
        stream.write(data)
        os.fsync(stream.fileno())


def _line(entry: HistoryEntry) -> str:
    return entry.model_dump_json(ensure_ascii=True) + "\n"


def _entry(path: Path, number: int, line: bytes) -> HistoryEntry:
    try:
        return HistoryEntry.from_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise _damaged(
            path, number, f"{place}: {first['msg']}" if place else first["msg"]
        ) from None


def _damaged(path: Path, number: int, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"this line is no entry of a history: {why}",
        where=f"{path}, line {number}",
        remedy="restore the file, or remove this line and add its results again",
    )
