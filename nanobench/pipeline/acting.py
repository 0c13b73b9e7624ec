"""The agent's part of a cell: its workspace, its run, and how it ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from nanobench.agent.exchange import Exchange
from nanobench.agent.harness_files import agents_md_sha256, hide_harness_files
from nanobench.agent.nanocoder import AgentRequest, AgentRun, run_nanocoder
from nanobench.agent.outcome import Outcome, read_outcome
from nanobench.agent.prompt import build_prompt
from nanobench.agent.scripted.behaviours import script_for
from nanobench.environment.native import Prepared
from nanobench.model.plan import Cell
from nanobench.pipeline.bench import SCRIPTED, Bench, Material
from nanobench.pipeline.places import Places


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
    cell: Cell, material: Material, dependencies: Prepared, rooms: Places, bench: Bench
) -> Acted:
    """Run the agent on a fresh workspace of the base commit.

    Raises:
        NanobenchError: the workspace, the dependencies or Nanocoder cannot be had.
    """
    workspace, run_dir = rooms.agent_workspace, rooms.agent_run
    material.snapshot.unpack(workspace)
    hidden = hide_harness_files(workspace)
    guide = agents_md_sha256(workspace)
    prompt = build_prompt(material.statement, material.task.required_files, cell.mode)
    with (
        dependencies.open(workspace, run_dir) as room,
        _provider(cell, material, bench) as (provider, key),
    ):
        request = AgentRequest(
            prompt=prompt,
            model=cell.model,
            provider=provider,
            settings=bench.plan.agent,
            limits=bench.plan.limits,
        )
        run = run_nanocoder(room, request, bench.services.toolchain, run_dir)
        exchanges = bench.scripted.exchanges(key) if key else None
        residue = room.residue
    outcome = read_outcome(run, exchanges, material.task.required_files)
    return Acted(run, outcome, exchanges, hidden, residue, guide)


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
        yield {"name": SCRIPTED, "baseUrl": url, "apiKey": "none", "models": []}, key
    finally:
        bench.scripted.release(key)
