"""Hogs: what takes processes, memory or disk without end takes itself down, not the machine."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nanobench.environment import process
from nanobench.environment.cgroups import Limits, find_hierarchies
from nanobench.environment.limits import Confinement
from nanobench.environment.sandbox import Mount, Sandbox

pytestmark = pytest.mark.real

BOMB = "i=0; while [ $i -lt 200 ]; do sleep {0} & i=$((i+1)); done 2>/dev/null; jobs -r | wc -l"
EATER = "import sys; blob = bytearray(300 << 20); print(len(blob), file=sys.stderr)"
FILLER = "i=0; while [ $i -lt 400 ]; do head -c 1048576 /dev/urandom > {0}/$i; i=$((i+1)); done"
# Forks until it may not, and tells how often it could.
FORKS = """
import os, time
made = 0
try:
    while made < 200:
        if os.fork() == 0:
            time.sleep(60)
        made += 1
except BlockingIOError:
    pass
print(made, flush=True)
os._exit(0)
"""
# What each sandbox that works for this user lets FORKS do, without control groups.
UNPRIVILEGED = """
import json, os, sys
from pathlib import Path
from nanobench.environment import process
from nanobench.environment.cgroups import Limits
from nanobench.environment.limits import Confinement
from nanobench.environment.sandbox import Command, probe_sandboxes

place, forks = Path(sys.argv[1]), sys.argv[2]
sandboxes = [probe.sandbox for probe in probe_sandboxes() if probe.sandbox]
tight = Confinement(Limits(60, 1 << 30, 1), 1 << 30, ())
process.confinement = lambda: tight
found = {}
for sandbox in sandboxes:
    env = {"PATH": "/usr/bin:/bin"}
    command = Command(
        ("/usr/bin/python3", "-c", forks), "/", env, 60.0, place / "stdout", place / "stderr"
    )
    result = sandbox.run(command, ())
    said = (place / "stdout").read_text()
    found[sandbox.name] = [result.exit_code, result.launched, said]
print(json.dumps([os.getuid(), tight.told().processes_by, found]))
"""
NOBODY = 54321  # a user of which nothing else runs


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> Iterator[Confinement]:
    """60 processes, 200 MB of memory, 32 MB of disk."""
    limits = Limits(processes=60, memory_bytes=200 << 20, cpus=1)
    confined = Confinement(limits, 32 << 20, find_hierarchies(limits))
    monkeypatch.setattr(process, "confinement", lambda: confined)
    yield confined
    for hierarchy in confined.hierarchies:
        assert not [one for one in hierarchy.parent.glob("nanobench-*") if _ours(one)]


def _ours(group: Path) -> bool:
    return group.name.startswith(f"nanobench-{os.getpid()}-")


def test_a_fork_bomb_does_not_get_beyond_its_limit(
    sandbox: Sandbox, shell: Any, tight: Confinement, marker: str, processes_with: Any
) -> None:
    if tight.told().processes_by != "cgroup":
        pytest.skip("no control group can be made here")
    result, output = shell(sandbox, BOMB.format(marker))
    assert int(output.split()[-1] if output.split() else 0) < 60
    assert result.launched
    assert processes_with(marker) == []


def test_an_unprivileged_user_s_fork_bomb_is_held_by_the_rlimit() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    path = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(sys.path)}
    with tempfile.TemporaryDirectory() as place:  # pytest's own is closed to other users
        os.chown(place, NOBODY, NOBODY)
        done = subprocess.run(
            [_their_python(), "-c", UNPRIVILEGED, place, FORKS],
            env={**path, "TMPDIR": place}, cwd="/", capture_output=True, text=True, timeout=120,
            user=NOBODY, group=NOBODY, extra_groups=[],
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    user, held_by, found = json.loads(done.stdout)
    assert (user, held_by) == (NOBODY, "rlimit")
    assert "none" in found
    for name, (code, launched, said) in found.items():
        assert (code, launched) == (0, True), name
        assert 0 < int(said) < 60, name


def _their_python() -> str:
    """An interpreter of our version that another user may run; root's own often lies in /root."""
    for candidate in (sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin")):
        if candidate is None:
            continue
        ask = [candidate, "-c", "import sys; print(*sys.version_info[:2])"]
        try:
            said = subprocess.run(ask, user=NOBODY, group=NOBODY, extra_groups=[], check=True,
                                  capture_output=True, text=True).stdout  # fmt: skip
        except (OSError, subprocess.CalledProcessError):
            continue
        if said.split() == [str(part) for part in sys.version_info[:2]]:
            return candidate
    pytest.skip("no interpreter that another user may run")


def test_a_hog_of_memory_is_ended(sandbox: Sandbox, shell: Any, tight: Confinement) -> None:
    result, _ = shell(sandbox, f'exec python3 -c "{EATER}"')
    assert result.exit_code not in (0, None)
    assert str(300 << 20) not in shell.stderr.read_text()


def test_who_fills_the_disk_is_ended_and_told_why(
    sandbox: Sandbox, shell: Any, tight: Confinement, tmp_path: Path
) -> None:
    place = tmp_path / "ws"
    place.mkdir()
    seen = "/ws" if sandbox.fixed_paths else str(place)
    command = shell.command(FILLER.format(seen) + "; sleep 60")
    result = sandbox.run(command, (Mount(place, "/ws", writable=True),))
    assert (result.exit_code, result.timed_out, result.launched) == (-9, False, True)
    assert shell.stderr.read_text().endswith("hold more than 33554432 bytes\n")


def test_a_single_huge_file_is_refused(
    sandbox: Sandbox, shell: Any, tight: Confinement, tmp_path: Path
) -> None:
    place = tmp_path / "ws"
    place.mkdir()
    seen = "/ws" if sandbox.fixed_paths else str(place)
    script = f"head -c 100000000 /dev/zero > {seen}/huge; echo $?"
    sandbox.run(shell.command(script), (Mount(place, "/ws", writable=True),))
    assert shell.stdout.read_text() in ("153\n", "1\n")  # SIGXFSZ, or EFBIG where it is ignored
    assert (place / "huge").stat().st_size == 32 << 20


def test_shared_memory_counts_as_memory(
    bubblewrap: Sandbox, shell: Any, tight: Confinement
) -> None:
    if tight.told().memory_by != "cgroup":
        pytest.skip("no control group can be made here")
    script = "for i in 1 2 3 4 5 6 7 8; do head -c 31457280 /dev/zero > /dev/shm/$i; done; echo all"
    _, output = shell(bubblewrap, script)
    assert "all" not in output


def test_devices_cannot_be_added_to(bubblewrap: Sandbox, shell: Any) -> None:
    result, output = shell(bubblewrap, "echo x > /dev/file; echo $?; echo x > /dev/shm/file")
    assert output == "2\n"
    assert result.exit_code == 0
