"""What a running cell shows of itself, and the user's wish to end it (SPEC 12).

The runner writes `status.json` into the attempt's directory; another process reads it, or puts
the file `kill` beside it. Neither is part of a result: trouble with them ends nothing.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import AwareDatetime, NonNegativeInt

from nanobench.agent.exchange import Exchange
from nanobench.environment.cancel import cancelled
from nanobench.errors import InfrastructureError, StateError
from nanobench.files import write_atomic
from nanobench.model.base import Document

STATUS = "status.json"
KILL = "kill"
_POLL_SECONDS = 0.5
# Dependencies are shared by the cells of a task: an install is never killed for one of them.
_SHARED_PHASES = frozenset({"prepare"})


class EndedByUserError(InfrastructureError):
    """The user asked to end one run; the others go on."""


class LiveStatus(Document):
    """`status.json`: a running cell. Null is unknown: requests that nobody counted."""

    phase: str
    started_at: AwareDatetime
    phase_started_at: AwareDatetime
    place: str
    requests: NonNegativeInt | None = None
    input_tokens: NonNegativeInt | None = None
    output_tokens: NonNegativeInt | None = None


class Watch(AbstractContextManager["Watch"]):
    """Keeps `status.json` while a cell runs, and ends what the cell runs when asked to.

    To be used by the thread that runs the cell.
    """

    def __init__(self, directory: Path, place: Path) -> None:
        """Watch an attempt in `directory` whose live directories are below `place`."""
        self._directory = directory
        self._place = place
        self._started = self._phase_started = datetime.now(UTC)
        self._phase = "start"
        self._exchanges: Callable[[], Sequence[Exchange] | None] = lambda: None
        self._written = ""
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._asked = False
        self._separate = cancelled.separately()
        self._thread = threading.Thread(target=self._poll, name="watch", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._kill = self._separate.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End; a wish that comes later comes too late."""
        self._over.set()
        self._thread.join()
        self._separate.__exit__(None, None, None)
        for name in (STATUS, KILL):
            with suppress(OSError):
                (self._directory / name).unlink(missing_ok=True)

    def phase(self, name: str) -> None:
        """Enter a phase.

        Raises:
            EndedByUserError: the user asked to end the run.
        """
        self.check()
        with self._lock:
            self._phase, self._phase_started = name, datetime.now(UTC)
        self._write()

    @contextmanager
    def following(self, exchanges: Callable[[], Sequence[Exchange] | None]) -> Iterator[None]:
        """Show the tokens of these exchanges (null: nobody sees them), in the block as they come.

        The block ends while they can still be had; the last count stays.
        """
        with self._lock:
            self._exchanges = exchanges
        try:
            yield
        finally:
            with self._lock:
                last = exchanges()
                self._exchanges = lambda: last

    def check(self) -> None:
        """Go on only if nobody asked to end the run.

        Raises:
            EndedByUserError: the user did.
        """
        if self._asked and not self._over.is_set():
            raise EndedByUserError(
                f"the user ended the run in the phase {self._phase!r}",
                remedy="repeat the bench with the same --out to run it again",
            )

    def _poll(self) -> None:
        while not self._over.wait(_POLL_SECONDS):
            self._asked = self._asked or (self._directory / KILL).exists()
            if self._asked and self._phase not in _SHARED_PHASES:
                self._kill()
            self._write()

    def _write(self) -> None:
        if self._over.is_set():
            return
        with self._lock, suppress(StateError):
            text = self._status().to_json()
            if text != self._written:
                write_atomic(self._directory / STATUS, text)
                self._written = text

    def _status(self) -> LiveStatus:
        seen = self._exchanges()
        return LiveStatus(
            phase=self._phase,
            started_at=self._started,
            phase_started_at=self._phase_started,
            place=str(self._place),
            requests=None if seen is None else len(seen),
            input_tokens=_total(one.input_tokens for one in seen or ()),
            output_tokens=_total(one.output_tokens for one in seen or ()),
        )


def ask_to_end(attempt: Path) -> None:
    """Ask the process that runs this attempt to end it.

    Raises:
        StateError: the directory cannot be written.
    """
    write_atomic(attempt / KILL, "")


def _total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
