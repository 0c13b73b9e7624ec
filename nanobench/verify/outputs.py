"""Whole outputs of commands, stored compressed; what is shown is a summary (SPEC X12)."""

import gzip
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from nanobench.errors import UsageError
from nanobench.files import make_directory, state_error
from nanobench.model.record import CommandSummary
from nanobench.verify.masking import without_times

OUTPUT_SUFFIX = ".log.gz"
SHOWN_LINES = 20
SHOWN_CHARACTERS = 4000
STDERR_MARK = b"--- stderr ---\n"
_CHUNK = 1 << 20
_KEPT = 64 * 1024  # bytes at each end from which the shown lines are taken


class Finished(Protocol):
    """How a command ended."""

    @property
    def exit_code(self) -> int | None:
        """The exit code; negative is the signal that killed it; null is unknown."""

    @property
    def timed_out(self) -> bool:
        """Whether its time limit ended it."""

    @property
    def duration_seconds(self) -> float:
        """Wall-clock seconds."""


@dataclass(frozen=True)
class CommandOutput:
    """A command that ended, and the files that hold what it wrote."""

    command: str
    result: Finished
    stdout: Path
    stderr: Path


class OutputStore:
    """A directory of outputs by id, one gzip file each: stdout, then stderr behind a mark."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def store(self, output_id: str, output: CommandOutput) -> CommandSummary:
        """Store the whole output, replacing one of the same id, and summarise it.

        Memory stays bounded however long the output is; equal outputs give equal files.

        Raises:
            StateError: it cannot be written.
        """
        ends = _Ends()
        make_directory(self._directory)
        target = self._path(output_id)
        temporary = target.with_name(f".{target.name}.partial")
        try:
            with (
                temporary.open("wb") as raw,
                gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as packed,
            ):
                for chunk in _chunks(output.stdout, output.stderr):
                    packed.write(chunk)
                    ends.add(chunk)
                packed.close()
                os.fsync(raw.fileno())  # the record, which is written later, must not outlive it
            temporary.replace(target)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise state_error(error, target) from None
        head, tail, whole = ends.shown()
        return CommandSummary(
            command=output.command,
            exit_code=output.result.exit_code,
            duration_seconds=output.result.duration_seconds,
            timed_out=output.result.timed_out,
            truncated=not whole,
            output_lines=ends.lines,
            head=head,
            tail=tail,
            output_id=output_id,
        )

    @contextmanager
    def spool(self, output_id: str) -> Iterator[tuple[Path, Path]]:
        """Paths for stdout and stderr of a running command, out of its reach; gone afterwards.

        Raises:
            StateError: the directory cannot be created.
        """
        make_directory(self._directory)
        paths = tuple(self._directory / f".{output_id}.{name}" for name in ("stdout", "stderr"))
        try:
            yield paths[0], paths[1]
        finally:
            for path in paths:
                path.unlink(missing_ok=True)

    def open(self, output_id: str) -> BinaryIO:
        """The whole output, as it was, in bytes.

        Raises:
            UsageError: there is no output of this id.
        """
        path = self._path(output_id)
        if not path.is_file():
            raise UsageError(f"there is no output {output_id!r}", where=str(self._directory))
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile reads bytes

    def _path(self, output_id: str) -> Path:
        return self._directory / f"{output_id}{OUTPUT_SUFFIX}"


def _chunks(stdout: Path, stderr: Path) -> Iterator[bytes]:
    last = b"\n"
    for chunk in _read(stdout):
        last = chunk[-1:]
        yield chunk
    marked = False
    for chunk in _read(stderr):
        if not marked:
            yield (b"" if last == b"\n" else b"\n") + STDERR_MARK
            marked = True
        yield chunk


def _read(path: Path) -> Iterator[bytes]:
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    with stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


class _Ends:
    """The first and the last bytes of a stream."""

    def __init__(self) -> None:
        self.size = 0
        self._breaks = 0
        self._last = b"\n"
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    @property
    def lines(self) -> int:
        """Lines so far, an unfinished one included."""
        return self._breaks + (self._last != b"\n")

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        self._breaks += chunk.count(b"\n")
        self._last = chunk[-1:] or self._last
        if len(self._head) < _KEPT:
            self._head += chunk[: _KEPT - len(self._head)]
        self._tail.append(chunk)
        self._tail_size += len(chunk)
        while self._tail_size - len(self._tail[0]) >= _KEPT:
            self._tail_size -= len(self._tail.popleft())

    def shown(self) -> tuple[str, str, bool]:
        """The first lines, the last ones that are not among them, and whether that is all.

        Times are masked first, so that equal runs are cut at the same places.
        """
        first = _lines(bytes(self._head))
        if self.size == len(self._head) and len(first) <= SHOWN_LINES:
            tail = ""
        else:
            rest = _lines(b"".join(self._tail)[-_KEPT:])
            fresh = rest if self.size > _KEPT else rest[SHOWN_LINES:]
            tail = without_times("".join(fresh[-SHOWN_LINES:]))
        head = without_times("".join(first[:SHOWN_LINES]))
        whole = self.size <= _KEPT and len(first) <= 2 * SHOWN_LINES
        whole = whole and len(head) <= SHOWN_CHARACTERS and len(tail) <= SHOWN_CHARACTERS
        return head[:SHOWN_CHARACTERS], tail[-SHOWN_CHARACTERS:], whole


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").splitlines(keepends=True)
