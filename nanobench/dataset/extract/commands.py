"""The first suites of a task, by the habits of each ecosystem.

A starting point that a person checks by running the gate: it is built from the names of the test
files and the manifests beside them, and runs nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nanobench.dataset.extract.go import go_plan
from nanobench.dataset.extract.jvm import jvm_plan
from nanobench.dataset.extract.node import node_plan
from nanobench.dataset.extract.plan import Plan, Step
from nanobench.dataset.extract.python import python_plan
from nanobench.dataset.extract.rust import rust_plan
from nanobench.dataset.extract.tree import Tree
from nanobench.model.task import Suite, TaskEnvironment

ECOSYSTEMS: tuple[Callable[[Sequence[str], Tree], Plan], ...] = (
    python_plan,
    node_plan,
    go_plan,
    rust_plan,
    jvm_plan,
)


@dataclass(frozen=True)
class Commands:
    """Suites, their environment, and the test files that none of them runs by name."""

    suites: tuple[Suite, ...]
    environment: TaskEnvironment
    not_run: tuple[str, ...]


def first_commands(test_files: Sequence[str], tree: Tree) -> Commands:
    """What runs the test files.

    Args:
        test_files: as they stand in `tree`, the state after the change.
    """
    plans = [ecosystem(test_files, tree) for ecosystem in ECOSYSTEMS]
    covered = frozenset().union(*(plan.covered for plan in plans))
    environment = TaskEnvironment(
        runtimes={name: version for plan in plans for name, version in plan.runtimes.items()},
        install=tuple(command for plan in plans for command in plan.install),
    )
    suites = _suites([step for plan in plans for step in plan.steps])
    return Commands(suites, environment, tuple(sorted(set(test_files) - covered)))


def _suites(steps: Sequence[Step]) -> tuple[Suite, ...]:
    seen: Counter[str] = Counter()
    found = []
    for step in steps:
        seen[step.runner] += 1
        number = seen[step.runner]
        found.append(
            Suite(
                name=step.runner if number == 1 else f"{step.runner}-{number}",
                language=step.language,
                command=step.command,
                cwd=step.cwd,
            )
        )
    return tuple(found)
