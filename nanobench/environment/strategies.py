"""Which strategy prepares a task: the one that it names, unless the user chose another."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from nanobench.environment.native import NativeEnvironment
from nanobench.environment.protocol import Environment, Prepared
from nanobench.environment.sandbox import Kind, Sandbox
from nanobench.environment.toolchain import Toolchain
from nanobench.files import StateDirectory
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from nanobench.environment.container.environment import ContainerEnvironment

StrategyName = Literal["native", "container"]


@dataclass(frozen=True)
class Choice:
    """What the user chose for all tasks.

    Args:
        strategy: goes over what tasks name; null leaves it to them.
        image: for tasks that run in containers and name no image.
    """

    strategy: StrategyName | None = None
    image: str | None = None

    def strategy_of(self, task: Task) -> StrategyName:
        """How a task is run."""
        return self.strategy or task.environment.strategy


class Environments:
    """Both strategies behind one protocol; an engine is reached when a task first needs it."""

    def __init__(
        self, state: StateDirectory, toolchain: Toolchain, sandbox: Sandbox, choice: Choice
    ) -> None:
        self._state = state
        self._toolchain = toolchain
        self._choice = choice
        self._native = NativeEnvironment(state, toolchain, sandbox)

    def check(self, task: Task, snapshot: Snapshot) -> None:
        """Check by the task's strategy; see `Environment.check`."""
        self._chosen(task).check(task, snapshot)

    def kind(self, task: Task) -> Kind:
        """What the task's strategy runs commands in; see `Environment.kind`."""
        return self._chosen(task).kind(task)

    def prepare(self, task: Task, snapshot: Snapshot) -> Prepared:
        """Prepare by the task's strategy; see `Environment.prepare`."""
        return self._chosen(task).prepare(task, snapshot)

    def close(self) -> None:
        """End the run by which the engine knows what belongs to this process."""
        if "_container" in self.__dict__:
            self._container.close()

    def _chosen(self, task: Task) -> Environment:
        return self._container if self._choice.strategy_of(task) == "container" else self._native

    @cached_property
    def _container(self) -> "ContainerEnvironment":
        from nanobench.environment.container.environment import ContainerEnvironment

        return ContainerEnvironment(self._state, self._toolchain, self._choice.image)
