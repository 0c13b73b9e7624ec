"""Control groups of Linux, versions 1 and 2, where this process may make them.

Every command gets groups of its own, named after this process, so that what a killed process
left is known for what it is.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

CONTROLLERS = ("pids", "memory", "cpu")
PERIOD = 100_000  # microseconds
ROOT = Path("/proc/self")
_NAME = re.compile(r"nanobench-(\d+)-(\d+)-[0-9a-f]+")
_REMOVE_SECONDS = 2.0


@dataclass(frozen=True)
class Limits:
    """Of a whole tree of processes."""

    processes: int
    memory_bytes: int
    cpus: int


@dataclass(frozen=True)
class Hierarchy:
    """A directory in which groups can be made, the controllers that it has, and its version."""

    parent: Path
    controllers: tuple[str, ...]
    version: int

    @contextmanager
    def group(self, limits: Limits) -> Iterator[Path]:
        """A group with these limits; at the end whatever is left in it is killed.

        Raises:
            OSError: it cannot be made, or a limit is refused.
        """
        place = self.parent / f"nanobench-{os.getpid()}-{_started(os.getpid())}-{token_hex(4)}"
        place.mkdir()
        try:
            for name, value in self._settings(limits).items():
                (place / name).write_text(value)
            # Swap would be memory beyond the limit; not every kernel counts it.
            with suppress(OSError):
                if "memory" in self.controllers:
                    self._forbid_swap(place, limits)
            yield place
        finally:
            remove_group(place)

    def _settings(self, limits: Limits) -> Mapping[str, str]:
        quota = limits.cpus * PERIOD
        by_controller: dict[str, dict[str, str]] = {
            "pids": {"pids.max": str(limits.processes)},
            "memory": {"memory.max": str(limits.memory_bytes)},
            "cpu": {"cpu.max": f"{quota} {PERIOD}"},
        }
        if self.version == 1:
            by_controller["memory"] = {"memory.limit_in_bytes": str(limits.memory_bytes)}
            by_controller["cpu"] = {
                "cpu.cfs_period_us": str(PERIOD),
                "cpu.cfs_quota_us": str(quota),
            }
        return {
            name: value for one in self.controllers for name, value in by_controller[one].items()
        }

    def _forbid_swap(self, place: Path, limits: Limits) -> None:
        if self.version == 1:
            (place / "memory.memsw.limit_in_bytes").write_text(str(limits.memory_bytes))
        else:
            (place / "memory.swap.max").write_text("0")


def find_hierarchies(limits: Limits, proc: Path = ROOT) -> tuple[Hierarchy, ...]:
    """Where groups with these limits can be made and entered; each is tried."""
    found: list[Hierarchy] = []
    left = set(CONTROLLERS)
    for candidate in _candidates(proc):
        here = tuple(one for one in candidate.controllers if one in left)
        hierarchy = Hierarchy(candidate.parent, here, candidate.version)
        if here and _works(hierarchy, limits):
            found.append(hierarchy)
            left -= set(here)
    return tuple(found)


def remove_group(place: Path) -> None:
    """Kill what is in a group, and remove it; one that will not go is left to the next sweep."""
    deadline = time.monotonic() + _REMOVE_SECONDS
    while time.monotonic() < deadline:
        try:
            place.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            for pid in _members(place):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)
        else:
            return


def sweep_groups(hierarchies: tuple[Hierarchy, ...]) -> list[Path]:
    """Remove the groups of processes of ours that are no more, with all that is left in them."""
    swept = []
    for hierarchy in hierarchies:
        for place in hierarchy.parent.glob("nanobench-*"):
            name = _NAME.fullmatch(place.name)
            if name and _started(int(name[1])) != int(name[2]):
                remove_group(place)
                swept.append(place)
    return swept


def _candidates(proc: Path) -> Iterator[Hierarchy]:
    """Our own place in each mounted hierarchy; for version 2 also the one above.

    A group of version 2 that holds processes can rarely have groups with limits below it.
    """
    try:
        mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
        places = [line.split(":", 2) for line in (proc / "cgroup").read_text().splitlines()]
    except OSError:
        return
    for mount in mounts:
        kind, options = mount[mount.index("-") + 1], mount[-1].split(",")
        root, point = mount[3], Path(mount[4])
        for _, names, path in places:
            own = point / path.removeprefix(root).lstrip("/")
            if kind == "cgroup" and names and set(names.split(",")) <= set(options):
                has = tuple(one for one in CONTROLLERS if one in names.split(","))
                yield Hierarchy(own, has, 1)
            elif kind == "cgroup2" and not names:
                yield from _unified(own, point)


def _unified(own: Path, point: Path) -> Iterator[Hierarchy]:
    for parent in (own, own.parent):
        if not parent.is_relative_to(point):
            continue
        for one in CONTROLLERS:  # together, one that is not delegated would refuse all
            with suppress(OSError):
                (parent / "cgroup.subtree_control").write_text(f"+{one}")
        with suppress(OSError):
            enabled = (parent / "cgroup.subtree_control").read_text().split()
            yield Hierarchy(parent, tuple(one for one in CONTROLLERS if one in enabled), 2)


def _works(hierarchy: Hierarchy, limits: Limits) -> bool:
    try:
        with hierarchy.group(limits) as place:
            enter = ("/bin/sh", "-c", 'echo 0 > "$0"', str(place / "cgroup.procs"))
            done = subprocess.run(enter, stderr=subprocess.DEVNULL, timeout=20, check=False)
            return done.returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _members(place: Path) -> list[int]:
    try:
        return [int(pid) for pid in (place / "cgroup.procs").read_text().split()]
    except (OSError, ValueError):
        return []


def _started(pid: int) -> int | None:
    """When a process started, in ticks of the kernel, so that a reused number is told apart."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(stat.rpartition(b")")[2].split()[19])
