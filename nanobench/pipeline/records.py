"""Records on disk: read one, of this version or of an older one, or find all below a directory."""

import errno
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json

from nanobench.model.migrations import UnreadableRecordError, upgrade
from nanobench.model.record import Record

RECORD = "record.json"
CELLS = "cells"
PLAN = "plan.json"
_ATTEMPT = "attempt-"
_MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
_LARGEST = 2**63  # of a number: far beyond what a run counts, and sums of it are still numbers
_LARGE = re.compile(rb'":\s*-?(?:\d{19}|\d[\d.]*[eE]\+?\d\d)')
_NO_FILE = frozenset({errno.ELOOP, errno.ENXIO})  # a link, a socket


class NoRecordError(UnreadableRecordError):
    """There is no record where one was looked for."""


class Found(NamedTuple):
    """What lies below a directory, each in stable order; `unread` are directories, and why."""

    plans: tuple[Path, ...]
    attempts: tuple[Path, ...]
    unread: tuple[tuple[Path, str], ...]


def find(directory: Path) -> Found:
    """Plans and attempts at cells below a directory; what an attempt holds is not looked at.

    Symbolic links are not followed.
    """
    plans: list[str] = []
    attempts: list[str] = []
    unread: list[tuple[Path, str]] = []
    waiting = [os.fspath(directory)]
    while waiting:
        place = waiting.pop()
        in_cells = Path(place).parent.name == CELLS
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.name == PLAN:
                        plans.append(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        is_attempt = in_cells and entry.name.startswith(_ATTEMPT)
                        (attempts if is_attempt else waiting).append(entry.path)
        except OSError as error:
            unread.append((Path(place), f"cannot be read: {error.strerror}"))
    return Found(
        tuple(map(Path, sorted(plans))), tuple(map(Path, sorted(attempts))), tuple(sorted(unread))
    )


def records_below(directory: Path) -> Iterator[tuple[Path, Record | str]]:
    """Every record below a directory with its path, or why it cannot be read; in stable order."""
    found = find(directory)
    yield from found.unread
    yield from records_of(found.attempts)


def records_of(attempts: Iterable[Path]) -> Iterator[tuple[Path, Record | str]]:
    """The record of each finished attempt with its path, or why it cannot be read."""
    for attempt in attempts:
        path = attempt / RECORD
        try:
            yield path, load_record(path)
        except NoRecordError:
            continue
        except UnreadableRecordError as error:
            yield path, str(error)


def read_record(path: Path) -> Record | str:
    """A record, or why there is none that can be read."""
    try:
        return load_record(path)
    except UnreadableRecordError as error:
        return str(error)


def load_record(path: Path) -> Record:
    """A record of this version or of an older one, which is migrated.

    Raises:
        NewerRecordError: a newer version wrote it.
        NoRecordError: there is none.
        UnreadableRecordError: there is none that can be read.
    """
    try:
        # A link is not followed, and a pipe not waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            text = _whole(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise NoRecordError("there is no record") from None
    except OSError as error:
        if error.errno in _NO_FILE:
            raise UnreadableRecordError("there is no record, but something else") from None
        raise UnreadableRecordError(f"cannot be read: {error.strerror}") from None
    return parse_record(text)


def _whole(descriptor: int) -> bytes:
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode):
        raise UnreadableRecordError("there is no record, but something else")
    if status.st_size > _MAX_DOCUMENT_BYTES:
        raise UnreadableRecordError("the record is larger than 64 MiB")
    with open(descriptor, "rb", buffering=0, closefd=False) as stream:
        return stream.read()


def parse_record(text: bytes) -> Record:
    """A record from its text.

    Raises:
        NewerRecordError: a newer version wrote it.
        UnreadableRecordError: it is no record.
    """
    record = _parsed(text)
    if _LARGE.search(text) and _beyond_measure(from_json(text)):
        raise UnreadableRecordError("is no record: it has a number beyond measure")
    return record


def _parsed(text: bytes) -> Record:
    try:
        return Record.model_validate_json(text)
    except ValidationError:  # of an older version, or none: why, is slower to find out
        pass
    try:
        document = upgrade(from_json(text))
    except UnreadableRecordError:
        raise
    except ValueError as error:
        raise UnreadableRecordError(f"is no record: {error}") from None
    try:
        return Record.model_validate(document)
    except ValidationError as error:
        raise UnreadableRecordError(
            f"is no record of its version: {first_problem(error)}"
        ) from None


def _beyond_measure(document: Any) -> bool:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int | float) and abs(value) >= _LARGEST:
            return True
    return False


def first_problem(error: ValidationError) -> str:
    """The first thing that does not fit, and where it stands in the document."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"]) or "document"
    return f"{place}: {problem['msg']}"
