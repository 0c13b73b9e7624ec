"""Start a wrapper (bubblewrap, unshare, the supervisor), wait for it, and end its whole tree.

A wrapper writes JSON objects, one a line, to a status descriptor: `child-pid` names the
process whose death ends the tree, if the wrapper's own end does not; `exit-code` is written
only if the command really ran.

A wrapper ties its life to ours by a death signal that it has to ask for first: one that is still
starting when we are killed would run the command all the same. So a held command waits until
we, alive, have seen it wait; if we are not, the wrapper goes on to there and ends.
"""

import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nanobench.environment.cancel import cancelled
from nanobench.environment.disk import WATCH_SECONDS, DiskWatch
from nanobench.environment.limits import Confinement, confinement
from nanobench.environment.sandbox import Command, CommandResult
from nanobench.files import state_error

GRACE_SECONDS = 10.0


@dataclass(frozen=True)
class Wrapper:
    """How a sandbox starts a command.

    Args:
        argv: given the number of the status descriptor, the wrapper's own command line.
        env: the wrapper's environment.
        stop: asks a running wrapper to end its tree, without waiting.
        cwd: where the wrapper starts.
        descriptors: open descriptors that the wrapper reads, kept by number.
        places: the directories of the host that the command may write to.
        held: whether the command writes a byte to its standard input, a socket, and starts only
            when it has read a line from it.
    """

    argv: Callable[[int], Sequence[str]]
    env: Mapping[str, str]
    stop: Callable[["Running"], None]
    cwd: str = "/"
    descriptors: tuple[int, ...] = ()
    places: tuple[Path, ...] = ()
    held: bool = False


