"""`nanobench task show`: everything about a task that its approval needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanobench.cli.options import json_option, state_dir_option, tasks_dir_option

if TYPE_CHECKING:
    from nanobench.dataset.showing import Section, View


@click.command()
@click.argument("tasks", metavar="TASK...", nargs=-1, required=True)
@click.option("--offline", is_flag=True, help="Show the files alone; do not ask the repositories.")
@tasks_dir_option
@state_dir_option
@json_option
def show(
    tasks: tuple[str, ...],
    offline: bool,
    tasks_dir: Path | None,
    state_dir: Path | None,
    as_json: bool,
) -> None:
    """Show tasks, by id, pattern or file, with all that their approval needs.

    Statement and golden patch are resolved from the pinned repository and checked against their
    hashes, unless --offline.

    Exit codes: 0 shown, 2 usage, 3 a task is wrong, 4 infrastructure.
    """
    from nanobench.dataset.showing import sections

    shown = [(view, sections(view)) for view in _views(tasks, offline, tasks_dir, state_dir)]
    if as_json:
        documents = [
            {
                "task": view.task.model_dump(mode="json", by_alias=True),
                "sections": {section.title: section.facts for section in found},
            }
            for view, found in shown
        ]
        click.echo(json.dumps(documents, indent=2))
        return
    for view, found in shown:
        click.echo(f"# {view.task.task_id}  {view.entry.path or ''}".rstrip())
        for section in found:
            click.echo("\n".join(_lines(section)))
        click.echo()


def _views(
    tasks: tuple[str, ...], offline: bool, tasks_dir: Path | None, state_dir: Path | None
) -> list[View]:
    from nanobench.dataset.catalog import Catalog, find_tasks_dir
    from nanobench.dataset.selectors import names_sample, select
    from nanobench.dataset.showing import View, material_of
    from nanobench.files import StateDirectory

    state = StateDirectory.locate(state_dir)
    sample, directory = names_sample(tasks), find_tasks_dir(tasks_dir)
    # A file can be shown without a dataset around it.
    alone = directory is None and all(Path(task).is_file() for task in tasks)
    empty = Catalog({}, None)
    catalog = empty if alone else Catalog.open(directory, state, include_sample=sample)
    return [
        View(
            entry,
            catalog.dataset,
            None if offline else material_of(entry.task, state),
            tuple(other.task for other in catalog.entries.values() if other.origin == "dataset"),
        )
        for entry in select(tasks, catalog)
    ]


def _lines(section: Section) -> list[str]:
    """A section for people; text that others wrote is made harmless."""
    from nanobench.report.escape import plain, visible

    lines = ["", section.title]
    for name, value in section.facts.items():
        if value is None or value == []:
            continue
        if isinstance(value, list):
            lines += [f"  {plain(name)}:", *(f"    {plain(str(one), 1000)}" for one in value)]
        elif name == "text":
            lines += ["", *(f"    {line}" for line in visible(value).split("\n")), ""]
        else:
            lines.append(f"  {plain(name)}: {_short(value)}")
    return lines


def _short(value: Any) -> str:
    from nanobench.report.escape import plain

    return plain(str(value), 1000)
