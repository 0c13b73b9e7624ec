"""All gates of a submitted file, in the order in which they stand on each other (SPEC 11)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nanobench.dataset.catalog import TaskEntry
from nanobench.dataset.gates.clone import clone_gate
from nanobench.dataset.gates.contamination import contamination_gate
from nanobench.dataset.gates.findings import Findings, not_run
from nanobench.dataset.gates.flakiness import RUNS, flakiness_gate
from nanobench.dataset.gates.repository_matrix import registry_gate, repository_matrix_gate
from nanobench.dataset.gates.schema import schema_gate
from nanobench.dataset.gates.states import States
from nanobench.dataset.gates.verification import check_written, verification_gate
from nanobench.dataset.reading import MisfitError, read_document
from nanobench.dataset.repositories.registry import REGISTRY_FILE
from nanobench.dataset.task_files import rewrite
from nanobench.errors import InfrastructureError, InvalidInputError, NanobenchError
from nanobench.model.gate import GateName, GateOutcome, TaskGates
from nanobench.model.registry import Registry
from nanobench.pipeline.bench import Material, PlannedTask, Services

_AFTER_SCHEMA: tuple[GateName, ...] = (
    "clone",
    "verification",
    "flakiness",
    "contamination",
    "repository_matrix",
)


@dataclass(frozen=True)
class Terms:
    """What files are held against, and how the gates are run.

    Args:
        services: do the work.
        cutoff: of the dataset.
        registry: of the dataset.
        jobs: test runs at a time.
        write: whether `expected` is written into a file that passes.
        told: is called with a phrase as each long step begins.
    """

    services: Services
    cutoff: datetime
    registry: Registry
    jobs: int
    write: bool
    told: Callable[[str], None]


def gate_task(path: Path, terms: Terms) -> TaskGates:
    """Run the gates of a task file; each that can be run is, whatever became of the others.

    Raises:
        StateError: a directory of ours cannot be used.
    """
    file = str(path)
    schema = Findings("schema", file)
    entry = schema_gate(path, schema)
    if entry is None:
        waiting = tuple(not_run(gate, file, "the file is no task") for gate in _AFTER_SCHEMA)
        return TaskGates(task=path.stem or file, gates=(schema.outcome(), *waiting))
    outcomes = [schema.outcome(), *_pinned(entry, file, terms)]
    order: tuple[GateName, ...] = ("schema", *_AFTER_SCHEMA)
    return TaskGates(
        task=entry.task.task_id,
        gates=tuple(sorted(outcomes, key=lambda outcome: order.index(outcome.gate))),
    )


def gate_registry(path: Path, before: Registry) -> TaskGates:
    """Run the gates of a registry; only what differs from `before` is judged."""
    file = str(path)
    schema, matrix = Findings("schema", file), Findings("repository_matrix", file)
    try:
        registry, _ = read_document(Registry, path)
    except MisfitError as error:
        for place, what in error.problems:
            schema.add(place, what, "write the registry with `nanobench repo score`")
    except InvalidInputError as error:
        schema.take(None, error)
    else:
        registry_gate(registry, {one.repo: one for one in before.repositories}, matrix)
        return TaskGates(task=REGISTRY_FILE, gates=(schema.outcome(), matrix.outcome()))
    waiting = not_run("repository_matrix", file, "the file is no registry")
    return TaskGates(task=REGISTRY_FILE, gates=(schema.outcome(), waiting))


def _pinned(entry: TaskEntry, file: str, terms: Terms) -> list[GateOutcome]:
    """The gates that need a readable task; the two that fetch commits go side by side."""
    task = entry.task
    clone, dated = Findings("clone", file), Findings("contamination", file)
    matrix = Findings("repository_matrix", file)
    repository_matrix_gate(task, terms.registry, matrix)
    planned = PlannedTask(task, entry.sha256, "gate")
    terms.told(f"{task.task_id}: clone")
    with ThreadPoolExecutor(max_workers=2) as pool:
        fetched = pool.submit(clone_gate, planned, terms.services, clone)
        pool.submit(contamination_gate, task, terms.cutoff, terms.services, dated).result()
        material = fetched.result()
    outcomes = [clone.outcome(), dated.outcome(), matrix.outcome()]
    if material is None:
        because = "what the task points to is not all there"
        outcomes += [not_run(gate, file, because) for gate in ("verification", "flakiness")]
    else:
        outcomes += _tested(entry, material, file, terms)
    return outcomes


def _tested(entry: TaskEntry, material: Material, file: str, terms: Terms) -> list[GateOutcome]:
    """The gates that run the tests; the first run of each state serves both."""
    verification, flakiness = Findings("verification", file), Findings("flakiness", file)
    outputs = terms.services.state.part("gates") / material.task.task_id
    states = States(material, terms.services, outputs, terms.jobs)
    try:
        runs = states.run(range(1, RUNS + 1), terms.told)
    except (InfrastructureError, InvalidInputError) as error:
        return [_stopped(verification, error), not_run("flakiness", file, "the tests cannot run")]
    flakiness_gate(runs, flakiness)
    expected = verification_gate(runs["base"][0], runs["golden"][0], verification)
    if expected is not None and terms.write and flakiness.passed:
        assert entry.path is not None  # noqa: S101 - only files are gated
        rewrite(entry.path, {"expected": expected.model_dump(mode="json")})
    elif expected is not None:
        check_written(material.task, expected, verification)
    return [verification.outcome(), flakiness.outcome()]


def _stopped(verification: Findings, error: NanobenchError) -> GateOutcome:
    if isinstance(error, InfrastructureError):
        verification.could_not_run(error)
    else:
        verification.take("environment", error)
    return verification.outcome()
