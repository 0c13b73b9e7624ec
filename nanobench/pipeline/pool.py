"""Many cells on one machine: a bounded pool of threads, resumed by what is on disk."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from nanobench.environment.cancel import cancelled
from nanobench.errors import InterruptedRunError
from nanobench.model.plan import Cell, Plan
from nanobench.pipeline.progress import Progress
from nanobench.pipeline.store import ResultStore, is_graded

# A signal that comes just before the main thread falls asleep would not wake it.
_HEED_SECONDS = 0.5
RunCell = Callable[[Cell], object]


def unfinished(plan: Plan, store: ResultStore, progress: Progress) -> list[Cell]:
    """The cells still to run, in the plan's order (SPEC X13).

    A graded cell is finished. A cell that was cut short or ended in infrastructure trouble is
    run again until its attempts are used up.
    """
    todo = []
    for cell in plan.cells:
        record = store.standing(cell)
        if not is_graded(record) and not _used_up(plan, store, cell):
            todo.append(cell)
        elif record is not None:
            progress.kept(cell, record)
    return todo


def run_cells(cells: Sequence[Cell], run: RunCell, jobs: int) -> None:
    """Run `cells`, at most `jobs` at a time; the first error ends them all.

    Raises:
        InterruptedRunError: Ctrl-C or SIGTERM; every cell has been torn down by then.
        NanobenchError: what a cell raised, e.g. a full disk.
    """

    def work(cell: Cell) -> None:
        run(cell)  # not returned: its future would keep the record until the last cell's end

    futures: list[Future[None]] = []
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="cell") as pool:
        try:
            futures += [pool.submit(work, cell) for cell in cells]
            while wait(futures, _HEED_SECONDS, FIRST_EXCEPTION).not_done and not _errors(futures):
                pass
            if _errors(futures):
                _stop(pool)
        except KeyboardInterrupt:
            _stop(pool)
            raise InterruptedRunError(
                "interrupted; finished cells are kept",
                remedy="repeat the same command to resume",
            ) from None
    for error in _errors(futures):
        raise error


def _errors(futures: Sequence[Future[None]]) -> list[BaseException]:
    """What went wrong, the cause before the interruptions that it brought about."""
    ended = (future for future in futures if future.done() and not future.cancelled())
    errors = [error for error in (future.exception() for future in ended) if error is not None]
    return sorted(errors, key=lambda error: isinstance(error, InterruptedRunError))


def _stop(pool: ThreadPoolExecutor) -> None:
    pool.shutdown(wait=False, cancel_futures=True)  # first, so that none starts to be cancelled
    cancelled.set()


def _used_up(plan: Plan, store: ResultStore, cell: Cell) -> bool:
    attempts = store.attempts(cell)
    return bool(attempts) and attempts[-1][0] >= plan.limits.attempts
