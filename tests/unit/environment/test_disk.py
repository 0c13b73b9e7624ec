"""The watch over what a command writes."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from nanobench.environment import disk
from nanobench.environment.disk import RESERVE_BYTES, DiskWatch

LIMIT = 4 << 20


class Disk:
    """The file system as the watch sees it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free = 100 << 30
        self.files = 1_000_000
        usage = lambda path: SimpleNamespace(free=self.free)  # noqa: E731
        monkeypatch.setattr(disk.shutil, "disk_usage", usage)
        monkeypatch.setattr(disk.os, "statvfs", lambda path: SimpleNamespace(f_favail=self.files))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def fill(path: Path, size: int) -> None:
    path.write_bytes(os.urandom(size))
    os.sync()


def test_too_much_in_its_directories_is_told(machine: Disk, tmp_path: Path) -> None:
    watch = DiskWatch((tmp_path,), LIMIT)
    assert not watch.look()
    fill(tmp_path / "big", LIMIT + 4096)
    machine.free -= LIMIT
    assert watch.look()
    assert watch.exceeded == f"its directories hold more than {LIMIT} bytes"
    assert watch.look()


def test_what_others_write_is_not_held_against_a_command(machine: Disk, tmp_path: Path) -> None:
    watch = DiskWatch((tmp_path,), LIMIT)
    fill(tmp_path / "small", 4096)
    machine.free -= 50 << 30
    assert not watch.look()


def test_holes_and_links_out_do_not_count(
    machine: Disk, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    fill(outside / "big", LIMIT + 4096)
    (tmp_path / "link").symlink_to(outside / "big")
    (tmp_path / "directory").symlink_to(outside)
    with (tmp_path / "hole").open("wb") as stream:
        stream.truncate(LIMIT * 4)
    watch = DiskWatch((tmp_path,), LIMIT)
    machine.free -= LIMIT * 2
    assert not watch.look()


def test_nobody_goes_on_when_the_disk_is_full(machine: Disk, tmp_path: Path) -> None:
    watch = DiskWatch((tmp_path,), LIMIT)
    machine.free = RESERVE_BYTES // 2 - 1
    assert watch.look()
    assert (watch.exceeded, watch.others) == ("the disk is full", True)


def test_who_filled_the_disk_is_told(
    machine: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "RESERVE_BYTES", LIMIT)
    watch = DiskWatch((tmp_path,), 100 * LIMIT)
    fill(tmp_path / "big", LIMIT + 4096)
    machine.free = LIMIT // 2 - 1
    assert watch.look()
    assert (watch.exceeded, watch.others) == ("the disk is full", False)


def test_a_disk_that_was_full_before_ends_nobody(machine: Disk, tmp_path: Path) -> None:
    machine.free = RESERVE_BYTES // 4
    watch = DiskWatch((tmp_path,), LIMIT)
    assert not watch.look()


def test_very_many_files_are_told(
    machine: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "MOST_FILES", 10)
    watch = DiskWatch((tmp_path,), LIMIT)
    for number in range(11):
        (tmp_path / str(number)).touch()
    machine.files -= 200_000
    assert watch.look()
    assert watch.exceeded == "its directories hold more than 10 files"


def test_a_command_that_may_write_nowhere_is_not_watched(tmp_path: Path) -> None:
    assert not DiskWatch((), LIMIT).look()
    assert not DiskWatch((tmp_path / "gone",), LIMIT).look()
