"""How far a bench is, seen from outside: from its files alone, while it runs or after a crash."""

import os
import stat
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt, ValidationError

from nanobench.errors import InvalidInputError, UsageError
from nanobench.model.base import Document
from nanobench.model.plan import Cell
from nanobench.model.record import Record
from nanobench.pipeline.records import PLAN, RECORD
from nanobench.pipeline.scanning import read_plan
from nanobench.pipeline.store import (
    OUTPUTS,
    ResultStore,
    is_graded,
    is_held,
)
from nanobench.pipeline.watch import STATUS, LiveStatus, ask_to_end

State = Literal["waiting", "running", "interrupted", "done", "failed"]
_TAIL_BYTES = 8192
_TAIL_LINES = 5
_MAX_STATUS_BYTES = 65_536
_BETWEEN = "between phases"


class CellStatus(Document):
    """One cell. `interrupted`: cut short without a record; `failed`: infrastructure trouble.

    The fields up to `output` tell of the attempt at work, or of the one that was cut short;
    null is unknown. `outcome` is the category, label or reason of the record that stands.
    """

    cell: Cell
    cell_id: str
    state: State
    attempt: PositiveInt | None = None
    phase: str | None = None
    elapsed_seconds: NonNegativeFloat | None = None
    phase_seconds: NonNegativeFloat | None = None
    requests: NonNegativeInt | None = None
    input_tokens: NonNegativeInt | None = None
    output_tokens: NonNegativeInt | None = None
    output: tuple[str, ...] = ()
    score: float | None = None
    outcome: str | None = None


class BenchStatus(Document):
    """A bench and its cells in the plan's order; `running`: a process works on it."""

    running: bool
    counts: dict[State, NonNegativeInt]
    cells: tuple[CellStatus, ...]


def read_status(root: Path) -> BenchStatus:
    """The status of the bench that writes to `root`.

    Raises:
        InvalidInputError: there is no plan here.
    """
    store = _store(root)
    cells = tuple(_cell_status(cell, store) for cell in read_plan(root / PLAN).cells)
    running = is_held(root) or any(cell.state == "running" for cell in cells)
    return BenchStatus(running=running, counts=Counter(c.state for c in cells), cells=cells)


def end_cell(root: Path, cell_id: str) -> None:
    """Ask the running bench to end one of its cells; it becomes infrastructure trouble.

    Raises:
        InvalidInputError: there is no plan here.
        UsageError: the plan has no such cell, or it does not run.
    """
    store = _store(root)
    cell = next((c for c in read_plan(root / PLAN).cells if c.cell_id == cell_id), None)
    if cell is None:
        raise UsageError(
            f"the plan has no cell {cell_id!r}",
            where=str(root / PLAN),
            remedy="`nanobench status` lists the cells",
        )
    now = _cell_status(cell, store)
    if now.state != "running":
        raise UsageError(f"the cell does not run: it is {now.state}", where=cell_id)
    ask_to_end(store.attempts(cell)[-1][1])


def _store(root: Path) -> ResultStore:
    if not (root / PLAN).is_file():
        raise InvalidInputError(
            "there is no bench here: plan.json is missing",
            where=str(root),
            remedy="name the --out directory of a bench",
        )
    return ResultStore(root)


def _cell_status(cell: Cell, store: ResultStore) -> CellStatus:
    attempts = store.attempts(cell)
    if not attempts:
        return CellStatus(cell=cell, cell_id=cell.cell_id, state="waiting")
    number, directory = attempts[-1]
    live = _read_live(directory / STATUS)
    if not (directory / RECORD).exists():
        if is_held(directory.parent):
            return _running(cell, number, directory, live)
        record = store.standing(cell)
        if not is_graded(record):
            phase = live.phase if live else None
            return CellStatus(
                cell=cell, cell_id=cell.cell_id, state="interrupted", attempt=number, phase=phase
            )
    return _ended(cell, store.standing(cell), number)


def _running(cell: Cell, attempt: int, directory: Path, live: LiveStatus | None) -> CellStatus:
    """Without `live`: its first or last moments, when there is no status file."""
    if live is None:
        return CellStatus(
            cell=cell, cell_id=cell.cell_id, state="running", attempt=attempt, phase=_BETWEEN
        )
    now = datetime.now(UTC)
    return CellStatus(
        cell=cell,
        cell_id=cell.cell_id,
        state="running",
        attempt=attempt,
        phase=live.phase,
        elapsed_seconds=max(0.0, (now - live.started_at).total_seconds()),
        phase_seconds=max(0.0, (now - live.phase_started_at).total_seconds()),
        requests=live.requests,
        input_tokens=live.input_tokens,
        output_tokens=live.output_tokens,
        output=_recent_output(directory, Path(live.place)),
    )


def _ended(cell: Cell, record: Record | None, attempt: int) -> CellStatus:
    if record is None:  # a record that cannot be read
        return CellStatus(cell=cell, cell_id=cell.cell_id, state="interrupted", attempt=attempt)
    verdict = record.verdict
    return CellStatus(
        cell=cell,
        cell_id=cell.cell_id,
        state="done" if is_graded(record) else "failed",
        attempt=record.attempt,
        score=verdict.score,
        outcome=verdict.category or verdict.label or verdict.reason,
    )


def _recent_output(attempt: Path, place: Path) -> tuple[str, ...]:
    """The last lines of whatever was written last: a suite's output, or the agent's stderr."""
    spooled = [
        path for end in ("stdout", "stderr") for path in (attempt / OUTPUTS).glob(f".*.{end}")
    ]
    found = [_tail(path) for path in (*spooled, place / "agent" / "run" / "stderr.txt")]
    _, data = max((one for one in found if one is not None), default=(0.0, b""))
    lines = data.decode("utf-8", "replace").splitlines()
    return tuple(line for line in lines if line.strip())[-_TAIL_LINES:]


def _tail(path: Path) -> tuple[float, bytes] | None:
    """When a file was changed, and its end; null if it is empty, or not a regular file.

    The agent can put a link or a pipe in the place of its own: neither is followed.
    """
    try:
        with open(path, "rb", opener=_open_itself) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or not status.st_size:
                return None
            stream.seek(max(0, status.st_size - _TAIL_BYTES))
            return status.st_mtime, stream.read(_TAIL_BYTES)
    except OSError:
        return None


def _open_itself(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _read_live(path: Path) -> LiveStatus | None:
    try:
        with path.open("rb") as stream:
            return LiveStatus.from_json(stream.read(_MAX_STATUS_BYTES))
    except (OSError, ValidationError):
        return None
