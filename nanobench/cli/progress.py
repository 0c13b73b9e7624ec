"""Progress on the terminal: a live display, or plain lines when there is no terminal."""

import sys
from contextlib import AbstractContextManager
from threading import Lock
from typing import Self

from nanobench.model.plan import Cell
from nanobench.model.record import Record


def _outcome(record: Record) -> str:
    verdict = record.verdict
    score = "-" if verdict.score is None else f"{verdict.score:.1f}"
    word = verdict.category or verdict.label or verdict.reason or verdict.outcome
    return f"{score}  {word}"


def _name(cell: Cell) -> str:
    return f"{cell.model} {cell.task_id} {cell.mode} #{cell.run}"


class PlainProgress(AbstractContextManager["PlainProgress"]):
    """One line on standard error when a cell ends."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._lock = Lock()

    def __exit__(self, *_: object) -> None:
        """Nothing is left open."""

    def phase(self, cell: Cell, name: str) -> None:
        """Phases are not shown."""

    def done(self, cell: Cell, record: Record) -> None:
        """Show the outcome."""
        self._line(cell, _outcome(record))

    def kept(self, cell: Cell, record: Record) -> None:
        """Show that the cell is not run again."""
        self._line(cell, f"{_outcome(record)} (kept)")

    def _line(self, cell: Cell, text: str) -> None:
        with self._lock:
            self._done += 1
            print(f"[{self._done}/{self._total}] {_name(cell)}: {text}", file=sys.stderr)


class LiveProgress(AbstractContextManager["LiveProgress"]):
    """A bar that names the newest phase; outcomes scroll above it."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("cells", total=total)

    def __enter__(self) -> Self:
        """Start the display."""
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the display."""
        self._bar.stop()

    def phase(self, cell: Cell, name: str) -> None:
        """Show the phase."""
        self._bar.update(self._task, description=f"{_name(cell)}: {name}")

    def done(self, cell: Cell, record: Record) -> None:
        """Show the outcome above the bar."""
        self._line(cell, _outcome(record))

    def kept(self, cell: Cell, record: Record) -> None:
        """Show that the cell is not run again."""
        self._line(cell, f"{_outcome(record)} (kept)")

    def _line(self, cell: Cell, text: str) -> None:
        self._bar.console.print(f"{_name(cell)}: {text}", markup=False, highlight=False)
        self._bar.advance(self._task)


def progress(total: int) -> PlainProgress | LiveProgress:
    """The display that suits standard error."""
    if sys.stderr.isatty():
        return LiveProgress(total)
    return PlainProgress(total)
