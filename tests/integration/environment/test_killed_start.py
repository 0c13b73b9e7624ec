"""NanoBench is killed, or gives up, while a sandbox starts: nothing of the sandbox stays."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.environment.bubblewrap import HOLD, Bubblewrap
from nanobench.environment.namespaces import Namespaces
from nanobench.environment.sandbox import Sandbox

pytestmark = pytest.mark.real

# Dies as soon as its sandbox starts.
HARNESS = """
import os, signal, sys
from pathlib import Path
from nanobench.environment import process
from nanobench.environment.bubblewrap import Bubblewrap
from nanobench.environment.sandbox import Command
process.Running = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Bubblewrap(sys.argv[1]).run(
    Command(("sleep", sys.argv[2]), "/", {"PATH": "/usr/bin:/bin"}, 60,
            Path(sys.argv[3], "out"), Path(sys.argv[3], "err"), "none"), ())
"""
# Process 1 of a new namespace, which takes its time before it sleeps.
BUSY = """
import os, sys, time
if os.fork() == 0:
    os.execv("/bin/sh", ["sh", "-c", sys.argv[1], "sh", "true"])
end = time.monotonic() + 0.5
while time.monotonic() < end:
    pass
os.write(0, b"asleep")
os.wait()
"""


@pytest.fixture
def starting(tmp_path: Path) -> Callable[[str], str]:
    def program(script: str) -> str:
        path = tmp_path / "bwrap"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return program


def test_no_process_of_bubblewrap_sleeps_for_ever_if_the_harness_dies_while_it_starts(
    bubblewrap: Sandbox,
    starting: Callable[[str], str],
    marker: str,
    processes_with: Any,
    eventually: Any,
    tmp_path: Path,
) -> None:
    slow = starting(f'sleep 0.5; exec {shutil.which("bwrap")} "$@"')
    killed = subprocess.run([sys.executable, "-c", HARNESS, slow, marker, str(tmp_path)])
    assert killed.returncode == -9
    assert processes_with(marker) != []
    assert eventually(lambda: processes_with(marker) == [])


def test_a_start_that_takes_too_long_is_ended_whole(
    starting: Callable[[str], str], marker: str, shell: Any, processes_with: Any
) -> None:
    result, _ = shell(Bubblewrap(starting(f"sleep {marker} & wait")), "true", seconds=0.5)
    assert result.timed_out
    assert processes_with(marker) == []


def test_a_held_command_waits_until_process_1_has_its_death_signal() -> None:
    sandbox = next(iter(Namespaces.candidates()), None)
    if not isinstance(sandbox, Namespaces):
        pytest.skip("unshare is not here")
    new = [sandbox.unshare, *sandbox.options, "--pid", "--fork", "--mount-proc"]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([*new, sys.executable, "-c", BUSY, HOLD], stdin=theirs.fileno())
        theirs.close()
        said = b"".join(iter(lambda: ours.recv(1), b"."))
        ours.sendall(b"\n")
        process.wait()
    assert said == b"asleep"
    assert process.returncode == 0
