"""`nanobench task gate`: the hard gates of submitted files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.bench import default_jobs
from nanobench.cli.collecting import collecting
from nanobench.cli.options import (
    image_option,
    json_option,
    state_dir_option,
    strategy_option,
    tasks_dir_option,
)
from nanobench.errors import GateError, InfrastructureError, UsageError

if TYPE_CHECKING:
    from nanobench.dataset.gates.gating import Terms
    from nanobench.environment.strategies import StrategyName
    from nanobench.model.gate import GateOutcome, GateResult, TaskGates
    from nanobench.model.registry import Registry
    from nanobench.pipeline.bench import Services


@dataclass(frozen=True)
class GateRequest:
    """How files are gated, as typed."""

    write: bool
    jobs: int | None
    tasks_dir: Path | None
    registry_before: Path | None
    pull_request: int | None
    state_dir: Path | None
    strategy: StrategyName | None
    image: str | None

    def services(self) -> Services:
        """The parts that do the work."""
        from nanobench.environment.strategies import Choice
        from nanobench.files import StateDirectory
        from nanobench.pipeline.bench import Services

        state = StateDirectory.locate(self.state_dir)
        return Services(state, Choice(self.strategy, self.image))

    def terms(self, services: Services) -> Terms:
        """What files are held against.

        Raises:
            UsageError: there is no dataset.
            InvalidInputError: `dataset.json` or `registry.json` is wrong.
        """
        from nanobench.dataset.catalog import DATASET_FILE, Dataset, find_tasks_dir
        from nanobench.dataset.gates.gating import Terms
        from nanobench.dataset.reading import read_document
        from nanobench.dataset.repositories.registry import REGISTRY_FILE, read_registry

        directory = find_tasks_dir(self.tasks_dir)
        if directory is None:
            raise UsageError(
                "there is no dataset to hold the files against",
                remedy="run in a checkout, or name the directory of dataset.json with --tasks-dir",
            )
        dataset, _ = read_document(Dataset, directory / DATASET_FILE)
        return Terms(
            services=services,
            cutoff=dataset.contamination_cutoff,
            registry=read_registry(directory / REGISTRY_FILE),
            jobs=self.jobs or default_jobs(),
            write=self.write,
            told=lambda step: click.echo(step, err=True),
        )

    def before(self) -> Registry:
        """The registry as it stood; an empty one, so that every entry is judged, by default."""
        from nanobench.dataset.reading import read_document
        from nanobench.model.registry import Registry

        # Not `read_registry`, to which a name that was mistyped is an empty registry.
        before = self.registry_before
        return read_document(Registry, before)[0] if before else Registry()


_OPTIONS = (
    click.option("--write", is_flag=True, help="Write `expected` into the task files that pass."),
    click.option(
        "--jobs", type=click.IntRange(min=1), help="Test runs at a time.  [default: half the cores]"
    ),
    tasks_dir_option,
    click.option(
        "--registry-before",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The registry that a submitted one replaces; what is equal is not judged again.",
    ),
    click.option(
        "--pull-request", type=click.IntRange(min=1), help="Its number, for the result's reader."
    ),
    state_dir_option,
    strategy_option,
    image_option,
)


@click.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
@collecting("request", GateRequest, _OPTIONS)
@json_option
def gate(files: tuple[Path, ...], request: GateRequest, as_json: bool) -> None:
    """Run the gates on task files, and on registry.json.

    schema: the file is a task. clone: everything it points to is there. verification: the tests
    fail at the base commit and pass with the golden patch; what they do is `expected`, which is
    written with --write and otherwise held against the file's. flakiness: three runs of either
    state are the same. contamination: merged after the dataset's cutoff. repository_matrix: the
    repository has 12 of 20 points.

    Every gate tells all that it finds. One that could not be run has not passed.

    Exit codes: 0 all pass, 1 a gate failed, 2 usage, 3 dataset.json or registry.json is wrong,
    4 a gate could not be run because of infrastructure.
    """
    from nanobench.model.gate import GateResult

    gated = tuple(_gated(files, request))
    result = GateResult(tasks=gated, pull_request=request.pull_request)
    if as_json:
        click.echo(result.to_json(), nl=False)
    else:
        click.echo("\n".join(line for one in gated for line in _told(one)))
    _check(result)


def _gated(files: Sequence[Path], request: GateRequest) -> Iterator[TaskGates]:
    """Registries first: one that is wrong is told as such before tasks are held against it."""
    from nanobench.dataset.gates.gating import gate_registry, gate_task
    from nanobench.dataset.repositories.registry import REGISTRY_FILE

    tasks = [path for path in files if path.name != REGISTRY_FILE]
    for path in files:
        if path not in tasks:
            yield gate_registry(path, request.before())
    if tasks:
        with request.services() as services:
            terms = request.terms(services)
            for path in tasks:
                yield gate_task(path, terms)


def _told(task: TaskGates) -> Iterator[str]:
    yield task.task
    for outcome in task.gates:
        yield f"  {_MARKS[outcome.status]} {outcome.gate.replace('_', ' ')}"
        yield from _problems(outcome)


_MARKS = {"passed": "passed ", "failed": "FAILED ", "not_run": "not run"}


def _problems(outcome: GateOutcome) -> Iterator[str]:
    from nanobench.report.escape import visible

    for problem in outcome.problems:
        place = f"{problem.field}: " if problem.field else ""
        mark = "warning: " if problem.severity == "warning" else ""
        yield f"      {mark}{visible(place + problem.seen)}"
        yield f"        fix: {visible(problem.remedy)}"


def _check(result: GateResult) -> None:
    """Refuse what did not pass.

    Raises:
        GateError: a gate failed.
        InfrastructureError: none failed, but one could not be run.
    """
    wrong = [task.task for task in result.tasks if not task.passed]
    if not wrong:
        return
    failed = any(gate.status == "failed" for task in result.tasks for gate in task.gates)
    kind = GateError if failed else InfrastructureError
    raise kind(
        f"{len(wrong)} of {len(result.tasks)} files do not pass the gates",
        where=", ".join(wrong),
        remedy="docs/gates.md explains every gate and its remedies",
    )
