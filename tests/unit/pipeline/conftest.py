"""A plan of cells whose records `make_record` makes, and where their results go."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nanobench.environment.cancel import cancelled
from nanobench.files import write_atomic
from nanobench.model.plan import Cell, Limits, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.pipeline.records import RECORD
from nanobench.pipeline.store import ResultStore

Finish = Callable[..., Path]


@pytest.fixture
def plan() -> Plan:
    """Four runs of one task, three attempts each."""
    return Plan(
        tasks=(PlanTask(task_id="t1", origin="dataset", sha256="a" * 64),),
        cells=tuple(
            Cell(model=ModelRef.parse("acme/one"), task_id="t1", mode="hinted", run=run)
            for run in range(1, 5)
        ),
        limits=Limits(attempts=3),
    )


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "out")


@pytest.fixture
def finish(store: ResultStore, make_record: Callable[..., Record]) -> Finish:
    """`finish(cell, score)` makes the next attempt at a cell; a null score is infrastructure."""

    def finish(cell: Cell, score: float | None) -> Path:
        with store.attempt(cell) as (number, directory):
            record = make_record(score, f"{cell.model} {cell.task_id} {cell.run}", attempt=number)
            write_atomic(directory / RECORD, record.to_json())
        return directory

    return finish


@pytest.fixture
def cancellation() -> Iterator[None]:
    """The process-wide cancellation is lifted again after the test."""
    yield
    cancelled.clear()
