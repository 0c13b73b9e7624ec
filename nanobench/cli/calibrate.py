"""`nanobench calibrate`: scripted models with known causes, and the labels that they get."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanobench.cli.collecting import collecting
from nanobench.cli.options import MODES, RULESETS, json_option, out_directory_option
from nanobench.cli.requests import (
    EnvironmentRequest,
    PlaceRequest,
    environment_request,
    place_request,
)
from nanobench.errors import GateError, UsageError

if TYPE_CHECKING:
    from nanobench.cli.requests import Resolved
    from nanobench.dataset.catalog import Catalog
    from nanobench.files import StateDirectory
    from nanobench.model.plan import Cell, Limits, Plan, Ruleset
    from nanobench.pipeline.calibrating import Unfit
    from nanobench.report.calibration import Calibration

_EVERY_RULESET = "all"

_OPTIONS = (
    click.option(
        "--tasks",
        multiple=True,
        metavar="SELECTION",
        help="As for `bench`; `sample` is the built-in task.  [default: sample]",
    ),
    click.option(
        "--behaviours",
        multiple=True,
        metavar="NAME[,...]",
        help="Scripted models; may be repeated.  [default: all]",
    ),
    click.option(
        "--modes",
        type=click.Choice(list(MODES)),
        default="both",
        show_default=True,
        help="Modes of the prompt.",
    ),
    click.option(
        "--ruleset",
        type=click.Choice((*RULESETS, _EVERY_RULESET)),
        default=_EVERY_RULESET,
        show_default=True,
        help="The rules whose labels are checked; all judge the same runs.",
    ),
    click.option(
        "--timeout",
        type=click.IntRange(min=5),
        metavar="SECONDS",
        help="Wall-clock limit of the agent.  [default: 45]",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Cells at a time.  [default: half of the processors]",
    ),
)


@dataclass(frozen=True)
class CalibrationRequest:
    """What to calibrate on, as typed."""

    tasks: tuple[str, ...]
    behaviours: tuple[str, ...]
    modes: str
    ruleset: Any
    timeout: int | None
    jobs: int | None

    @property
    def rulesets(self) -> tuple[Ruleset, ...]:
        """The chosen one, or all."""
        from nanobench.scoring.rulesets import RULESETS as DEFINED

        return tuple(DEFINED) if self.ruleset == _EVERY_RULESET else (self.ruleset,)

    def resolve(self, place: PlaceRequest) -> tuple[Resolved, tuple[Unfit, ...]]:
        """The plan, and which behaviours are no part of it.

        Raises:
            NanobenchError: there is no such behaviour or task, or it cannot be had.
        """
        from nanobench.cli.requests import Resolved
        from nanobench.dataset.catalog import Catalog, find_tasks_dir
        from nanobench.dataset.planning import Planned, PlanOptions, build_plan
        from nanobench.dataset.selectors import names_sample, select
        from nanobench.files import StateDirectory
        from nanobench.model.plan import ModelRef

        models = [ModelRef(provider="scripted", model=name) for name in _known(self.behaviours)]
        tasks = self.tasks or ("sample",)
        state = StateDirectory.locate(place.state_dir)
        tasks_dir = find_tasks_dir(place.tasks_dir)
        catalog = Catalog.open(tasks_dir, state, include_sample=names_sample(tasks))
        entries = select(tasks, catalog)
        catalog = catalog.holding(entries)
        options = PlanOptions(modes=MODES[self.modes], runs=1, limits=self._limits())
        plan = build_plan(models, entries, options).plan
        cells, unfit = _playable(plan, catalog, state)
        plan = plan.model_copy(update={"cells": cells})
        return Resolved(Planned(plan, ()), catalog, state), unfit

    def _limits(self) -> Limits:
        from nanobench.pipeline.calibrating import LIMITS

        timeout = {"agent_seconds": float(self.timeout)} if self.timeout else {}
        return LIMITS.model_copy(update=timeout)


@click.command()
@collecting("request", CalibrationRequest, _OPTIONS)
@out_directory_option
@place_request
@environment_request
@json_option
def calibrate(
    request: CalibrationRequest,
    out: Path,
    place: PlaceRequest,
    environment: EnvironmentRequest,
    as_json: bool,
) -> None:
    """Check that known causes get their known labels.

    Each scripted model runs through the real Nanocoder and the real tests; a table says which
    label, score and reason it must get under each ruleset. Without --tasks the built-in sample
    is the task. --out gets what `bench` writes there, and in calibration/ the page and the
    document. The same command resumes.

    Exit codes: 0 every label is right, 1 a miss, 2 usage, 3 invalid input, 4 a directory cannot be
    used, 130 interrupted.
    """
    from nanobench.cli.bench import How, default_jobs, run_plan
    from nanobench.cli.common import Terms

    resolved, unfit = request.resolve(place)
    terms = Terms(choice=environment.choice)
    jobs = request.jobs or default_jobs()
    run_plan(resolved, out, How(jobs, terms, require_isolation=environment.require_isolation))
    found = _judged(resolved, unfit, out, request.rulesets)
    _tell(found, out, as_json=as_json)
    if not found.checks:
        raise GateError(
            "nothing was checked",
            where=", ".join(request.behaviours),
            remedy="choose models that apply to these tasks in these modes",
        )
    if found.misses:
        raise GateError(
            f"{len(found.misses)} of {len(found.checks)} labels are wrong",
            where=str(out / "calibration" / "calibration.md"),
            remedy="`nanobench explain OUT --cell CELL` shows why a run has its label",
        )


def _known(values: tuple[str, ...]) -> tuple[str, ...]:
    from nanobench.agent.scripted.behaviours import BEHAVIOURS

    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    unknown = [name for name in names if name not in BEHAVIOURS]
    if unknown:
        raise UsageError(
            f"there is no scripted model {unknown[0]!r}",
            where="--behaviours",
            remedy=f"choose of: {', '.join(BEHAVIOURS)}",
        )
    return tuple(dict.fromkeys(names)) or tuple(BEHAVIOURS)


def _playable(
    plan: Plan, catalog: Catalog, state: StateDirectory
) -> tuple[tuple[Cell, ...], tuple[Unfit, ...]]:
    from nanobench.cli.common import planned_tasks
    from nanobench.pipeline.bench import Services
    from nanobench.pipeline.calibrating import materials, playable

    with Services(state) as services:
        return playable(plan.cells, materials(planned_tasks(plan, catalog).values(), services))


def _judged(
    resolved: Resolved, unfit: tuple[Unfit, ...], out: Path, rulesets: tuple[Ruleset, ...]
) -> Calibration:
    from nanobench.pipeline.store import ResultStore
    from nanobench.report.calibration import LeftOut, Played, build_calibration

    store = ResultStore(out)
    played = [Played(cell, store.standing(cell)) for cell in resolved.planned.plan.cells]
    left_out = [
        LeftOut(task_id=one.task_id, behaviour=one.behaviour, reason=one.reason) for one in unfit
    ]
    return build_calibration(played, left_out, rulesets)


def _tell(found: Calibration, out: Path, *, as_json: bool) -> None:
    from nanobench.files import make_directory, write_atomic
    from nanobench.report.calibration_page import render_calibration, terminal_lines

    directory = make_directory(out / "calibration")
    write_atomic(directory / "calibration.json", found.to_json())
    write_atomic(directory / "calibration.md", render_calibration(found))
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        click.echo("\n".join(terminal_lines(found)))
