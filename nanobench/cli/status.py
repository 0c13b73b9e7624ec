"""`nanobench status`: how far a bench is, while it runs and afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import json_option

if TYPE_CHECKING:
    from nanobench.pipeline.status import BenchStatus, CellStatus, State

STATES: tuple[State, ...] = ("waiting", "running", "interrupted", "done", "failed")
_LINE_WIDTH = 160


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--kill", "killed", metavar="CELL", help="End this running cell; the others go on.")
@json_option
def status(directory: Path, killed: str | None, as_json: bool) -> None:
    """Show how far a bench is; end one of its runs.

    The cells of the bench that writes to DIR are waiting, running, done or failed. A running
    cell is shown with its phase, time, requests and tokens so far, and the last lines of
    output. `interrupted` are cells that a crash cut short; the same bench command runs them
    again. A cell ended by --kill becomes infrastructure trouble, outside every score. A cell
    that prepares dependencies, which others share, ends when they are ready.

    Exit codes: 0 fine, 2 the cell does not run, 3 there is no bench here.
    """
    from nanobench.pipeline.status import end_cell, read_status

    if killed is not None:
        end_cell(directory, killed)
        told = f"{killed} was asked to end; it becomes infrastructure trouble"
        click.echo(json.dumps({"asked_to_end": killed}) if as_json else told)
        return
    found = read_status(directory)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        _print(found)


def _print(found: BenchStatus) -> None:
    counts = ", ".join(f"{found.counts[s]} {s}" for s in STATES if found.counts.get(s))
    click.echo(f"{'running' if found.running else 'not running'}: {counts or 'no cells'}")
    for state in ("running", "interrupted", "failed", "done", "waiting"):
        for cell in found.cells:
            if cell.state == state:
                click.echo(f"{state:<11}  {cell.cell_id}{_facts(cell)}")
                _print_output(cell)


def _facts(cell: CellStatus) -> str:
    from nanobench.report.escape import plain

    facts = [plain(cell.outcome or cell.phase or "")]
    if cell.score is not None:
        facts.insert(0, f"{cell.score:.1f}")
    if cell.state in ("interrupted", "failed"):
        facts.append(f"attempt {cell.attempt}")
    if cell.elapsed_seconds is not None and cell.phase_seconds is not None:
        facts.append(f"{cell.phase_seconds:.0f} s of {cell.elapsed_seconds:.0f} s")
    if cell.requests is not None:
        facts.append(f"{cell.requests} requests")
    if cell.input_tokens is not None:
        facts.append(f"{cell.input_tokens:,} tokens read, {cell.output_tokens or 0:,} written")
    shown = ", ".join(fact for fact in facts if fact)
    return f"  {shown}" if shown else ""


def _print_output(cell: CellStatus) -> None:
    from nanobench.report.escape import plain

    for line in cell.output:
        click.echo(f"{'':<11}  | {plain(line, _LINE_WIDTH)}")
