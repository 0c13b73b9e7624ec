"""`nanobench dataset`: what the dataset holds, and whether its versions keep their word."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanobench.cli.dataset_health import health
from nanobench.cli.dataset_images import images
from nanobench.cli.options import json_option, selection_option, state_dir_option, tasks_dir_option
from nanobench.cli.tables import table
from nanobench.errors import GateError, UsageError

if TYPE_CHECKING:
    from nanobench.dataset.version_problems import VersionProblem
    from nanobench.dataset.versions import Version
    from nanobench.model.task import Task

_EVERYTHING = ("status:*",)


@click.group()
def dataset() -> None:
    """List the dataset, look after it."""


dataset.add_command(health)
dataset.add_command(images)


@dataset.command("list")
@selection_option("all, retired ones too")
@tasks_dir_option
@state_dir_option
@json_option
def list_tasks(
    tasks: tuple[str, ...], tasks_dir: Path | None, state_dir: Path | None, as_json: bool
) -> None:
    """List tasks, chosen like those of `bench --tasks`; without --tasks all, retired ones too.

    Exit codes: 0 listed, 2 usage, 3 a task file is wrong.
    """
    from nanobench.dataset.catalog import Catalog, find_tasks_dir
    from nanobench.dataset.selectors import NothingSelectedError, names_sample, select
    from nanobench.files import StateDirectory

    state = StateDirectory.locate(state_dir)
    sample = names_sample(tasks)
    catalog = Catalog.open(find_tasks_dir(tasks_dir), state, include_sample=sample)
    try:
        chosen = select(tasks or _EVERYTHING, catalog)
    except NothingSelectedError:  # an empty list is an answer
        chosen = ()
        click.echo("no task fits; retired ones are listed with status:retired", err=True)
    rows = [_row(entry.task) for entry in chosen]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    head = (
        "task",
        "tier",
        "languages",
        "domain",
        "status",
        "curation",
        "fail to pass",
        "repository",
    )
    click.echo(table([head, *(_cells(row) for row in rows)]))


def _row(task: Task) -> dict[str, Any]:
    expected = task.expected
    return {
        "task_id": task.task_id,
        "tier": task.tier(),
        "languages": list(task.languages),
        "domain": task.domain,
        "status": task.status.state,
        "curation": task.curation.state,
        "fail_to_pass": sum(map(len, expected.fail_to_pass.values())) if expected else None,
        "repo": task.repo,
        "merged_at": task.merged_at.isoformat(),
        "token_estimate": task.token_estimate,
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    from nanobench.report.escape import plain

    targets = "-" if row["fail_to_pass"] is None else str(row["fail_to_pass"])
    names = ("task_id", "tier", "languages", "domain", "status", "curation")
    shown = ("+".join(row[name]) if name == "languages" else str(row[name]) for name in names)
    return (*(plain(text, 60) for text in shown), targets, plain(row["repo"]))


@dataset.command()
@tasks_dir_option
@json_option
def verify(tasks_dir: Path | None, as_json: bool) -> None:
    """Hold every version of the dataset, its git tags, and the files here against each other.

    Pinned fields never change, no task is deleted or moved, no id is used again, decisions are
    added and not taken away, a retired task does not come back, and every version can be read.

    Exit codes: 0 all holds, 1 something does not, 2 usage, 3 no repository, 4 tags may be missing.
    """
    from nanobench.dataset.catalog import find_tasks_dir
    from nanobench.dataset.verifying import verify_versions
    from nanobench.dataset.versions import present_version, published_versions

    directory = find_tasks_dir(tasks_dir)
    if directory is None:
        raise UsageError("there is no task directory", remedy="name one with --tasks-dir")
    published, here = published_versions(directory), present_version(directory)
    problems = verify_versions([*published, here])
    names = [version.name for version in published]
    if as_json:
        found = [asdict(problem) for problem in problems]
        click.echo(json.dumps({"versions": names, "problems": found}, indent=2))
    else:
        _tell(names, problems)
        _tell_unapproved(here)
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        raise GateError(f"{count} in the versions of the dataset", where=str(directory))


def _tell(names: list[str], problems: list[VersionProblem]) -> None:
    from nanobench.report.escape import plain

    for problem in problems:
        place = " ".join(filter(None, (problem.version, problem.file, problem.field)))
        click.echo(f"{plain(place)}: {plain(problem.seen, 500)}\n  next:  {problem.remedy}")
    if problems:
        return
    if names:
        click.echo(f"the files here keep what {', '.join(names)} published")
    else:
        click.echo("no version is published yet; the files here can be read")


def _tell_unapproved(here: Version) -> None:
    """A person approves before a version is cut (SPEC P3); until then it is no problem."""
    tasks = [one.task for one in here.tasks if one.task and one.task.status.state == "active"]
    waiting = sum(task.curation.state == "candidate" for task in tasks)
    if waiting:
        click.echo(f"candidates here, which nobody has approved: {waiting}", err=True)
