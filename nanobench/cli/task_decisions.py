"""`nanobench task approve|retire|rule`: decisions of people, kept in the task's file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import json_option

if TYPE_CHECKING:
    from nanobench.dataset.catalog import TaskEntry

# Kept beside the models, whose import costs more than `--help`; a test holds them together.
CHECKS = (
    "tier",
    "novelty_and_balance",
    "statement_does_not_leak",
    "required_files_right_and_complete",
)
REASONS = ("flaky", "history_rewritten", "contaminated", "other")

file_argument = click.argument("file", type=click.Path(path_type=Path))
by_option = click.option("--by", required=True, metavar="PERSON", help="Who decides.")


def _past(context: click.Context, parameter: click.Parameter, day: datetime) -> datetime:
    """A day that has begun, in some time zone."""
    if day.replace(tzinfo=UTC) > datetime.now(UTC) + timedelta(hours=14):
        raise click.BadParameter(f"{day.date()} has not come yet")
    return day


on_option = click.option(
    "--on",
    type=click.DateTime(["%Y-%m-%d"]),
    callback=_past,
    default=lambda: datetime.now(UTC).strftime("%Y-%m-%d"),
    show_default="today, UTC",
    help="The day.",
)


@click.command()
@file_argument
@by_option
@on_option
@click.option(
    "--check",
    "checks",
    multiple=True,
    type=click.Choice(CHECKS),
    help="A check that you made and that holds; all four are needed.",
)
@json_option
def approve(file: Path, by: str, on: datetime, checks: tuple[str, ...], as_json: bool) -> None:
    """Take a candidate into the dataset: records who, when, and the four checks.

    `nanobench task show FILE` prints what the checks are made on.

    Exit codes: 0 approved, 1 the task is not ready, 2 a check is missing, 3 no task.
    """
    from nanobench.dataset import lifecycle

    entry = lifecycle.approve(file, by, on.date(), frozenset(checks))
    _tell(entry, f"approved by {by} on {on.date()}", as_json)


@click.command()
@file_argument
@click.option("--reason", required=True, type=click.Choice(REASONS))
@click.option("--text", default="", help="More about it; needed with the reason 'other'.")
@click.option("--version", required=True, help="The first dataset version without the task.")
@on_option
@json_option
def retire(file: Path, reason: str, text: str, version: str, on: datetime, as_json: bool) -> None:
    """Take a task out of use. Its file stays; no later version uses it.

    Exit codes: 0 retired, 1 it is retired already, 2 usage, 3 no task.
    """
    from nanobench.dataset import lifecycle

    retirement = lifecycle.Retirement(reason, text, on.date(), version)
    entry = lifecycle.retire(file, retirement)
    _tell(entry, f"retired on {on.date()} ({reason}), out of version {version}", as_json)


@click.command()
@file_argument
@by_option
@click.option("--dispute", required=True, help="What was in question.")
@click.option("--outcome", required=True, help="What was decided, and why.")
@click.option(
    "--escalate-to",
    "escalated_to",
    metavar="PERSON",
    help="Who decides if the outcome is contested.",
)
@on_option
@json_option
def rule(file: Path, on: datetime, as_json: bool, **said: str | None) -> None:
    """Record a dispute about a task and its outcome in the task's file.

    Exit codes: 0 recorded, 2 usage, 3 no task.
    """
    from nanobench.dataset import lifecycle
    from nanobench.errors import UsageError
    from nanobench.model.task import Ruling

    empty = [
        f"--{name.replace('escalated_to', 'escalate-to')}"
        for name, text in said.items()
        if text is not None and not text.strip()
    ]
    if empty:
        raise UsageError(f"nothing is said with {', '.join(empty)}", remedy="say it in a sentence")
    entry = lifecycle.rule(file, Ruling.model_validate({"on": on.date(), **said}))
    _tell(entry, f"ruling {len(entry.task.rulings)} is recorded", as_json)


def _tell(entry: TaskEntry, done: str, as_json: bool) -> None:
    from nanobench.dataset.task_files import task_text

    text = task_text(entry.task) if as_json else f"{entry.path}: {done}\n"
    click.echo(text, nl=False)
