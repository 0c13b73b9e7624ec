"""Directories of running cells: gone at the end, swept after a kill, left alone while alive."""

import multiprocessing
import tempfile
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from filelock import FileLock

from nanobench.errors import StateError
from nanobench.files import StateDirectory
from nanobench.pipeline.places import places, sweep, temporary_files


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "state" / "runs"
    path.mkdir(parents=True)
    return path


def _occupy(runs: Path, entered: Event, leave: Event) -> None:
    with places(runs) as rooms:
        (rooms.agent_run / "file").write_text("x")
        entered.set()
        leave.wait(60)


def _occupied(runs: Path) -> tuple[multiprocessing.process.BaseProcess, Event]:
    context = multiprocessing.get_context("spawn")
    entered, leave = context.Event(), context.Event()
    process = context.Process(target=_occupy, args=(runs, entered, leave))
    process.start()
    assert entered.wait(60)
    return process, leave


def test_nothing_is_left_however_the_run_ends(runs: Path) -> None:
    def fail() -> None:
        with places(runs) as rooms:
            _, run_dir = rooms.verification("verify")
            (run_dir / "read-only").mkdir(mode=0o500)
            rooms.scratch.joinpath("link").symlink_to("/")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(runs.iterdir()) == []


def test_two_runs_never_share_a_place(runs: Path) -> None:
    with places(runs) as one, places(runs) as other:
        assert one.root != other.root
        assert one.agent_workspace.parent.parent == one.root
        assert one.verification("verify")[0] != one.verification("control-x")[0]


def test_a_living_process_keeps_its_directory_and_a_killed_one_loses_it(runs: Path) -> None:
    process, _ = _occupied(runs)
    before = sorted(runs.iterdir())
    assert len(before) == 2  # the directory and its lock
    assert sweep(StateDirectory(runs.parent)) == []
    assert sorted(runs.iterdir()) == before
    process.kill()
    process.join(60)
    assert sorted(runs.iterdir()) == before
    assert [path.name for path in sweep(StateDirectory(runs.parent))] == [before[0].name]
    assert list(runs.iterdir()) == []


def test_half_of_what_a_killed_process_was_building_is_swept(runs: Path) -> None:
    state = StateDirectory(runs.parent)
    halves = [
        state.environments / ".key.partial",
        state.tools / "runtime" / "node" / ".22.partial",
        state.snapshots / ".0123456789ab-0123.x_y1",
    ]
    for path in halves:
        (path / "inside").mkdir(parents=True)
    (state.snapshots / "0123456789ab-0123").mkdir()
    with FileLock(state.snapshots / "0123456789ab-0123.lock"):
        assert sweep(state) == halves[:2]
    assert sweep(state) == halves[2:]
    assert (state.snapshots / "0123456789ab-0123").is_dir()


def test_sweeping_does_not_disturb_a_run_that_ends_by_itself(runs: Path) -> None:
    process, leave = _occupied(runs)
    sweep(StateDirectory(runs.parent))
    leave.set()
    process.join(60)
    assert (process.exitcode, list(runs.iterdir())) == (0, [])


@pytest.mark.parametrize("left", ["0a1b2c3d", "0a1b2c3d.lock"])
def test_half_of_a_pair_is_swept_too(runs: Path, left: str) -> None:
    path = runs / left
    path.mkdir() if path.suffix == "" else path.touch()
    sweep(StateDirectory(runs.parent))
    assert list(runs.iterdir()) == []


@pytest.mark.parametrize("made_anew", [False, True])
def test_a_directory_that_vanished_is_noticed(runs: Path, tmp_path: Path, made_anew: bool) -> None:
    with places(runs) as rooms:
        rooms.check()
        (tmp_path / "state").rename(tmp_path / "moved")
        if made_anew:
            assert rooms.scratch.is_dir()
        with pytest.raises(StateError, match="removed or moved during the run") as caught:
            rooms.check()
    assert caught.value.where == str(tmp_path / "state")


def test_temporary_files_lie_where_a_sweep_finds_them(runs: Path) -> None:
    before = tempfile.gettempdir()
    with temporary_files(runs), tempfile.TemporaryDirectory() as place:
        assert Path(place).is_relative_to(runs)
        assert sweep(StateDirectory(runs.parent)) == []
    assert list(runs.iterdir()) == []
    assert tempfile.gettempdir() == before
