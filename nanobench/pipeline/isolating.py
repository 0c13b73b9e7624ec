"""What isolates the agent and the tests of a cell, what is asked, and what is told of it."""

from collections.abc import Iterable, Iterator

from nanobench.environment.sandbox import Kind
from nanobench.errors import WHERE_INDENT, EnvironmentSetupError
from nanobench.model.plan import Cell
from nanobench.model.record import Isolation
from nanobench.model.resources import AgentNetwork
from nanobench.pipeline.bench import Bench
from nanobench.pipeline.providing import goes_through_gateway

WARNINGS = {
    "namespaces": "agents can read and change every file that you can, because bubblewrap does "
    "not work here; see `nanobench doctor`",
    "none": "nothing isolates agents: they can do all that you can, the network included; see "
    "`nanobench doctor`",
}
_REMEDY = (
    "give the machine what `nanobench doctor` names, keep the gateway on, or run without "
    "--require-isolation"
)


def agent_network(cell: Cell, bench: Bench, sandbox: Kind) -> AgentNetwork:
    """What the agent of a cell really reaches: only the provider where that can be enforced.

    It takes a sandbox without network and a gateway at the end of its only way out; a provider
    whose address Nanocoder does not let be changed is asked directly.
    """
    asked = bench.tasks[cell.task_id].task.environment.network.agent
    enforceable = sandbox.isolates_network and goes_through_gateway(cell.model, bench)
    return "provider-only" if asked == "provider-only" and enforceable else "host"


def isolation(cell: Cell, bench: Bench, sandbox: Kind) -> Isolation:
    """What was really enforced in a cell."""
    asked = bench.tasks[cell.task_id].task.environment.network.verify
    return Isolation(
        strategy="container" if sandbox.name == "docker" else "native",
        sandbox=sandbox.name,
        agent_network=agent_network(cell, bench, sandbox),
        verify_network=asked if sandbox.isolates_network else "host",
        resources=sandbox.resources,
    )


def warn_of(cells: Iterable[Cell], bench: Bench) -> str:
    """What a user must know before agents run on this machine; empty if all is isolated."""
    return WARNINGS.get(bench.services.sandbox.name, "") if any(_native(cells, bench)) else ""


def check_isolation(cells: Iterable[Cell], bench: Bench) -> None:
    """Refuse cells that would be isolated less than fully.

    Raises:
        EnvironmentSetupError: files or processes of the machine, or the network, would be in an
            agent's reach; each lack is named once.
    """
    cells = tuple(cells)
    sandbox = bench.services.sandbox
    lacks = []
    if sandbox.name in WARNINGS and any(_native(cells, bench)):
        lacks.append(f"{sandbox.name}: {WARNINGS[sandbox.name]}")
    for cell in cells:
        isolates = sandbox.isolates_network or not any(_native([cell], bench))
        asked = bench.tasks[cell.task_id].task.environment.network.agent
        if asked == "host":
            lacks.append(f"task {cell.task_id} gives its agent the network")
        elif isolates and not goes_through_gateway(cell.model, bench):
            lacks.append(f"{cell.model.provider} is asked directly, without the gateway")
    if lacks:
        raise EnvironmentSetupError(
            "isolation is required, and this bench would run without",
            where=WHERE_INDENT.join(dict.fromkeys(lacks)),
            remedy=_REMEDY,
        )


def _native(cells: Iterable[Cell], bench: Bench) -> Iterator[bool]:
    """Whether each cell runs on the machine itself."""
    for cell in cells:
        yield bench.services.choice.strategy_of(bench.tasks[cell.task_id].task) == "native"
