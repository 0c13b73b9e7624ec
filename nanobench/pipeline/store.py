"""Results on disk: `plan.json`, and one directory per attempt at a cell.

    OUT/plan.json
    OUT/cells/<cell id>/attempt-<n>/record.json
                                    prompt.txt  agent.patch  gateway.jsonl  outputs/
                                    status.json (only while it runs)

An attempt without `record.json` was cut short. The record is written last and whole, so that
a directory holds either a finished attempt or a visibly unfinished one. What a killed process left
of an unfinished one is thrown away by the next attempt; its number stays, since it counts.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from nanobench.errors import InvalidInputError, StateError
from nanobench.files import make_directory, state_error, write_atomic
from nanobench.model.migrations import NewerRecordError, UnreadableRecordError
from nanobench.model.plan import Cell, Plan
from nanobench.model.record import Record
from nanobench.pipeline.records import CELLS, RECORD, load_record
from nanobench.pipeline.records import PLAN as PLAN
from nanobench.pipeline.scanning import Scan, read_plan
from nanobench.workspace.teardown import remove_tree

OUTPUTS = "outputs"
_LOCK = ".lock"
_PROBED_SECONDS = 0.5  # a lock is held for an instant by who only asks whether it is held
# What `write_atomic` leaves of a plan or a report when its process is killed.
_HALF_WRITTEN = tuple(
    f"{name}.????????"
    for name in (
        f".{PLAN}",
        "report/.report.*",
        "report/.comparison.*",
        "calibration/.calibration.*",
    )
)
_ATTEMPT = re.compile(r"attempt-([1-9][0-9]*)")


@dataclass(frozen=True)
class Results:
    """What result directories hold: every readable record, and what could not be read."""

    plan: Plan | None
    records: tuple[Record, ...]
    problems: tuple[str, ...]


class ResultStore:
    """The result directory of one bench."""

    def __init__(self, root: Path) -> None:
        """Use `root`, created if absent.

        Raises:
            StateError: it cannot be created or is a file.
        """
        self.root = make_directory(root)

    def adopt(self, plan: Plan) -> None:
        """Keep the plan; a directory that holds another plan is refused.

        Raises:
            InvalidInputError: the directory belongs to another plan.
            StateError: the plan cannot be written.
        """
        path = self.root / PLAN
        if path.exists():
            if self._adopted(path) != plan:
                raise InvalidInputError(
                    "the output directory holds the results of another plan",
                    where=str(path),
                    remedy="choose another --out, or repeat the command that made it to resume",
                )
            return
        write_atomic(path, plan.to_json())

    def _adopted(self, path: Path) -> Plan:
        try:
            return read_plan(path)
        except InvalidInputError as error:
            raise InvalidInputError(
                error.what,
                where=str(path),
                remedy="remove the file and repeat the command: cells that are graded are kept",
            ) from None

    def attempts(self, cell: Cell) -> list[tuple[int, Path]]:
        """All attempts at a cell, finished or not, by number."""
        return attempts_in(self._home(cell))

    def standing(self, cell: Cell) -> Record | None:
        """The record of the highest finished attempt (SPEC X13).

        One that cannot be read, or is of another cell, does not count.

        Raises:
            InvalidInputError: a newer version wrote it, so that nobody knows whether it stands.
        """
        for _, path in reversed(self.attempts(cell)):
            try:
                record = load_record(path / RECORD)
            except NewerRecordError as error:
                raise InvalidInputError(
                    f"a record of the cell {error}", where=str(path / RECORD)
                ) from None
            except UnreadableRecordError:
                continue
            if record.cell == cell:
                return record
        return None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other benches out of this directory.

        Raises:
            StateError: another bench holds it.
        """
        with _exclusive(self.root, "another bench is using this output directory"):
            for pattern in _HALF_WRITTEN:
                for path in self.root.glob(pattern):
                    remove_tree(path)
            yield

    def clear(self) -> None:
        """Remove the plan and all attempts."""
        for name in (PLAN, CELLS):
            remove_tree(self.root / name)

    @contextmanager
    def attempt(self, cell: Cell) -> Iterator[tuple[int, Path]]:
        """A new attempt's number and directory, removed again unless a record was written.

        Raises:
            StateError: another process runs this cell or has just graded it, or the directory
                cannot be written.
        """
        home = make_directory(self._home(cell))
        with _exclusive(home, "another process is running this cell"):
            if is_graded(self.standing(cell)):
                raise StateError(
                    "another process has just graded this cell",
                    where=str(home),
                    remedy="repeat the command; what is graded is kept",
                )
            earlier = self.attempts(cell)
            for _, path in earlier:
                _empty_if_cut(path)
            number = max((n for n, _ in earlier), default=0) + 1
            directory = make_directory(home / f"attempt-{number}")
            try:
                yield number, directory
            except BaseException:
                if not (directory / RECORD).exists():
                    remove_tree(directory)
                raise

    def _home(self, cell: Cell) -> Path:
        return self.root / CELLS / cell.cell_id


def attempts_in(home: Path) -> list[tuple[int, Path]]:
    """All attempts in the directory of a cell, finished or not, by number."""
    found = []
    for path in home.glob("attempt-*") if home.is_dir() else ():
        match = _ATTEMPT.fullmatch(path.name)
        if match and path.is_dir():
            found.append((int(match[1]), path))
    return sorted(found)


def _empty_if_cut(attempt: Path) -> None:
    """Keep of an attempt without a record nothing but its number."""
    if not os.path.lexists(attempt / RECORD):
        for path in attempt.iterdir():
            remove_tree(path)


def is_graded(record: Record | None) -> bool:
    """Whether a cell has a verdict that stands: it is never run again for its score."""
    return record is not None and record.verdict.outcome == "graded"


def load_results(directories: Sequence[Path]) -> Results:
    """Read the records below `directories`, in a stable order; every attempt of every cell.

    Raises:
        InvalidInputError: a directory is missing, or two of them hold different plans.
    """
    scan = Scan.of(directories)
    records = tuple(record for _, record in scan.records())
    return Results(scan.plan, records, tuple(scan.problems))


def is_held(directory: Path) -> bool:
    """Whether a living process works on this bench or cell; asking disturbs no one."""
    path = directory / _LOCK
    if not path.is_file():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a directory that may only be read: nobody here can be at work in it
        return False


@contextmanager
def _exclusive(directory: Path, otherwise: str) -> Iterator[None]:
    lock = FileLock(directory / _LOCK)
    try:
        lock.acquire(timeout=_PROBED_SECONDS)
    except Timeout:
        raise StateError(
            otherwise, where=str(directory), remedy="wait for it, or choose another --out"
        ) from None
    except OSError as error:
        raise state_error(error, directory) from None
    try:
        yield
    finally:
        lock.release()
