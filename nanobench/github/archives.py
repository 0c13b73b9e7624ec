"""Archives and documents that others made: read within bounds, or refused by name.

An artifact is hostile: a job that ran foreign code wrote it. Its names may lead out of the
directory, its links to anywhere, and a few kilobytes may unpack to gigabytes.
"""

import re
import stat
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from nanobench.errors import InvalidInputError
from nanobench.files import make_directory, state_error
from nanobench.model.base import Document
from nanobench.pipeline.records import first_problem
from nanobench.report.escape import plain

Read = TypeVar("Read", bound=Document)

DOCUMENT_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
# What no file of ours has, and what some system gives a meaning: separators, drives, controls.
_ODD = re.compile(r"[\\:\x00-\x1f\x7f<>\"|?*]")
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TROUBLE = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip


class HostileArchiveError(InvalidInputError):
    """An archive that is broken, too large, or made to do harm."""


@dataclass(frozen=True)
class Bounds:
    """What an archive may unpack to."""

    bytes: int = 512 * 1024 * 1024
    files: int = 20_000
    depth: int = 12


def extract(archive: Path, into: Path, bounds: Bounds | None = None) -> None:
    """Unpack a zip archive into a directory, made if absent; all names are checked first.

    Raises:
        HostileArchiveError: it is no archive, it exceeds the bounds, or one of its entries is
            a link, is encrypted or compressed in an unusual way, stands twice, or would lie outside
            of the directory.
        StateError: the directory cannot be written.
    """
    bounds = bounds or Bounds()
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = [entry for entry in opened.infolist() if not entry.is_dir()]
            _check(archive, entries, bounds)
            for entry in entries:
                _write(opened, entry, into)
    except _TROUBLE as error:
        raise HostileArchiveError(
            f"this is no sound archive: {plain(str(error))}",
            where=str(archive),
            remedy="make it anew",
        ) from None
    except OSError as error:
        raise state_error(error, into) from None


def read_document(path: Path, kind: type[Read], most_bytes: int = DOCUMENT_BYTES) -> Read:
    """A JSON document of ours from a file that anyone may have written.

    Raises:
        InvalidInputError: it is missing, no regular file, too large, or none of its kind.
    """
    name = kind.__name__
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInputError(f"the {name} is no regular file", where=str(path))
        if status.st_size > most_bytes:
            raise InvalidInputError(
                f"the {name} has {status.st_size:,} bytes, more than {most_bytes:,}",
                where=str(path),
            )
        return kind.from_json(path.read_bytes())
    except OSError as error:
        raise InvalidInputError(
            f"the {name} cannot be read: {error.strerror}", where=str(path)
        ) from None
    except (ValidationError, RecursionError) as error:
        told = first_problem(error) if isinstance(error, ValidationError) else "nested too deeply"
        raise InvalidInputError(
            f"this is no {name} of this version: {plain(told)}",
            where=str(path),
            remedy="make it with this version of NanoBench",
        ) from None


def _check(archive: Path, entries: Sequence[zipfile.ZipInfo], bounds: Bounds) -> None:
    total = sum(entry.file_size for entry in entries)
    wrong = ""
    if len(entries) > bounds.files:
        wrong = f"it holds {len(entries):,} files, more than {bounds.files:,}"
    elif total > bounds.bytes:
        wrong = f"it unpacks to {total:,} bytes, more than {bounds.bytes:,}"
    else:
        seen: set[str] = set()
        for entry in entries:
            wrong = _wrong(entry, seen, bounds)
            seen.add(entry.filename.casefold())
            if wrong:
                break
    if wrong:
        raise HostileArchiveError(
            f"this archive is refused: {wrong}",
            where=str(archive),
            remedy="nothing was unpacked; look at who made it",
        )


def _wrong(entry: zipfile.ZipInfo, seen: set[str], bounds: Bounds) -> str:
    """What is wrong with an entry; empty if nothing is."""
    name, parts = entry.filename, entry.filename.split("/")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind and kind != stat.S_IFREG:
        return f"{name[:200]!r} is a link or another special file"
    if entry.flag_bits & 0x1:
        return f"{name[:200]!r} is encrypted"
    if entry.compress_type not in _PACKED:
        return f"{name[:200]!r} is compressed in an unusual way"
    if _ODD.search(name) or any(part in ("", ".", "..") for part in parts):
        return f"the name {name[:200]!r} leads out of the directory or has odd signs"
    if len(parts) > bounds.depth or any(len(part.encode()) > 200 for part in parts):
        return f"the name {name[:200]!r} is too long"
    ancestors = {"/".join(parts[:end]).casefold() for end in range(1, len(parts) + 1)}
    if ancestors & seen:
        return f"{name[:200]!r} stands twice"
    return ""


def _write(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, into: Path) -> None:
    """Unpack one entry; what holds more than it declares fails its checksum in `zipfile`."""
    target = into.joinpath(*entry.filename.split("/"))
    make_directory(target.parent)
    with opened.open(entry) as source, target.open("xb") as stream:
        while chunk := source.read(_CHUNK):
            stream.write(chunk)
