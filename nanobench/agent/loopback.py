"""An HTTP server on loopback with a thread and an event loop of its own."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from nanobench.errors import InfrastructureError

T = TypeVar("T")
MOST_BODY = 1 << 30  # bytes: a conversation carries every edit in every request
_SHUTDOWN_SECONDS = 1.0
# Requests that are no HTTP are the agent's doing: no traceback of them reaches the terminal.
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())


class LoopbackServer:
    """Serves an application between `start` and `stop`.

    Args:
        name: of the thread, and in errors.
        application: builds what is served, within the event loop.
    """

    def __init__(self, name: str, application: Callable[[], web.Application]) -> None:
        self._name = name
        self._application = application
        self._port = 0
        self._failure: OSError | None = None
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runner: web.AppRunner | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name=name, daemon=True
        )

    @property
    def url(self) -> str:
        """Its address, without a final slash."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen on a free port.

        Raises:
            InfrastructureError: no port on loopback can be had.
        """
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise InfrastructureError(
                f"the {self._name} cannot listen: {self._failure.strerror}",
                where="127.0.0.1",
                remedy="allow listening on loopback",
            )

    def stop(self) -> None:
        """End every connection and the thread."""
        assert self._loop is not None  # noqa: S101 - set before start returned
        assert self._stop is not None  # noqa: S101
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the server's event loop; returns its result to this thread."""
        assert self._loop is not None  # noqa: S101 - set before start returned
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def listen_on(self, path: Path) -> Callable[[], None]:
        """Serve on a unix socket too, until the returned function is called; Linux only.

        Raises:
            InfrastructureError: no socket can be made there.
        """
        try:
            site = self.run(self._open_socket(path))
        except OSError as error:
            raise InfrastructureError(
                f"the {self._name} cannot listen: {error.strerror}",
                where=str(path),
                remedy="choose a state directory on a file system that can hold sockets",
            ) from None
        return lambda: self.run(site.stop())

    async def _open_socket(self, path: Path) -> web.UnixSite:
        assert self._runner is not None  # noqa: S101 - set before start returned
        # A socket's address has room for 107 bytes: the directory is named by a descriptor.
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            site = web.UnixSite(self._runner, f"/proc/self/fd/{directory}/{path.name}")
            await site.start()
        finally:
            os.close(directory)
        return site

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._runner = runner = web.AppRunner(
            self._application(),
            access_log=None,
            logger=_LOGGER,
            # Without this a handler that waits for a provider never learns that its agent is gone.
            handler_cancellation=True,
            shutdown_timeout=_SHUTDOWN_SECONDS,
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._port = runner.addresses[0][1]
        except OSError as error:
            self._failure = error
            self._stop.set()
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()
