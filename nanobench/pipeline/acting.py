"""The agent's part of a cell: its workspace, its run, and how it ended."""

from dataclasses import dataclass, replace
from typing import Any

from nanobench.agent.attachments import offer_attachments
from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.substitution import Locations
from nanobench.agent.harness_files import agents_md_sha256, hide_harness_files
from nanobench.agent.nanocoder import AgentRequest, AgentRun, run_nanocoder
from nanobench.agent.outcome import Outcome, read_outcome
from nanobench.agent.prompt import build_prompt
from nanobench.agent.way_out import SOCKET
from nanobench.environment.protocol import Prepared
from nanobench.environment.room import Room
from nanobench.model.plan import Cell, Mode, ModelRef, Plan
from nanobench.pipeline.bench import Bench, Material
from nanobench.pipeline.isolating import agent_network
from nanobench.pipeline.places import Places
from nanobench.pipeline.providing import Provided, provided
from nanobench.pipeline.watch import Watch


@dataclass(frozen=True)
class Acted:
    """What the agent's run left.

    `exchanges` is null when nothing stood between agent and provider; `hidden` are the
    repository's own harness files, removed before the agent began; `residue` is what the
    dependencies' install left in the workspace.
    """

    run: AgentRun
    outcome: Outcome
    exchanges: tuple[Exchange, ...] | None
    hidden: tuple[bytes, ...]
    residue: frozenset[bytes]
    agents_md_sha256: str | None
    prompt: str


def act(
    cell: Cell,
    material: Material,
    dependencies: Prepared,
    rooms: Places,
    bench: Bench,
    watch: Watch,
) -> Acted:
    """Run the agent on a fresh workspace of the base commit; `watch` shows what it asks.

    Raises:
        NanobenchError: the workspace, the dependencies or Nanocoder cannot be had.
    """
    workspace, run_dir = rooms.agent_workspace, rooms.agent_run
    material.snapshot.unpack(workspace)
    hidden = hide_harness_files(workspace)
    guide = agents_md_sha256(workspace)
    network = agent_network(cell, bench, dependencies.sandbox)
    socket = run_dir / SOCKET if network == "provider-only" else None
    with (
        dependencies.open(workspace, run_dir) as room,
        provided(cell, material, bench, _locations(room, bench), socket) as ready,
    ):
        request = agent_request(cell.model, cell.mode, material, ready.provider, bench.plan)
        request = replace(request, network=network)
        with watch.following(ready.exchanges):
            run = run_nanocoder(room, request, bench.services.toolchain, run_dir)
        exchanges = ready.finish()
        residue = room.residue
    rooms.keep_workspace()
    outcome = read_outcome(run, exchanges, material.task.required_files)
    outcome = _without_address(outcome, ready)
    return Acted(run, outcome, exchanges, hidden, residue, guide, request.prompt)


def agent_request(
    model: ModelRef, mode: Mode, material: Material, provider: dict[str, Any], plan: Plan
) -> AgentRequest:
    """What a cell of this model and mode asks of the agent."""
    task = material.task
    attached = offer_attachments(task, plan.agent.nanocoder).given
    return AgentRequest(
        prompt=build_prompt(
            material.statement, task.required_files, mode, [one.path for one in attached]
        ),
        model=model,
        provider=provider,
        settings=plan.agent,
        limits=plan.limits,
    )


def _locations(room: Room, bench: Bench) -> Locations:
    return Locations(room.workspace, room.run_path, str(bench.services.state.root))


def _without_address(outcome: Outcome, ready: Provided) -> Outcome:
    message = outcome.signals.error_message
    if message is None:
        return outcome
    told = {"error_message": ready.without_address(message)}
    return replace(outcome, signals=outcome.signals.model_copy(update=told))
