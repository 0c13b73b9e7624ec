"""Hashes of the files kept beside a record, as `sha256sum --check SHA256SUMS` reads them."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from nanobench.files import write_atomic
from nanobench.model.record import Record

SUMS = "SHA256SUMS"


def write_sums(attempt: Path, names: Iterable[str]) -> None:
    """Write the hashes of these files.

    Raises:
        StateError: the directory cannot be written.
    """
    lines = (f"{_sha256(attempt / name)}  {name}\n" for name in names)
    write_atomic(attempt / SUMS, "".join(lines))


def damaged(attempt: Path, record: Record) -> list[str]:
    """The kept files of an attempt that are not what they were when its record was written.

    What is gone was taken away and is no damage. Versions that wrote no hashes tell nothing.
    """
    created = record.completion.artifacts_created
    if SUMS not in created or not (attempt / SUMS).is_file():
        return []
    text = (attempt / SUMS).read_text(errors="replace")
    known = {
        name: digest for digest, _, name in (line.partition("  ") for line in text.split("\n"))
    }
    known.pop("", None)
    names = [name for name in created if name != SUMS]
    if not text.endswith("\n") or known.keys() != set(names):
        return [SUMS]
    return [name for name in names if _is_other(attempt / name, known[name])]


def _is_other(path: Path, digest: str) -> bool:
    return path.is_file() and _sha256(path) != digest


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
