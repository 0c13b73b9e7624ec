"""`kill -9` of NanoBench: the kernel ends its commands, the next start removes the rest."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.environment.limits import confinement
from nanobench.files import StateDirectory

pytestmark = pytest.mark.real


def bench(state: StateDirectory, out: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "nanobench", "bench", "--models", "scripted/gold"),
        *("--tasks", "sample", "--state-dir", str(state.root), "--out", str(out)),
    ]


def groups(pid: int) -> list[Path]:
    hierarchies = confinement().hierarchies
    return [path for one in hierarchies for path in one.parent.glob(f"nanobench-{pid}-*")]


def commands(state: StateDirectory) -> list[int]:
    """Processes that work in the state directory, by what they were started with."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        words = " ".join(process.info["cmdline"] or [])
        if str(state.root) in words and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.info["pid"])
    return found


def test_a_killed_bench_leaves_nothing_that_the_next_start_does_not_remove(
    tmp_path: Path, shared_state: StateDirectory, eventually: Any
) -> None:
    state = StateDirectory.locate(tmp_path / "state")
    (state.root / "tools").symlink_to(shared_state.tools)
    out = tmp_path / "out"
    first = subprocess.Popen(
        bench(state, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert eventually(lambda: bool(list(state.runs.glob("*/agent/run/stderr.txt"))), 240)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert eventually(lambda: commands(state) == [])
    assert list(state.runs.iterdir()) != []

    again = subprocess.run(bench(state, out), capture_output=True, text=True, timeout=400)
    assert again.returncode == 0, again.stderr
    assert list(state.runs.iterdir()) == []
    assert groups(first.pid) == []
    assert str(state.root) not in Path("/proc/mounts").read_text()


def test_an_install_killed_halfway_is_swept(
    tmp_path: Path, shared_state: StateDirectory, eventually: Any
) -> None:
    state = StateDirectory.locate(tmp_path / "state")
    (state.root / "tools").symlink_to(shared_state.tools)
    first = subprocess.Popen(
        bench(state, tmp_path / "out"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert eventually(lambda: bool(list(state.environments.glob(".*.partial/source"))), 240)
    finally:
        first.kill()
        first.wait()
    assert list(state.environments.glob(".*.partial")) != []
    assert eventually(lambda: commands(state) == [])
    doctor = [sys.executable, "-m", "nanobench", "doctor", "--sweep"]
    again = subprocess.run(
        [*doctor, "--state-dir", str(state.root)], capture_output=True, text=True, timeout=120
    )
    assert again.returncode == 0, again.stderr
    assert list(state.runs.iterdir()) == []
    assert [path for path in state.environments.iterdir() if path.is_dir()] == []
    assert groups(first.pid) == []
