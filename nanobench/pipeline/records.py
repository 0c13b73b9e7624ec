"""Records on disk: read one, of this version or of an older one, or find all below a directory."""

from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG

from pydantic import ValidationError
from pydantic_core import from_json

from nanobench.model.migrations import UnreadableRecordError, upgrade
from nanobench.model.record import Record

RECORD = "record.json"
CELLS = "cells"
_MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


def records_below(directory: Path) -> Iterator[tuple[Path, Record | str]]:
    """Every record below a directory with its path, or why it cannot be read; in stable order."""
    for path in sorted(directory.glob(f"**/{CELLS}/*/attempt-*/{RECORD}")):
        yield path, read_record(path)


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
        UnreadableRecordError: there is none that can be read.
    """
    try:
        try:
            status = path.lstat()
        except FileNotFoundError:
            raise UnreadableRecordError("there is no record") from None
        if not S_ISREG(status.st_mode):
            raise UnreadableRecordError("there is no record")
        if status.st_size > _MAX_DOCUMENT_BYTES:
            raise UnreadableRecordError("the record is larger than 64 MiB")
        return parse_record(path.read_bytes())
    except OSError as error:
        raise UnreadableRecordError(f"cannot be read: {error.strerror}") from None


def parse_record(text: bytes) -> Record:
    """A record from its text.

    Raises:
        NewerRecordError: a newer version wrote it.
        UnreadableRecordError: it is no record.
    """
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


def first_problem(error: ValidationError) -> str:
    """The first thing that does not fit, and where it stands in the document."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"]) or "document"
    return f"{place}: {problem['msg']}"
