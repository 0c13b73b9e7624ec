"""Status from files alone: who runs, who was cut short, and what hostile files cannot do."""

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nanobench.environment.cancel import cancelled
from nanobench.errors import InvalidInputError, UsageError
from nanobench.files import write_atomic
from nanobench.model.plan import Plan
from nanobench.pipeline.status import end_cell, read_status
from nanobench.pipeline.store import ResultStore
from nanobench.pipeline.watch import KILL, STATUS, EndedByUserError, LiveStatus, Watch

Finish = Callable[..., Path]
EARLIER = datetime.now(UTC) - timedelta(seconds=100)


@pytest.fixture
def bench(store: ResultStore, plan: Plan) -> ResultStore:
    store.adopt(plan)
    return store


def live(place: Path, **more: object) -> str:
    fields = {"phase": "agent", "started_at": EARLIER, "phase_started_at": EARLIER}
    return LiveStatus.model_validate({**fields, "place": str(place), **more}).to_json()


def test_every_state_is_told_apart(
    bench: ResultStore, plan: Plan, finish: Finish, tmp_path: Path
) -> None:
    done, failed, running, _ = plan.cells
    finish(done, 1.0)
    finish(failed, None)
    with bench.held(), bench.attempt(running) as (_, directory):
        counted = {"requests": 3, "input_tokens": 70, "output_tokens": 9}
        write_atomic(directory / STATUS, live(tmp_path, **counted))
        found = read_status(bench.root)
        assert found.running
        assert [cell.state for cell in found.cells] == ["done", "failed", "running", "waiting"]
        assert found.counts == {"done": 1, "failed": 1, "running": 1, "waiting": 1}
        shown = found.cells[2]
        assert (shown.phase, shown.requests, shown.input_tokens) == ("agent", 3, 70)
        assert shown.elapsed_seconds is not None
        assert shown.elapsed_seconds >= 100
        (directory / "record.json").write_text("{}")
    assert not read_status(bench.root).running


def test_what_a_crash_left_is_not_taken_for_running(bench: ResultStore, plan: Plan) -> None:
    home = bench.root / "cells" / plan.cells[0].cell_id
    (home / "attempt-1").mkdir(parents=True)
    (home / ".lock").touch()
    write_atomic(home / "attempt-1" / STATUS, live(home))
    found = read_status(bench.root)
    assert (found.running, found.cells[0].state) == (False, "interrupted")
    assert found.cells[0].phase == "agent"
    assert found.cells[0].elapsed_seconds is None


def test_asking_keeps_no_runner_out(bench: ResultStore, plan: Plan) -> None:
    home = bench.root / "cells" / plan.cells[0].cell_id
    (home / "attempt-1").mkdir(parents=True)
    (home / ".lock").touch()
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            read_status(bench.root)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(100):
            with bench.attempt(plan.cells[0]) as (number, directory):
                assert number > 1
                assert directory.is_dir()
                write_atomic(directory / "record.json", "{}")
    finally:
        over.set()
        asking.join()


def test_recent_output_is_that_of_the_file_written_last(
    bench: ResultStore, plan: Plan, tmp_path: Path
) -> None:
    with bench.attempt(plan.cells[0]) as (_, directory):
        write_atomic(directory / STATUS, live(tmp_path))
        stderr = tmp_path / "agent" / "run" / "stderr.txt"
        stderr.parent.mkdir(parents=True)
        stderr.write_text("boot line\n")
        assert read_status(bench.root).cells[0].output == ("boot line",)
        (directory / "outputs").mkdir()
        spooled = directory / "outputs" / ".suite-tests.stdout"
        spooled.write_text("x" * 100_000 + "\n" + "".join(f"test {n}\n\n" for n in range(9)))
        os.utime(stderr, (1, 1))
        assert read_status(bench.root).cells[0].output == tuple(f"test {n}" for n in range(4, 9))
        (directory / "record.json").touch()


@pytest.mark.parametrize("trap", ["link", "pipe", "directory"])
def test_what_the_agent_puts_in_the_place_of_its_stderr_is_not_followed(
    bench: ResultStore, plan: Plan, tmp_path: Path, trap: str
) -> None:
    with bench.attempt(plan.cells[0]) as (_, directory):
        write_atomic(directory / STATUS, live(tmp_path))
        stderr = tmp_path / "agent" / "run" / "stderr.txt"
        stderr.parent.mkdir(parents=True)
        if trap == "link":
            stderr.symlink_to("/etc/passwd")
        elif trap == "pipe":
            os.mkfifo(stderr)
        else:
            stderr.mkdir()
        assert read_status(bench.root).cells[0].output == ()
        (directory / "record.json").touch()


def test_a_status_file_that_is_none_is_no_error(bench: ResultStore, plan: Plan) -> None:
    with bench.attempt(plan.cells[0]) as (_, directory):
        (directory / STATUS).write_bytes(b"\xff{")
        assert read_status(bench.root).cells[0].state == "running"
        (directory / "record.json").touch()


def test_no_bench_is_an_error_and_nothing_is_created(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"plan\.json is missing"):
        read_status(tmp_path / "none")
    assert not (tmp_path / "none").exists()


class TestEnding:
    def test_only_a_running_cell_can_be_ended(self, bench: ResultStore, plan: Plan) -> None:
        with pytest.raises(UsageError, match="it is waiting"):
            end_cell(bench.root, plan.cells[0].cell_id)
        with pytest.raises(UsageError, match="no cell"):
            end_cell(bench.root, "../other")

    def test_a_wish_kills_what_the_thread_runs_and_raises_at_the_end_of_the_phase(
        self, bench: ResultStore, plan: Plan, tmp_path: Path
    ) -> None:
        killed = threading.Event()
        with bench.attempt(plan.cells[0]) as (_, directory):
            with Watch(directory, tmp_path) as watch:
                watch.phase("agent")
                end_cell(bench.root, plan.cells[0].cell_id)
                with cancelled.killing(killed.set):
                    assert killed.wait(30)
                with pytest.raises(EndedByUserError, match="agent"):
                    watch.check()
            assert not (directory / STATUS).exists()
            assert not (directory / KILL).exists()
            (directory / "record.json").touch()

    def test_an_install_that_others_share_is_not_killed(
        self, bench: ResultStore, plan: Plan, tmp_path: Path
    ) -> None:
        killed = threading.Event()
        with bench.attempt(plan.cells[0]) as (_, directory):
            with Watch(directory, tmp_path) as watch:
                watch.phase("prepare")
                end_cell(bench.root, plan.cells[0].cell_id)
                with cancelled.killing(killed.set):
                    assert not killed.wait(1.5)
                with pytest.raises(EndedByUserError):
                    watch.phase("agent")
            (directory / "record.json").touch()

    def test_after_the_watch_a_wish_comes_too_late(
        self, bench: ResultStore, plan: Plan, tmp_path: Path
    ) -> None:
        with bench.attempt(plan.cells[0]) as (_, directory):
            with Watch(directory, tmp_path) as watch:
                watch.phase("verify")
            watch.phase("judge")
            assert not (directory / STATUS).exists()
            (directory / "record.json").touch()
