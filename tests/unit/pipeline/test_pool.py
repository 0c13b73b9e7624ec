"""Many cells: how many at a time, what ends them, and what is run again."""

import os
import signal
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.environment.cancel import cancelled
from nanobench.errors import InterruptedRunError, StateError
from nanobench.model.plan import Cell, Plan
from nanobench.model.record import Record
from nanobench.pipeline.pool import run_cells, unfinished
from nanobench.pipeline.records import RECORD
from nanobench.pipeline.store import ResultStore

pytestmark = pytest.mark.usefixtures("cancellation")

Finish = Callable[..., Path]
Make = Callable[..., Record]


class Shown:
    """A progress that notes which cells were kept."""

    def __init__(self) -> None:
        self.cells: list[int] = []

    def phase(self, cell: Cell, name: str) -> None: ...

    def done(self, cell: Cell, record: Record) -> None: ...

    def kept(self, cell: Cell, record: Record) -> None:
        self.cells.append(cell.run)


def _killed(store: ResultStore, cell: Cell, times: int) -> None:
    """As SIGKILL leaves it: a directory without a record."""
    for number in range(1, times + 1):
        (store.root / "cells" / cell.cell_id / f"attempt-{number}").mkdir(parents=True)


def _todo(plan: Plan, store: ResultStore) -> tuple[list[int], list[int]]:
    shown = Shown()
    return [cell.run for cell in unfinished(plan, store, shown)], shown.cells


def test_graded_cells_are_kept_and_infrastructure_is_run_again(
    plan: Plan, store: ResultStore, finish: Finish
) -> None:
    finish(plan.cells[0], 0.0)
    finish(plan.cells[1], None)
    _killed(store, plan.cells[2], 1)
    assert _todo(plan, store) == ([2, 3, 4], [1])


def test_infrastructure_is_run_again_up_to_the_limit(
    plan: Plan, store: ResultStore, finish: Finish
) -> None:
    for attempts in range(1, 4):
        finish(plan.cells[0], None)
        todo, kept = _todo(plan, store)
        assert (1 in todo, 1 in kept) == (attempts < 3, attempts == 3)


def test_half_finished_attempts_count(plan: Plan, store: ResultStore, finish: Finish) -> None:
    _killed(store, plan.cells[0], 2)
    finish(plan.cells[0], None)
    _killed(store, plan.cells[1], 3)
    _killed(store, plan.cells[2], 2)
    finish(plan.cells[2], 0.5)
    assert _todo(plan, store) == ([4], [1, 3])  # 2 never had a record: there is nothing to keep


def test_an_unreadable_record_is_run_again(plan: Plan, store: ResultStore, finish: Finish) -> None:
    (finish(plan.cells[0], 1.0) / RECORD).write_text("{")
    assert 1 in _todo(plan, store)[0]


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_at_most_so_many_cells_run_at_a_time_and_all_do(
    plan: Plan, make_record: Make, jobs: int
) -> None:
    # Each waits until as many as are allowed are there, so that fewer would stand still.
    together = threading.Barrier(jobs)
    lock, now, most, ran = threading.Lock(), 0, 0, []

    def run(cell: Cell) -> Record:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        if cell.run <= jobs:
            together.wait(30)
        with lock:
            now -= 1
            ran.append(cell.run)
        return make_record(1.0)

    run_cells(plan.cells, run, jobs)
    assert (most, sorted(ran)) == (jobs, [1, 2, 3, 4])


def test_a_finished_record_does_not_stay_in_memory(plan: Plan, make_record: Make) -> None:
    made: list[weakref.ref[Record]] = []

    def run(cell: Cell) -> Record:
        # The one before may still be on its way out of the thread.
        assert [one() for one in made[:-1]] == [None] * len(made[:-1])
        record = make_record(1.0)
        made.append(weakref.ref(record))
        return record

    run_cells(plan.cells, run, 1)
    assert len(made) == len(plan.cells)


def test_the_first_error_ends_all_and_is_told_before_what_it_brought_about(
    plan: Plan, make_record: Make
) -> None:
    begun, started = threading.Event(), []

    def run(cell: Cell) -> Record:
        started.append(cell.run)
        if cell.run == 1:
            begun.set()
            assert cancelled.wait(30)
            cancelled.check()
        begun.wait(30)
        raise StateError("the disk is full")

    with pytest.raises(StateError, match="the disk is full"):
        run_cells(plan.cells, run, 2)
    assert sorted(started) == [1, 2]


def test_a_defect_in_one_cell_is_not_swallowed(plan: Plan) -> None:
    def run(cell: Cell) -> Record:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_cells(plan.cells, run, 1)


def test_an_interruption_waits_for_the_teardown_and_keeps_what_is_finished(
    plan: Plan, make_record: Make
) -> None:
    torn_down, started = [], []

    def run(cell: Cell) -> Record:
        started.append(cell.run)
        if cell.run == 1:
            return make_record(1.0)
        os.kill(os.getpid(), signal.SIGINT)  # reaches the main thread, which waits
        try:
            assert cancelled.wait(30)
            cancelled.check()
        finally:
            torn_down.append(cell.run)
        raise AssertionError

    with pytest.raises(InterruptedRunError) as caught:
        run_cells(plan.cells, run, 1)
    assert "repeat the same command" in caught.value.remedy
    assert (started, torn_down) == ([1, 2], [2])


def test_nothing_to_do_is_done(plan: Plan) -> None:
    run_cells((), lambda cell: pytest.fail("no cell"), 2)
