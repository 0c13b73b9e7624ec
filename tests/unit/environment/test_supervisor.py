"""The supervisor as a program: what it reports, and that nothing outlives it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import nanobench.environment.supervisor as module

SCRIPT = Path(module.__file__)


def supervise(
    *command: str, options: tuple[str, ...] = ()
) -> tuple[object, subprocess.Popen[bytes]]:
    reader, writer = os.pipe()
    argv = [sys.executable, "-I", "-S", str(SCRIPT), *options, str(writer), *command]
    process = subprocess.Popen(argv, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    process.wait(30)
    with os.fdopen(reader) as stream:
        said = stream.read()
    return (json.loads(said)["exit-code"] if said else None), process


@pytest.mark.parametrize(("script", "code"), [("exit 5", 5), ("kill -TERM $$", -signal.SIGTERM)])
def test_end_of_the_command_is_reported(script: str, code: int) -> None:
    assert supervise("/bin/sh", "-c", script)[0] == code


def test_missing_program_is_127() -> None:
    assert supervise("/no/such/program")[0] == 127


def test_command_does_not_start_for_a_parent_that_is_gone(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code, _ = supervise("touch", str(mark), options=("--parent", "1"))
    assert code == -signal.SIGTERM
    assert not mark.exists()


def test_command_cannot_write_the_status(tmp_path: Path) -> None:
    script = "for fd in 3 4 5 6 7 8 9; do echo '{\"exit-code\": 0}' >&$fd; done; exit 1"
    code, _ = supervise("/bin/bash", "-c", script)
    assert code == 1


def test_descendants_include_grandchildren() -> None:
    child = subprocess.Popen(["/bin/sh", "-c", "sleep 60 & sleep 60"])
    try:
        expected = {child.pid}
        while len(expected) < 3:
            below = psutil.Process(child.pid).children(recursive=True)
            expected = {child.pid, *(process.pid for process in below)}
        assert expected <= module.descendants()
    finally:
        for process in psutil.Process(child.pid).children(recursive=True):
            process.kill()
        child.kill()
        child.wait()
