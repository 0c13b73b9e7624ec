"""`nanobench task`: stewardship of task files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanobench.cli.options import image_option, json_option, state_dir_option, strategy_option
from nanobench.errors import GateError, NanobenchError

if TYPE_CHECKING:
    from nanobench.environment.strategies import StrategyName
    from nanobench.pipeline.bench import Services


@click.group()
def task() -> None:
    """Gate the task files of the dataset."""


@task.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
@click.option("--write", is_flag=True, help="Write `expected` into the files that pass.")
@state_dir_option
@strategy_option
@image_option
@json_option
def gate(
    files: tuple[Path, ...],
    write: bool,
    state_dir: Path | None,
    strategy: StrategyName | None,
    image: str | None,
    as_json: bool,
) -> None:
    """Run the verification gate on task files.

    The tests must fail at the base commit and pass with the golden patch. What they do at both is
    the task's `expected`: it is written with --write, and otherwise held against the file's.

    Exit codes: 0 all pass, 1 a gate failed, 2 usage, 3 a task file is wrong, 4 infrastructure.
    """
    from nanobench.environment.strategies import Choice
    from nanobench.files import StateDirectory
    from nanobench.pipeline.bench import Services

    with Services(StateDirectory.locate(state_dir), Choice(strategy, image)) as services:
        results = [_gate(path, services, write) for path in files]
    if as_json:
        click.echo(json.dumps(results, indent=2))
    else:
        for result in results:
            click.echo(result["text"])
    failed = [result["file"] for result in results if result["state"] == "failed"]
    if failed:
        raise GateError(
            f"{len(failed)} of {len(results)} task files fail the verification gate",
            where=", ".join(failed),
        )


def _gate(path: Path, services: Services, write: bool) -> dict[str, Any]:
    from nanobench.dataset.catalog import load_task
    from nanobench.dataset.gates.verification import verification_gate, write_expected
    from nanobench.pipeline.bench import PlannedTask

    entry = load_task(path)
    outputs = services.state.part("gates") / entry.task.task_id
    row: dict[str, Any] = {"file": str(path), "gate": "verification", "outputs": str(outputs)}
    try:
        planned = PlannedTask(entry.task, entry.sha256, "gate")
        expected = verification_gate(planned, services, outputs)
        if write:
            write_expected(path, expected)
        elif entry.task.expected != expected:
            raise GateError(
                "`expected` is not what the tests do",
                where=f"{path}: expected",
                remedy="write it with --write",
            )
    except GateError as error:
        return row | {"state": "failed", "text": f"FAILED {path}\n{error}\n  outputs: {outputs}"}
    except NanobenchError as error:
        error.where = f"{path}: {error.where}".removesuffix(": ")
        raise
    counts = {
        kind: sum(map(len, getattr(expected, kind).values()))
        for kind in ("fail_to_pass", "pass_to_pass")
    }
    told = ", ".join(f"{count} {kind.replace('_', '-')}" for kind, count in counts.items())
    return row | {"state": "passed", **counts, "text": f"passed {path}: {told}"}
