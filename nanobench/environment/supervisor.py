"""Run one command and let nothing of it survive. A script of its own: standard library only.

usage: supervisor.py [--parent PID] [--held] [--loopback] STATUS_FD COMMAND [ARG ...]

As a plain process it becomes the subreaper of all that the command starts and dies with its
parent (`--parent`); inside a new PID namespace it is the init process there. `--held`: it writes a
byte to its standard input, a socket, and starts the command when it reads one. When the command
ends, or on SIGTERM, every descendant is killed. Then `{"exit-code": N}` goes to STATUS_FD,
N negative for a signal.

It starts with every command, so that it imports only what it cannot do without.
"""

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
CANNOT_EXECUTE = 127


class Stopped(Exception):  # noqa: N818 - an order, not an error
    """SIGTERM came: the time limit, a cancellation, or the end of our parent."""


def main(argv: "list[str]") -> int:
    """Parse, run, kill, report."""
    parent, held, loopback = 0, False, False
    while argv and argv[0].startswith("--"):
        option = argv.pop(0)
        if option == "--parent":
            parent = int(argv.pop(0))
        held = held or option == "--held"
        loopback = loopback or option == "--loopback"
    status, command = int(argv[0]), argv[1:]
    signal.signal(signal.SIGTERM, _stop)
    try:
        if sys.platform == "linux":
            prepare_linux(parent, loopback)
        if held:
            wait_for_go_ahead()
        code = supervise(command, status)
    except Stopped:
        code = -signal.SIGTERM
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    kill_descendants()
    os.write(status, b'{"exit-code": %d}\n' % code)
    return 0


def _stop(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped


def prepare_linux(parent: int, loopback: bool) -> None:
    """Tie our life to the parent's, adopt orphans, bring loopback up if asked."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if parent:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            raise Stopped
    if loopback:
        raise_loopback()


def raise_loopback() -> None:
    """Bring `lo` up: a new network namespace has it down, and tests talk to localhost."""
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack_from("h", fcntl.ioctl(probe, SIOCGIFFLAGS, request), 16)[0]
        fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def wait_for_go_ahead() -> None:
    """Say that we wait; our starter's end ends us before the command starts."""
    os.write(0, b".")
    if not os.read(0, 1):
        raise Stopped
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def supervise(command: "list[str]", status: int) -> int:
    """Start the command in a session of its own, and reap until it ends; its exit code."""
    child = os.fork()
    if child == 0:
        _execute(command, status)
    while True:
        pid, raw = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(raw)


def _execute(command: "list[str]", status: int) -> None:
    try:
        os.close(status)
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.execvp(command[0], command)  # noqa: S606 - its whole purpose
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(CANNOT_EXECUTE)


def kill_descendants() -> None:
    """Kill until no descendant is left; first stop them all, so that none forks away."""
    while _reap():
        stopped: set[int] = set()
        while found := descendants() - stopped:
            for pid in found:
                _signal(pid, signal.SIGSTOP)
            stopped |= found
        for pid in stopped:
            _signal(pid, signal.SIGKILL)
        time.sleep(0.002)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _reap() -> bool:
    """Reap what is dead; true while children are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def descendants() -> "set[int]":
    """All processes below this one; orphans too where a subreaper exists (Linux)."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    return found


def _parents() -> "list[tuple[int, int]]":
    if sys.platform != "linux":
        import subprocess

        listing = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        )
        rows = (line.split() for line in listing.stdout.splitlines())
        return [(int(pid), int(parent)) for pid, parent in rows]
    pairs = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - thousands of names, no need for paths
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                    # The program's name, in parentheses, may hold anything.
                    pairs.append((int(name), int(stat.read().rpartition(b")")[2].split()[1])))
            except OSError:
                continue
    return pairs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
