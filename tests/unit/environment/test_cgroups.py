"""Control groups: found in either version, entered, removed, and swept after a kill."""

import os
from pathlib import Path

import pytest

from nanobench.environment import cgroups
from nanobench.environment.cgroups import Hierarchy, Limits, find_hierarchies, sweep_groups

LIMITS = Limits(processes=50, memory_bytes=1 << 30, cpus=2)


def files(place: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in place.iterdir()}


@pytest.fixture(autouse=True)
def plain_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real group is removed with its files; a directory that plays one is not."""

    def remove(place: Path) -> None:
        for path in place.iterdir():
            path.unlink()
        place.rmdir()

    monkeypatch.setattr(cgroups, "remove_group", remove)


def proc(tmp_path: Path, mountinfo: str, own: str) -> Path:
    place = tmp_path / "proc"
    place.mkdir()
    (place / "mountinfo").write_text(mountinfo)
    (place / "cgroup").write_text(own)
    return place


def test_version_1_is_found_by_controller_below_the_mount_s_own_root(tmp_path: Path) -> None:
    pids, memory = tmp_path / "pids", tmp_path / "memory"
    (memory / "mine").mkdir(parents=True)
    pids.mkdir()
    place = proc(
        tmp_path,
        f"1 0 0:1 / {pids} rw - cgroup cgroup rw,pids\n"
        f"2 0 0:2 /docker/abc {memory} rw shared:1 - cgroup cgroup rw,memory\n"
        f"3 0 0:3 / {tmp_path}/none rw - cgroup cgroup rw,cpu\n",
        "4:cpu:/gone\n3:memory:/docker/abc/mine\n2:pids:/\n1:name=systemd:/\n",
    )
    assert find_hierarchies(LIMITS, place) == (
        Hierarchy(pids, ("pids",), 1),
        Hierarchy(memory / "mine", ("memory",), 1),
    )


def test_version_2_uses_the_place_above_where_its_own_has_no_controllers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = tmp_path / "fs"
    own = point / "user" / "scope"
    own.mkdir(parents=True)
    (own / "cgroup.subtree_control").touch()
    (own.parent / "cgroup.subtree_control").write_text("pids memory")
    write = Path.write_text

    def as_a_kernel(path: Path, text: str) -> int:
        """A group that holds processes gets no controllers below it."""
        if path.name == "cgroup.subtree_control":
            raise OSError(16, "Device or resource busy")
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", as_a_kernel)
    mountinfo = f"1 0 0:1 / {point} rw - cgroup2 cgroup2 rw\n"
    place = proc(tmp_path, mountinfo, "0::/user/scope\n")
    assert find_hierarchies(LIMITS, place) == (Hierarchy(own.parent, ("pids", "memory"), 2),)


def test_a_machine_without_cgroups_has_none(tmp_path: Path) -> None:
    assert find_hierarchies(LIMITS, tmp_path / "no-proc") == ()


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        (
            1,
            {
                "pids.max": "50",
                "memory.limit_in_bytes": "1073741824",
                "memory.memsw.limit_in_bytes": "1073741824",
                "cpu.cfs_period_us": "100000",
                "cpu.cfs_quota_us": "200000",
            },
        ),
        (
            2,
            {
                "pids.max": "50",
                "memory.max": "1073741824",
                "memory.swap.max": "0",
                "cpu.max": "200000 100000",
            },
        ),
    ],
)
def test_limits_are_written_as_each_version_takes_them(
    tmp_path: Path, version: int, wanted: dict[str, str]
) -> None:
    hierarchy = Hierarchy(tmp_path, ("pids", "memory", "cpu"), version)
    with hierarchy.group(LIMITS) as place:
        assert files(place) == wanted
        assert place.name.startswith(f"nanobench-{os.getpid()}-")
    assert not place.exists()


def test_only_groups_of_processes_that_are_gone_are_swept(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, ("pids",), 1)
    reused = tmp_path / f"nanobench-{os.getpid()}-1-abcd"  # our number, another process
    gone = tmp_path / "nanobench-999999999-5-abcd"
    foreign = tmp_path / "nanobench-of-somebody"
    for place in (reused, gone, foreign):
        place.mkdir()
    with hierarchy.group(LIMITS) as living:
        assert sorted(sweep_groups((hierarchy,))) == sorted([reused, gone])
        assert living.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["nanobench-of-somebody"]
