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
        self._kills: dict[object, tuple[int, Callable[[], None]]] = {}
        self._ended: set[int] = set()

    def set(self) -> None:
        """Cancel: kill what runs; later commands do not start."""
        super().set()
        with self._guard:
            kills = [kill for _, kill in self._kills.values()]
        for kill in kills:
            kill()

    @contextmanager
    def separately(self) -> Iterator[Callable[[], None]]:
        """A function that ends what this thread runs in the block, and all that it starts later.

        It may be called from any thread, and nothing is raised for it: the commands end as if
        somebody had killed them, while other threads go on.
        """
        thread = threading.get_ident()
        try:
            yield lambda: self._end(thread)
        finally:
            with self._guard:
                self._ended.discard(thread)

    def _end(self, thread: int) -> None:
        with self._guard:
            self._ended.add(thread)
            kills = [kill for owner, kill in self._kills.values() if owner == thread]
        for kill in kills:
            kill()

    @contextmanager
    def killing(self, kill: Callable[[], None]) -> Iterator[None]:
        """Have `kill` called if the cancellation comes while the block runs.

        `kill` must not block and must bear being called when its process has ended.

        Raises:
            InterruptedRunError: the cancellation came before the end of the block.
        """
        token, thread = object(), threading.get_ident()
        with self._guard:
            self._kills[token] = thread, kill
            ended = thread in self._ended
        try:
            if ended or self.is_set():
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
