"""One process-wide cancellation: when it is set, every running sandbox is killed."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nanobench.errors import InterruptedRunError


class Cancellation(threading.Event):
    """An event that, once set, ends the commands in progress and refuses new ones.

    `set` may be called from a signal handler: the lock is reentrant.
    """

    def __init__(self) -> None:
        super().__init__()
        self._guard = threading.RLock()
        self._kills: dict[object, Callable[[], None]] = {}

    def set(self) -> None:
        """Cancel: kill what runs; later commands do not start."""
        super().set()
        with self._guard:
            kills = list(self._kills.values())
        for kill in kills:
            kill()

    @contextmanager
    def killing(self, kill: Callable[[], None]) -> Iterator[None]:
        """Have `kill` called if the cancellation comes while the block runs.

        `kill` must not block and must bear being called when its process has ended.

        Raises:
            InterruptedRunError: the cancellation came before the end of the block.
        """
        token = object()
        with self._guard:
            self._kills[token] = kill
        try:
            if self.is_set():
                kill()
            yield
        finally:
            with self._guard:
                del self._kills[token]
        self.check()

    def check(self) -> None:
        """Refuse to go on after a cancellation.

        Raises:
            InterruptedRunError: the cancellation has come.
        """
        if self.is_set():
            raise InterruptedRunError(
                "interrupted", remedy="repeat the same command to resume where it stopped"
            )


cancelled = Cancellation()
