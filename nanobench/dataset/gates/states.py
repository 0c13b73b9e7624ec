"""The two states of a task, base and golden, and their suites run as often as gates need."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nanobench.dataset.changes import path_kind
from nanobench.environment.cancel import cancelled
from nanobench.environment.protocol import Prepared
from nanobench.model.task import Task
from nanobench.pipeline.bench import Material, Services
from nanobench.pipeline.places import places
from nanobench.pipeline.verifying import Lab
from nanobench.verify.outputs import OutputStore
from nanobench.verify.protection import protection
from nanobench.verify.suites import Purpose, SuiteRun
from nanobench.workspace.changes import Change
from nanobench.workspace.paths import display

State = Literal["base", "golden"]
Runs = tuple[SuiteRun, ...]
STATES: tuple[State, ...] = ("base", "golden")


def attainable(task: Task, golden: Sequence[Change]) -> tuple[Change, ...]:
    """The golden changes without the tests that verification gives to no agent.

    What such a test adds would be a target that nobody's work could pass.
    """
    guard = protection(task, golden)
    return tuple(
        change
        for change in golden
        if guard.covers(change.path)
        or change.path in guard.required
        or path_kind(display(change.path)) != "test"
    )


@dataclass(frozen=True)
class States:
    """The task's suites on either state, each with the golden test files.

    Whole outputs go to `outputs`, as `<state>-<number>-<suite>`.
    """

    material: Material
    services: Services
    outputs: Path
    jobs: int = 1

    def run(self, numbers: Iterable[int], told: Callable[[str], None]) -> dict[State, list[Runs]]:
        """Run every suite once per number on both states, at most `jobs` runs at a time.

        Args:
            numbers: of the runs, for the names of their outputs.
            told: is called with a phrase as each run begins.

        Raises:
            EnvironmentSetupError: the dependencies cannot be installed, or a sandbox fails.
            NanobenchError: a tree cannot be built, or a directory cannot be used.
        """
        task, snapshot = self.material.task, self.material.snapshot
        dependencies = self.services.environment.prepare(task, snapshot)
        asked = [(state, number) for number in numbers for state in STATES]

        def one(asked: tuple[State, int]) -> Runs:
            told(f"{task.task_id}: {asked[0]}, run {asked[1]}")
            return self._run(*asked, dependencies)

        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            try:
                done = list(pool.map(one, asked))
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                cancelled.set()  # the pool waits for its threads, and these for their tests
                raise
        found: dict[State, list[Runs]] = {state: [] for state in STATES}
        for (state, _), runs in zip(asked, done, strict=True):
            found[state].append(runs)
        return found

    def _run(self, state: State, number: int, dependencies: Prepared) -> Runs:
        golden = self.material.golden.changes
        changes = attainable(self.material.task, golden) if state == "golden" else ()
        label = f"{state}-{number}"
        with places(self.services.state.runs) as rooms:
            lab = Lab(self.material, dependencies, rooms, OutputStore(self.outputs))
            _, runs = lab.run(label, changes, Purpose(label))
        return runs
