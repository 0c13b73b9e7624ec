"""`nanobench demo`: the sample task, the scripted models, the real Nanocoder."""

from pathlib import Path

import click

from nanobench.cli.options import state_dir_option
from nanobench.cli.requests import EnvironmentRequest, environment_request

# Solved, Zero Signal, and each failure category once.
CELLS = (
    ("gold", "hinted"),
    ("noop", "hinted"),
    ("context-overflow", "hinted"),
    ("noop", "navigation"),
    ("hallucinated-api", "hinted"),
    ("wrong-layer", "hinted"),
    ("partial", "hinted"),
    ("cross-language-half", "navigation"),
)
JOBS = 2


@click.command()
@state_dir_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the results go.  [default: `demo` in the state directory, replaced each time]",
)
@environment_request
def demo(state_dir: Path | None, out: Path | None, environment: EnvironmentRequest) -> None:
    """Run the sample task with the scripted models.

    Only the models are scripted: Nanocoder, git, sandbox and tests are real. No API key and no
    provider is needed. The report shows one solved run and each failure category once.

    Exit codes: 0 every cell is graded, 4 infrastructure trouble, 130 interrupted.
    """
    from nanobench.cli.bench import How, check_complete, run_plan, tell
    from nanobench.cli.common import Terms
    from nanobench.cli.requests import Resolved
    from nanobench.dataset.catalog import Catalog
    from nanobench.dataset.planning import Planned
    from nanobench.files import StateDirectory
    from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask

    state = StateDirectory.locate(state_dir)
    catalog = Catalog.open(None, state, include_sample=True)
    (entry,) = catalog.entries.values()
    task_id = entry.task.task_id
    plan = Plan(
        tasks=(
            PlanTask(
                task_id=task_id,
                origin="sample",
                sha256=entry.sha256,
                tier=entry.task.tier(),
            ),
        ),
        cells=tuple(
            Cell.model_validate(
                {
                    "model": ModelRef(provider="scripted", model=behaviour),
                    "task_id": task_id,
                    "mode": mode,
                    "run": 1,
                }
            )
            for behaviour, mode in CELLS
        ),
    )
    resolved = Resolved(Planned(plan, ()), catalog, state)
    terms = Terms(choice=environment.choice)
    how = How(JOBS, terms, afresh=out is None, require_isolation=environment.require_isolation)
    out = out or state.root / "demo"
    report = run_plan(resolved, out, how)
    tell(report, out)
    check_complete(report)
