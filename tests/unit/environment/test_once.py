import threading
from pathlib import Path

import pytest
from filelock import FileLock

from nanobench.environment.once import build_once, sweep_partial
from nanobench.errors import StateError


def test_directory_is_built_by_one_of_many_threads(tmp_path: Path) -> None:
    target, built = tmp_path / "a" / "thing", []
    barrier = threading.Barrier(4)

    def build(directory: Path) -> None:
        built.append(directory)
        (directory / "file").write_text("x")

    def ask() -> None:
        barrier.wait()
        build_once(target, build)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert (target / "file").read_text() == "x"


def test_failed_build_leaves_nothing_and_is_tried_again(tmp_path: Path) -> None:
    target = tmp_path / "thing"

    def fail(directory: Path) -> None:
        (directory / "half").write_text("x")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        build_once(target, fail)
    assert [path.name for path in tmp_path.iterdir()] == [".thing.lock"]
    assert build_once(target, lambda directory: None).is_dir()


def test_directory_that_is_not_whole_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    (target / "old").mkdir(parents=True)
    (tmp_path / ".thing.partial").mkdir()
    (tmp_path / ".thing.partial" / "left").write_text("by a killed process")
    build_once(target, lambda new: (new / "mark").touch(), lambda path: (path / "mark").exists())
    assert [path.name for path in target.iterdir()] == ["mark"]


def test_half_of_a_killed_build_is_swept_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    for name in (".killed.partial", ".living.partial", "whole"):
        (tmp_path / name / "inside").mkdir(parents=True)
    with FileLock(tmp_path / ".living.lock"):
        assert sweep_partial(tmp_path) == [tmp_path / ".killed.partial"]
    left = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert left == {".living.partial", "whole"}


def test_file_in_the_way_is_a_state_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateError):
        build_once(tmp_path / "file" / "thing", lambda directory: None)
