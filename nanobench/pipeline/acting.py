"""The agent's part of a cell: its workspace, its run, and how it ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any

from nanobench.agent.exchange import Exchange
from nanobench.agent.harness_files import agents_md_sha256, hide_harness_files
from nanobench.agent.nanocoder import AgentRequest, AgentRun, run_nanocoder
from nanobench.agent.outcome import Outcome, read_outcome
from nanobench.agent.prompt import build_prompt
from nanobench.agent.scripted.behaviours import script_for
from nanobench.environment.native import Prepared
from nanobench.model.plan import Cell, Mode, ModelRef, Plan
from nanobench.pipeline.bench import SCRIPTED, Bench, Material
from nanobench.pipeline.places import Places
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
    with (
        dependencies.open(workspace, run_dir) as room,
        _provider(cell, material, bench) as (provider, key),
        watch.following(lambda: bench.scripted.exchanges(key) if key else None),
    ):
        request = agent_request(cell.model, cell.mode, material, provider, bench.plan)
        run = run_nanocoder(room, request, bench.services.toolchain, run_dir)
        exchanges = bench.scripted.exchanges(key) if key else None
        residue = room.residue
    rooms.keep_workspace()
    outcome = read_outcome(run, exchanges, material.task.required_files)
    if key:
        outcome = _without_address(outcome, provider["baseUrl"])
    return Acted(run, outcome, exchanges, hidden, residue, guide)


def agent_request(
    model: ModelRef, mode: Mode, material: Material, provider: dict[str, Any], plan: Plan
) -> AgentRequest:
    """What a cell of this model and mode asks of the agent."""
    return AgentRequest(
        prompt=build_prompt(material.statement, material.task.required_files, mode),
        model=model,
        provider=provider,
        settings=plan.agent,
        limits=plan.limits,
    )


def scripted_provider(url: str) -> dict[str, Any]:
    """Nanocoder's provider object for the scripted server at `url`."""
    return {"name": SCRIPTED, "baseUrl": url, "apiKey": "none", "models": []}


@contextmanager
def _provider(
    cell: Cell, material: Material, bench: Bench
) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Nanocoder's provider object, and the scripted server's key if the model is scripted."""
    if cell.model.provider != SCRIPTED:
        yield bench.provider(cell.model.provider), None
        return
    key = token_hex(8)
    url = bench.scripted.register(key, script_for(cell.model.model, material.view))
    try:
        yield scripted_provider(url), key
    finally:
        bench.scripted.release(key)


def _without_address(outcome: Outcome, url: str) -> Outcome:
    """Take out the scripted server's port and key, which no two runs share."""
    message = outcome.signals.error_message
    if message is None:
        return outcome
    told = {"error_message": message.replace(url, f"http://{SCRIPTED}/v1")}
    return replace(outcome, signals=outcome.signals.model_copy(update=told))