class Running:
    """A started wrapper, what it has said so far, and the wait for its end."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", status: int, held: socket.socket | None
    ) -> None:
        self.process = process
        self.tree: int | None = None  # pidfd of the process whose death ends the tree
        self.exit_code: int | None = None
        self._status = status
        self._held = held
        self._rest = b""
        self._pending: set[int] = set()
        self._descriptors: list[int] = [status]
        if hasattr(os, "pidfd_open"):
            self._watch(process.pid)

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the whole tree; false if it has not come in time."""
        if not hasattr(os, "pidfd_open"):
            return self._wait_portably(seconds)
        deadline = time.monotonic() + seconds
        while self._pending:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._poll(left)
        self.process.wait()
        self._read_status()
        return True

    def kill(self) -> None:
        """Kill the wrapper and what it has started so far; harmless when it has ended."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):  # macOS, of one just ended
                os.killpg(self.process.pid, signal.SIGKILL)

    def kill_tree(self) -> None:
        """Kill the process that the wrapper named, or all of it if it named none yet."""
        if self.tree is None:
            self.kill()
            return
        try:
            signal.pidfd_send_signal(self.tree, signal.SIGKILL)
        except ProcessLookupError:
            self.kill()

    def close(self) -> None:
        """Give the descriptors back."""
        for descriptor in self._descriptors:
            os.close(descriptor)

    def _watch(self, pid: int) -> int | None:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return None
        self._pending.add(descriptor)
        self._descriptors.append(descriptor)
        return descriptor

    def _poll(self, seconds: float) -> None:
        poller = select.poll()
        held = self._held.fileno() if self._held else -1
        for descriptor in (self._status, held, *self._pending):
            if descriptor >= 0:
                poller.register(descriptor, select.POLLIN)
        for descriptor, _ in poller.poll(seconds * 1000):
            if descriptor in self._pending:
                self._pending.discard(descriptor)
            elif descriptor == held:
                self._let_go()
            else:
                self._read_status()

    def _let_go(self) -> None:
        """Start the command if it waits; a wrapper that failed has closed its end."""
        assert self._held is not None  # noqa: S101 - polled only if there is one
        with self._held, suppress(ConnectionError):
            if self._held.recv(1):
                self._held.sendall(b"\n")
        self._held = None

    def _read_status(self) -> None:
        while self._status >= 0:
            try:
                data = os.read(self._status, 65536)
            except BlockingIOError:
                return
            if not data:
                self._status = -1
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._heed(json.loads(line))

    def _heed(self, said: Mapping[str, int]) -> None:
        if "child-pid" in said and hasattr(os, "pidfd_open"):
            self.tree = self._watch(said["child-pid"])
        self.exit_code = said.get("exit-code", self.exit_code)

    def _wait_portably(self, seconds: float) -> bool:
        if self._held and select.select([self._held], [], [], seconds)[0]:
            self._let_go()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        self._read_status()
        return True


def run_wrapped(command: Command, wrapper: Wrapper) -> CommandResult:
    """Run a command through its wrapper; nothing of it is alive when this returns.

    The calling thread waits here until then, which it must: the kernel ties a wrapper's life
    to the thread that started it.

    Raises:
        InterruptedRunError: the run was cancelled.
        StateError: an output file cannot be written.
        OSError: the wrapper is not installed or cannot be started.
    """
    cancelled.check()
    limits = confinement()
    with ExitStack() as stack:
        outputs = [stack.enter_context(_create(path)) for path in (command.stdout, command.stderr)]
        watch = DiskWatch(wrapper.places, limits.disk_bytes)
        started = time.monotonic()
        running = _start(wrapper, limits, outputs, stack)
        ended = _wait(running, wrapper, command.timeout_seconds, watch)
        if watch.exceeded:  # by the descriptor: the command may have put a link at the path
            outputs[1].write(f"nanobench: ended, because {watch.exceeded}\n".encode())
        return CommandResult(
            exit_code=running.exit_code if ended else -signal.SIGKILL,
            timed_out=not ended and not watch.exceeded,
            duration_seconds=time.monotonic() - started,
            launched=not ended or running.exit_code is not None,
            disk_full=watch.others,
        )


def _start(
    wrapper: Wrapper, limits: Confinement, outputs: Sequence[BinaryIO], stack: ExitStack
) -> Running:
    status, child_end = _status_pipe()
    held = waiting = None
    if wrapper.held:
        held, waiting = map(stack.enter_context, socket.socketpair())
    try:
        process = subprocess.Popen(
            stack.enter_context(limits.around(wrapper.argv(child_end))),
            env=dict(wrapper.env),
            cwd=wrapper.cwd,
            stdin=waiting.fileno() if waiting else subprocess.DEVNULL,
            stdout=outputs[0],
            stderr=outputs[1],
            pass_fds=(child_end, *wrapper.descriptors),
            start_new_session=True,
        )
    except BaseException:
        os.close(status)
        raise
    finally:
        os.close(child_end)
        if waiting:
            waiting.close()
    running = Running(process, status, held)
    stack.callback(running.close)
    return running


def _status_pipe() -> tuple[int, int]:
    """Our end, which does not block, and the wrapper's, at which writing never fails.

    bubblewrap's first process dies of a status that nobody can read any more, and its second
    would wait for it for ever. So the wrapper's end can be read as well, where /proc allows that.
    """
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    with suppress(OSError):
        both = os.open(f"/proc/self/fd/{theirs}", os.O_RDWR)
        os.close(theirs)
        theirs = both
    return ours, theirs


def _create(path: Path) -> BinaryIO:
    """A new file, whatever an earlier command put there: a link, or a pipe without a reader."""
    try:
        path.unlink(missing_ok=True)
        return path.open("xb")
    except OSError as error:
        raise state_error(error, path) from None


def _wait(running: Running, wrapper: Wrapper, seconds: float, watch: DiskWatch) -> bool:
    """Wait for the end of the tree; false when the time limit or the watch had to end it.

    Raises:
        InterruptedRunError: the run was cancelled.
    """
    ended, deadline = False, time.monotonic() + seconds
    try:
        with cancelled.killing(lambda: wrapper.stop(running)):
            while not ended and (left := deadline - time.monotonic()) > 0 and not watch.look():
                ended = running.wait(min(left, WATCH_SECONDS))
            return ended
    finally:
        if not ended:
            wrapper.stop(running)
            if not running.wait(GRACE_SECONDS):
                running.kill()
                running.wait(GRACE_SECONDS)
