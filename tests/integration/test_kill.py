"""`scripts/kill-test`: ten SIGKILLs at random moments, and an end like an undisturbed one's."""

import subprocess
import sys
from pathlib import Path

import pytest

from nanobench.files import StateDirectory

pytestmark = pytest.mark.real

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "kill-test"


def test_a_bench_killed_ten_times_ends_as_an_undisturbed_one(
    shared_state: StateDirectory, tmp_path: Path
) -> None:
    options = ("--kills", "10", "--seed", "10", "--tools", shared_state.tools)
    done = subprocess.run(
        [sys.executable, SCRIPT, *options, "--work", tmp_path / "work"],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\nkill ") == 10
    assert "10 kills, seed 10, over " in done.stdout
    assert "all as undisturbed" in done.stdout
