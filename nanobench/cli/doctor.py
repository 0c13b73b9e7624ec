"""`nanobench doctor`: what this machine has and lacks, each lack with its remedy."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.errors import EXIT_INFRASTRUCTURE

if TYPE_CHECKING:
    from nanobench.environment.machine import Finding
    from nanobench.files import StateDirectory

MARKS = {"ok": "ok", "degraded": "note", "missing": "lacks"}


@click.command()
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where caches lie.  [default: NANOBENCH_STATE_DIR, or the user's cache]",
)
@click.option("--online", is_flag=True, help="Ask the package registries as well.")
@click.option(
    "--sweep",
    is_flag=True,
    help="First remove what killed runs left: directories and containers.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def doctor(
    ctx: click.Context, state_dir: Path | None, online: bool, sweep: bool, as_json: bool
) -> None:
    """Show what this machine has and lacks.

    Each lack is told with its remedy.

    Exit codes: 0 a bench can run here, 4 it cannot.
    """
    from nanobench.environment.machine import can_run, examine
    from nanobench.files import StateDirectory
    from nanobench.model.plan import AgentSettings

    state = StateDirectory.locate(state_dir)
    if sweep:
        _sweep(state)
    findings = examine(state, AgentSettings().nanocoder, online)
    runnable = can_run(findings)
    if as_json:
        rows = [asdict(finding) for finding in findings]
        click.echo(json.dumps({"can_run": runnable, "findings": rows}, indent=2, sort_keys=True))
    else:
        _print(findings)
        click.echo("A bench can run here." if runnable else "A bench cannot run here.")
    if not runnable:
        ctx.exit(EXIT_INFRASTRUCTURE)


def _sweep(state: StateDirectory) -> None:
    """Told on standard error, where the JSON is not."""
    from nanobench.environment.container.ledger import sweep_all
    from nanobench.errors import EnvironmentSetupError
    from nanobench.pipeline.places import sweep

    swept = [f"directory {path}" for path in sweep(state)]
    try:
        swept += [f"container {one[:12]}" for one in sweep_all(state)]
    except EnvironmentSetupError as error:
        click.echo(f"containers are not swept: {error.what}", err=True)
    for line in swept or ["nothing"]:
        click.echo(f"swept: {line}", err=True)


def _print(findings: tuple[Finding, ...]) -> None:
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        click.echo(f"{MARKS[finding.state]:<6} {finding.name:<{width}}  {finding.seen}")
        if finding.remedy:
            click.echo(f"{'':<6} {'':<{width}}  -> {finding.remedy}")
