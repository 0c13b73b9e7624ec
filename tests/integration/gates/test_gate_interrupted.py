"""A gate that is stopped ends at once, with the tests that it runs."""

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.real
Submit = Callable[..., Any]
ENDLESS = "require('node:test')('waits', () => new Promise((_) => setTimeout(_, 1e8)));\n"


def test_ctrl_c_does_not_wait_for_the_tests(submit: Submit) -> None:
    task = submit(change={"test/add.test.js": ENDLESS})
    path = task.write(expected=...)
    options = ("--tasks-dir", str(task.tasks), "--state-dir", str(task.state), "--jobs", "2")
    gate = subprocess.Popen(
        [sys.executable, "-m", "nanobench", "task", "gate", str(path), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert gate.stderr is not None
    with gate, gate.stderr:
        while "golden, run 1" not in gate.stderr.readline():
            assert gate.poll() is None
        while not (tests := [child for child in _family(gate.pid) if "--test" in _words(child)]):
            assert gate.poll() is None
        gate.send_signal(signal.SIGINT)
        assert gate.wait(60) == 130
        assert gate.stderr.read().endswith("interrupted\n")
    assert not psutil.wait_procs(tests, 30)[1]


def _family(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
