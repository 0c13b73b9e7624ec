"""What a run tells while it goes on; the command line decides how to show it."""

from typing import Protocol

from nanobench.model.plan import Cell
from nanobench.model.record import Record


class Progress(Protocol):
    """Called from the threads that run cells."""

    def phase(self, cell: Cell, name: str) -> None:
        """A cell enters a phase."""

    def done(self, cell: Cell, record: Record) -> None:
        """A cell has its record."""

    def kept(self, cell: Cell, record: Record) -> None:
        """A cell was finished before and is not run again."""


class Silent:
    """Shows nothing."""

    def phase(self, cell: Cell, name: str) -> None:
        """Nothing."""

    def done(self, cell: Cell, record: Record) -> None:
        """Nothing."""

    def kept(self, cell: Cell, record: Record) -> None:
        """Nothing."""
