"""What the commands that run cells share: tasks of a plan, and a bench around them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nanobench.dataset.catalog import Catalog
from nanobench.errors import InvalidInputError
from nanobench.files import StateDirectory
from nanobench.model.plan import Plan
from nanobench.pipeline.bench import Bench, PlannedTask, Services
from nanobench.pipeline.places import sweep
from nanobench.pipeline.progress import Progress
from nanobench.pipeline.store import ResultStore


def planned_tasks(plan: Plan, catalog: Catalog) -> dict[str, PlannedTask]:
    """The tasks of a plan, found in the catalogue by id and by the hash of their file.

    Raises:
        InvalidInputError: a task is missing, or is not the one that was planned.
    """
    found = {}
    for planned in plan.tasks:
        entry = catalog.entries.get(planned.task_id)
        if entry is None or entry.origin != planned.origin:
            raise InvalidInputError(
                f"the plan names the task {planned.task_id!r}, which is not here",
                remedy="name the directory of its task file with --tasks-dir",
            )
        if entry.sha256 != planned.sha256:
            raise InvalidInputError(
                f"the task {planned.task_id!r} is not the one that was planned: its file has "
                f"sha256 {entry.sha256}, the plan {planned.sha256}",
                where=str(entry.path or "the built-in sample"),
                remedy="use the dataset version of the plan, or plan again",
            )
        dataset = "sample"
        if entry.origin == "dataset" and catalog.dataset is not None:
            dataset = f"{catalog.dataset.name} {catalog.dataset.version}"
        found[planned.task_id] = PlannedTask(entry.task, entry.sha256, dataset)
    return found


@contextmanager
def open_bench(
    plan: Plan, catalog: Catalog, state: StateDirectory, out: Path, progress: Progress
) -> Iterator[Bench]:
    """A bench whose input has been checked, on a state directory that has been swept.

    Raises:
        NanobenchError: the plan, a task, a provider or a directory cannot be used.
    """
    from nanobench.agent.scripted.server import ScriptedServer

    sweep(state.runs)
    with ScriptedServer() as scripted:
        bench = Bench(
            plan=plan,
            tasks=planned_tasks(plan, catalog),
            services=Services(state),
            store=ResultStore(out),
            progress=progress,
            scripted=scripted,
            environ=os.environ,
            cwd=Path.cwd(),
        )
        bench.check()
        yield bench
