"""What gating a task costs beside its test commands alone.

    python benchmarks/gates.py [TASK_FILE]      (the sample task by default)

Both sides run the same suites, as often as the gates need them, in the same sandbox, with warm
caches; the gates' side is everything that `nanobench task gate` does. The goal is a ratio of at
most 1.3.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from nanobench.dataset.catalog import TaskEntry, load_task
from nanobench.dataset.gates.flakiness import RUNS
from nanobench.dataset.gates.gating import Terms, gate_task
from nanobench.dataset.gates.states import STATES, States
from nanobench.dataset.sample.sample import sample_task
from nanobench.files import StateDirectory
from nanobench.model.registry import Registry
from nanobench.pipeline.bench import PlannedTask, Services, resolve

ROUNDS = 3
GOAL = 1.3


def main() -> None:
    """Measure and print."""
    state = StateDirectory.locate()
    with Services(state) as services, tempfile.TemporaryDirectory() as scratch:
        entry = _entry(state, Path(scratch))
        _gated(entry, services)  # warms every cache
        rounds = [
            (_timed(lambda: _gated(entry, services)), _own(entry, services)) for _ in range(ROUNDS)
        ]
    ratios = [whole / own for whole, own in rounds]
    for whole, own in rounds:
        print(f"gates {whole:6.2f} s   test commands alone {own:6.2f} s   ratio {whole / own:.2f}")
    print(f"{entry.task.task_id}: median ratio {statistics.median(ratios):.2f} (goal {GOAL})")


def _entry(state: StateDirectory, scratch: Path) -> TaskEntry:
    if len(sys.argv) > 1:
        return load_task(Path(sys.argv[1]))
    task = sample_task(state)
    path = scratch / task.repo.replace("/", "-") / f"{task.task_id}.json"
    path.parent.mkdir()
    path.write_text(task.to_json())
    return load_task(path)


def _gated(entry: TaskEntry, services: Services) -> None:
    assert entry.path is not None
    cutoff = datetime(2026, 4, 1, tzinfo=UTC)
    gate_task(entry.path, Terms(services, cutoff, Registry(), 1, False, lambda step: None))


def _own(entry: TaskEntry, services: Services) -> float:
    """Seconds that the test commands took by themselves, as many as the gates run."""
    material = resolve(PlannedTask(entry.task, entry.sha256, "benchmark"), services)
    outputs = services.state.part("gates") / "benchmark"
    runs = States(material, services, outputs).run(range(1, RUNS + 1), lambda step: None)
    return sum(run.duration_seconds for state in STATES for once in runs[state] for run in once)


def _timed(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


if __name__ == "__main__":
    main()
