"""What isolates the agent and the tests of a cell, what is asked, and what is told of it."""

from collections.abc import Iterable

from nanobench.environment.sandbox import Sandbox
from nanobench.errors import EnvironmentSetupError
from nanobench.model.plan import Cell
from nanobench.model.record import Isolation
from nanobench.model.task import AgentNetwork
from nanobench.pipeline.bench import Bench
from nanobench.pipeline.providing import goes_through_gateway

WARNINGS = {
    "namespaces": "agents can read and change every file that you can: bubblewrap does not work "
    "here (see `nanobench doctor`)",
    "none": "nothing isolates agents here: they can do all that you can, and reach the network "
    "(see `nanobench doctor`)",
}
_REMEDY = (
    "see `nanobench doctor` for what the machine lacks; keep the gateway on; or run without "
    "--require-isolation, at your own risk"
)


def agent_network(cell: Cell, bench: Bench) -> AgentNetwork:
    """What the agent of a cell really reaches: only the provider where that can be enforced.

    It takes a sandbox without network and a gateway at the end of its only way out; a provider
    whose address Nanocoder does not let be changed is asked directly.
    """
    asked = bench.tasks[cell.task_id].task.environment.network.agent
    enforceable = bench.services.sandbox.isolates_network
    if asked == "provider-only" and enforceable and goes_through_gateway(cell.model, bench):
        return "provider-only"
    return "host"


def isolation(cell: Cell, bench: Bench) -> Isolation:
    """What was really enforced in a cell."""
    sandbox = bench.services.sandbox
    asked = bench.tasks[cell.task_id].task.environment.network.verify
    return Isolation(
        strategy="native",
        sandbox=sandbox.name,
        agent_network=agent_network(cell, bench),
        verify_network=asked if sandbox.isolates_network else "host",
    )


def check_isolation(cells: Iterable[Cell], bench: Bench) -> None:
    """Refuse cells that would be isolated less than fully.

    Raises:
        EnvironmentSetupError: files or processes of the machine, or the network, would be in an
            agent's reach; each lack is named once.
    """
    lacks = dict.fromkeys(lack for cell in cells for lack in _lacks(cell, bench))
    if lacks:
        raise EnvironmentSetupError(
            "isolation is required, and this bench would run without",
            where="; ".join(lacks),
            remedy=_REMEDY,
        )


def _lacks(cell: Cell, bench: Bench) -> Iterable[str]:
    told = isolation(cell, bench)
    if told.sandbox in WARNINGS:
        yield f"the sandbox is {told.sandbox!r}"
    if told.agent_network == "host":
        yield f"agents of {cell.model.provider} on {cell.task_id} would reach the network"


def warning(sandbox: Sandbox) -> str:
    """What a user must know of a sandbox before agents run in it; empty if it isolates."""
    return WARNINGS.get(sandbox.name, "")
