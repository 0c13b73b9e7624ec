"""Limits without control groups: what the shell in front of a command sets."""

import os
import resource
import subprocess
import sys

import pytest

from nanobench.environment.cgroups import Limits
from nanobench.environment.limits import Confinement, confinement

SHOW = (
    "import resource as r; print(*(r.getrlimit(getattr(r, 'RLIMIT_' + name))[0]"
    " for name in ('CORE', 'FSIZE', 'DATA', 'NPROC')))"
)


@pytest.fixture
def bare() -> Confinement:
    """A machine without control groups."""
    return Confinement(Limits(processes=300, memory_bytes=3 << 30, cpus=2), 1 << 30, ())


def limits_of(confined: Confinement) -> list[int]:
    with confined.around((sys.executable, "-c", SHOW)) as argv:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    return [int(word) for word in done.stdout.split()]


def test_files_memory_and_core_dumps_are_limited(bare: Confinement) -> None:
    core, size, data, _ = limits_of(bare)
    assert (core, size, data) == (0, 1 << 30, 3 << 30)


def test_processes_are_limited_for_all_but_root(bare: Confinement) -> None:
    before = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    processes = limits_of(bare)[3]
    if os.geteuid() == 0:  # from whom the kernel takes no such limit
        assert processes == before
        assert bare.told().processes_by == "none"
    else:
        assert processes > 300
        assert bare.told().processes_by == "rlimit"


def test_what_enforces_a_limit_is_told(bare: Confinement) -> None:
    told = bare.told()
    assert (told.memory_by, told.cpus_by, told.disk_by) == ("rlimit", "none", "watch")
    assert (told.processes, told.cpus, told.disk_bytes) == (300, 2, 1 << 30)


def test_every_command_of_this_machine_has_the_same_limits() -> None:
    assert confinement() is confinement()
    assert confinement().limits.cpus >= 1
