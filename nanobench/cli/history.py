"""`nanobench history`: results over time."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import json_option, tasks_dir_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanobench.report.history import HistoryEntry

_LOG_WIDTH = 160


@click.group()
def history() -> None:
    """Keep results over time, and show them."""


@history.command()
@click.argument(
    "directories", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@click.option(
    "--to",
    "file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The history, e.g. history.jsonl; created if absent, else added to.",
)
@tasks_dir_option
def add(directories: tuple[Path, ...], file: Path, tasks_dir: Path | None) -> None:
    """Add the results of a bench to a history.

    One line per model and mode is added to FILE. Results that stand there already are not added
    again; those of a bench of which more has been run since take the place of the earlier ones.

    Exit codes: 0 added, or there already; 3 a record could not be read, no run is graded, results
    of several versions stand together, or FILE is damaged; 4 FILE cannot be written.
    """
    from nanobench.cli.judging import check_readable, read_results
    from nanobench.report.history import entries_of
    from nanobench.report.history_file import add_to_history

    results = read_results(directories, tasks_dir=tasks_dir)
    check_readable(results.report.problems)
    entries = entries_of(results)
    added = add_to_history(file, entries)
    click.echo(f"{len(added)} added, {len(entries) - len(added)} there already: {file}")


@history.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write history.md and one plot (SVG) per model there; created if absent.",
)
@json_option
def show(file: Path, out: Path | None, as_json: bool) -> None:
    """Show a history: by model, in the order of time.

    Exit codes: 0 shown, 2 usage, 3 FILE is damaged, 4 a directory cannot be written.
    """
    from nanobench.model.base import canonical_json
    from nanobench.report.history_file import read_history, standing_entries
    from nanobench.report.history_markdown import render_history_table

    entries = standing_entries(read_history(file))
    if out is not None:
        _write(entries, out)
    if as_json:
        click.echo(canonical_json([entry.model_dump(mode="json") for entry in entries]), nl=False)
        return
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _LOG_WIDTH
    click.echo(render_history_table(entries, width=width), nl=False)


def _write(entries: Sequence[HistoryEntry], out: Path) -> None:
    from nanobench.files import make_directory, write_atomic
    from nanobench.report.export.files import file_name
    from nanobench.report.history_markdown import render_history
    from nanobench.report.history_plot import plot

    directory = make_directory(out)
    plots: dict[str, str] = {}
    for model in dict.fromkeys(str(entry.model) for entry in entries):
        plots[model] = f"{file_name(model)}.svg"
        own = [entry for entry in entries if str(entry.model) == model]
        write_atomic(directory / plots[model], plot(own))
    write_atomic(directory / "history.md", render_history(entries, plots))
