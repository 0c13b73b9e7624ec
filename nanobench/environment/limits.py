"""What a command may use of the machine, held by cgroups where they can be had, else by rlimits.

The defaults are for the machine's sake: a fork bomb and a hog end by themselves, honest test
suites do not notice. The process that starts a command is a shell that enters the groups and
lowers its own limits, so that nothing of the command ever runs without them.
"""

import functools
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psutil

from nanobench.environment.cgroups import Hierarchy, Limits, find_hierarchies, sweep_groups
from nanobench.model.resources import LimitedBy, ResourceLimits

PROCESSES = 4096  # threads too, of which Node starts eleven each
MEMORY_BYTES = 8 << 30
DISK_BYTES = 20 << 30
_BLOCK = 512  # of `ulimit -f`, by POSIX
_REFUSED = 125


@dataclass(frozen=True)
class Confinement:
    """Limits, and what enforces them on this machine."""

    limits: Limits
    disk_bytes: int
    hierarchies: tuple[Hierarchy, ...]

    def told(self) -> ResourceLimits:
        """As the record says it."""
        limits = self.limits
        return ResourceLimits(
            processes=limits.processes,
            processes_by=self._by("pids", "none" if os.geteuid() == 0 else "rlimit"),
            memory_bytes=limits.memory_bytes,
            memory_by=self._by("memory", "rlimit"),
            cpus=limits.cpus,
            cpus_by=self._by("cpu", "none"),
            disk_bytes=self.disk_bytes,
            disk_by="watch",
        )

    @contextmanager
    def around(self, argv: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """A command line that runs `argv` within the limits, for as long as the block lasts.

        Raises:
            OSError: a control group cannot be made any more.
        """
        with ExitStack() as stack:
            groups = [
                stack.enter_context(one.group(self.limits)) / "cgroup.procs"
                for one in self.hierarchies
            ]
            lines = [f"echo 0 >{shlex.quote(str(one))} || exit {_REFUSED}" for one in groups]
            lines += [f"{{ {one}; }} 2>/dev/null" for one in self._rlimits()]
            yield ("/bin/sh", "-c", "\n".join((*lines, 'exec "$@"')), "nanobench", *argv)

    def _rlimits(self) -> Iterator[str]:
        yield "ulimit -c 0"
        yield f"ulimit -f {self.disk_bytes // _BLOCK}"
        if self._by("memory", "none") == "none":
            # Not the address space, of which Node reserves far more than it uses.
            yield f"ulimit -d {self.limits.memory_bytes >> 10}"
        if self._by("pids", "none") == "none" and os.geteuid() != 0:
            most = self.limits.processes + _threads_of_user()
            yield f"ulimit -u {most} || ulimit -p {most}"  # bash; dash

    def _by(self, controller: str, otherwise: LimitedBy) -> LimitedBy:
        held = any(controller in one.controllers for one in self.hierarchies)
        return "cgroup" if held else otherwise


@functools.cache
def confinement() -> Confinement:
    """The limits of every command on this machine; what enforces them is found out once.

    What killed processes of ours left in their groups is ended then.
    """
    memory = min(MEMORY_BYTES, psutil.virtual_memory().total * 3 // 4)
    limits = Limits(PROCESSES, memory, _processors())
    hierarchies = find_hierarchies(limits)
    sweep_groups(hierarchies)
    return Confinement(limits, DISK_BYTES, hierarchies)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def _threads_of_user() -> int:
    """What the rlimit counts besides a command's own; outside a user namespace it counts all."""
    user, found = os.getuid(), 0
    for process in psutil.process_iter(["uids", "num_threads"]):
        uids = process.info["uids"]
        if uids is not None and uids.real == user:
            found += process.info["num_threads"] or 1
    return found
