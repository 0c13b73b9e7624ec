"""What shaped a run, and what it completed (SPEC X8, 12)."""

import platform
from collections.abc import Sequence
from pathlib import Path

from nanobench import __version__
from nanobench.agent.attachments import offer_attachments, takes_images
from nanobench.agent.exchange import Exchange, TemperatureState
from nanobench.agent.nanocoder import departures
from nanobench.environment.protocol import Prepared
from nanobench.environment.sandbox import Kind
from nanobench.model.plan import Cell
from nanobench.model.record import (
    CommandSummary,
    Completion,
    Provenance,
    ToolSurface,
)
from nanobench.model.signals import Signals
from nanobench.pipeline.acting import Acted
from nanobench.pipeline.artifacts import AGENT_REPORT
from nanobench.pipeline.bench import SCRIPTED, Bench
from nanobench.pipeline.isolating import agent_network, isolation
from nanobench.pipeline.verifying import Verified

_UNPINNED: tuple[TemperatureState, ...] = ("refused", "ignored", "unknown")
_WEB_TOOLS = frozenset({"fetch_url", "web_search"})


def provenance(
    cell: Cell, bench: Bench, dependencies: Prepared | None, acted: Acted | None
) -> Provenance:
    """Every version and digest that shaped the run."""
    planned = bench.tasks[cell.task_id]
    services = bench.services
    scripted = cell.model.provider == SCRIPTED
    sandbox = dependencies.sandbox if dependencies else services.environment.kind(planned.task)
    temperature = pinned_temperature(acted.exchanges if acted else None)
    return Provenance(
        nanobench=__version__,
        nanocoder=bench.plan.agent.nanocoder,
        node=services.toolchain.node_version,
        platform=f"{platform.system()} {platform.machine()}",
        task_sha256=planned.sha256,
        task_schema=planned.task.schema_version,
        dataset=planned.dataset,
        image=dependencies.image if dependencies else None,
        environment_key=dependencies.key if dependencies else None,
        undated_installs=dependencies.undated if dependencies else (),
        isolation=isolation(cell, bench, sandbox),
        tool_surface=_tool_surface(cell, bench, acted, sandbox),
        settings=bench.plan.agent,
        limits=bench.plan.limits,
        departures=_departures(bench, acted),
        temperature=temperature,
        # A scripted model says the same whatever its temperature.
        non_deterministic=not scripted and temperature != "pinned",
        scripted=scripted,
        replay=bench.taping.replay is not None,
        prices=bench.taping.prices.version,
    )


def pinned_temperature(exchanges: Sequence[Exchange] | None) -> TemperatureState:
    """Whether the model answered at a pinned temperature throughout (SPEC X7)."""
    states = {
        one.temperature_state
        for one in exchanges or ()
        if one.method == "POST" and one.status is not None and one.status < 400
    }
    unpinned = next((state for state in _UNPINNED if state in states), None)
    return unpinned or ("pinned" if states else "unknown")


def _departures(bench: Bench, acted: Acted | None) -> tuple[str, ...]:
    found = departures(bench.plan.agent, bench.plan.limits)
    if bench.gateway is not None and acted is not None and acted.exchanges is None:
        return (*found, "provider asked directly: Nanocoder does not let its address be changed")
    return found


def _tool_surface(cell: Cell, bench: Bench, acted: Acted | None, sandbox: Kind) -> ToolSurface:
    """The tools are known only where the request itself was seen."""
    offered = [one.tools for one in (acted.exchanges if acted else None) or () if one.tools]
    tools = tuple(sorted(offered[0])) if offered else None
    disabled = set(bench.plan.agent.disabled_tools)
    reaches = agent_network(cell, bench, sandbox) == "host"
    offered_web = _WEB_TOOLS & set(tools) if tools else _WEB_TOOLS - disabled
    offer = offer_attachments(bench.tasks[cell.task_id].task, bench.plan.agent.nanocoder)
    return ToolSurface(
        tools=tools,
        agents_md_sha256=acted.agents_md_sha256 if acted else None,
        web_access=reaches and bool(offered_web),
        vision=takes_images(bench.plan.agent.nanocoder),
        dependencies_writable=not sandbox.fixed_paths,
        attachments=tuple(one.path for one in offer.given),
        attachments_withheld=tuple(one.path for one in offer.withheld),
    )


def completion(
    signals: Signals, acted: Acted | None, verified: Verified | None, artifacts: tuple[str, ...]
) -> Completion:
    """What was verified, run, kept, and is still failing."""
    commands = (_agent_command(acted),) if acted else ()
    suites = signals.verification.suites
    failing = [
        f"{suite.name}: {test.id}"
        for suite in suites
        for test in (*suite.targets, *suite.regressions)
        if test.status != "passed"
    ]
    return Completion(
        verification_summary=_summary(signals),
        commands_run=(*commands, *(verified.commands if verified else ())),
        artifacts_created=artifacts,
        remaining_failures=tuple(failing),
    )


def _summary(signals: Signals) -> str:
    verification = signals.verification
    if not verification.possible:
        return f"not verified: {verification.impossible_because}"
    regressed = sum(len(suite.regressions) for suite in verification.suites)
    return (
        f"{verification.targets_passed} of {verification.target_count} target tests pass "
        f"(suites: {len(verification.suites)}, regressions: {regressed})"
    )


def _agent_command(acted: Acted) -> CommandSummary:
    run = acted.run
    return CommandSummary(
        command="nanocoder run",
        exit_code=run.exit_code,
        duration_seconds=run.duration_seconds,
        timed_out=run.timed_out,
        truncated=False,
        output_lines=_count_lines(run.report_path),
        head="",
        tail=acted.outcome.signals.final_text_tail,
        output_id=AGENT_REPORT,
    )


def _count_lines(path: Path) -> int:
    if path.is_symlink() or not path.is_file():  # the agent could have put anything there
        return 0
    with path.open("rb") as stream:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 20), b""))
