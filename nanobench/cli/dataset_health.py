"""`nanobench dataset health`: which active tasks should be thought of as retired."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.bench import default_jobs
from nanobench.cli.options import (
    image_option,
    json_option,
    state_dir_option,
    strategy_option,
    tasks_dir_option,
    tasks_option,
)
from nanobench.errors import GateError, InfrastructureError, UsageError

if TYPE_CHECKING:
    from nanobench.environment.strategies import StrategyName
    from nanobench.model.health import Health


@click.command()
@tasks_option
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Test runs at a time.  [default: half the cores]"
)
@strategy_option
@image_option
@tasks_dir_option
@state_dir_option
@json_option
def health(
    *,
    tasks: tuple[str, ...],
    jobs: int | None,
    strategy: StrategyName | None,
    image: str | None,
    tasks_dir: Path | None,
    state_dir: Path | None,
    as_json: bool,
) -> None:
    """Look whether the active tasks still hold, and propose which to retire.

    The pinned commits are fetched past every cache, and the tests are run three times on either
    state. Standard output has the proposals and what could not be looked at, and nothing if all is
    well. Nothing is retired: that is a person's decision (`nanobench task retire`).

    Exit codes: 0 all is well, 1 there are proposals, 2 usage, 3 a task file is wrong, 4 a task
    could not be looked at.
    """
    from nanobench.dataset.catalog import Catalog, find_tasks_dir
    from nanobench.dataset.health import Look, check_health
    from nanobench.dataset.selectors import select
    from nanobench.environment.strategies import Choice
    from nanobench.files import StateDirectory
    from nanobench.pipeline.bench import Services

    directory = find_tasks_dir(tasks_dir)
    if directory is None:
        raise UsageError("there is no task directory", remedy="name one with --tasks-dir")
    state = StateDirectory.locate(state_dir)
    entries = select(tasks, Catalog.open(directory, state))
    with Services(state, Choice(strategy, image)) as services:
        look = Look(services, jobs or default_jobs(), lambda step: click.echo(step, err=True))
        found = check_health(entries, look)
    click.echo(f"healthy: {len(found.healthy)} of {len(entries)} tasks", err=True)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        for line in _told(found):
            click.echo(line)
    if found.proposals:
        raise GateError(f"{len(found.proposals)} of {len(entries)} tasks should be retired")
    if found.unchecked:
        raise InfrastructureError(
            f"{len(found.unchecked)} of {len(entries)} tasks could not be looked at"
        )


def _told(found: Health) -> Iterator[str]:
    from nanobench.report.escape import visible

    for proposal in found.proposals:
        yield f"retire {proposal.task_id}: {proposal.reason}"
        yield from (f"  {visible(line)}" for line in proposal.seen)
    for one in found.unchecked:
        yield f"not looked at: {one.task_id}"
        yield f"  {visible(one.because)}"
