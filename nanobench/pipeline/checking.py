"""Every mistake of the input, found before a cell runs."""

from collections.abc import Iterable, Sequence

from nanobench.agent.gateway.redirect import upstream_of
from nanobench.agent.nanocoder import check_model, check_request
from nanobench.agent.scripted.behaviours import BEHAVIOURS, NotApplicableError, script_for
from nanobench.errors import WHERE_INDENT, InvalidInputError, UsageError
from nanobench.model.plan import Cell, Mode, ModelRef
from nanobench.pipeline.acting import agent_request
from nanobench.pipeline.bench import SCRIPTED, Bench
from nanobench.pipeline.providing import goes_through_gateway, scripted_provider
from nanobench.pipeline.tape_checks import check_live, check_replayed


def check_input(cells: Sequence[Cell], bench: Bench) -> None:
    """Check the models, tasks and prompts of `cells`; what costs least comes first.

    Afterwards every task is resolved, and Nanocoder is installed.

    Raises:
        NanobenchError: a model, a provider, a task, a repository or a prompt that cannot be used.
    """
    asked = dict.fromkeys((cell.model, cell.task_id, cell.mode) for cell in cells)
    recorded = check_replayed(cells, bench)
    if bench.taping.replay is None:
        models = tuple(dict.fromkeys(model for model, _, _ in asked))
        _check_models(models, bench)
        check_live(models, bench)
    task_ids = tuple(dict.fromkeys(task_id for _, task_id, _ in asked))
    for task_id in task_ids:
        if bench.tasks[task_id].task.expected is None:
            raise InvalidInputError(
                f"task {task_id} has no `expected`, so that it cannot be scored",
                where=task_id,
                remedy="run `nanobench task gate --write` on its file",
            )
    for task_id in task_ids:
        material = bench.material(task_id)
        bench.services.environment.check(material.task, material.snapshot)
    if bench.taping.replay is None:
        _check_prompts(asked, bench)
    for cell, provider in recorded.items():
        material = bench.material(cell.task_id)
        check_request(agent_request(cell.model, cell.mode, material, provider, bench.plan))
    if asked:
        bench.services.toolchain.nanocoder(bench.plan.agent.nanocoder)


def _check_models(models: Iterable[ModelRef], bench: Bench) -> None:
    for model in models:
        if model.provider != SCRIPTED:
            provider = bench.provider(model.provider)
            check_model(model, provider)
            if goes_through_gateway(model, bench):
                upstream_of(provider)
        elif model.model not in BEHAVIOURS:
            raise UsageError(
                f"there is no scripted model {model.model!r}",
                where=str(model),
                remedy=f"choose one of: {', '.join(BEHAVIOURS)}",
            )


def _check_prompts(asked: Iterable[tuple[ModelRef, str, Mode]], bench: Bench) -> None:
    unfit: dict[str, str] = {}
    for model, task_id, mode in asked:
        material = bench.material(task_id)
        if model.provider == SCRIPTED:
            provider = scripted_provider("")
            try:
                script_for(model.model, material.view)
            except NotApplicableError as error:
                unfit[f"{model} on {task_id}"] = error.what
        else:
            provider = bench.provider(model.provider)
        check_request(agent_request(model, mode, material, provider, bench.plan))
    if unfit:
        raise UsageError(
            "a scripted model cannot play every task that is asked of it",
            where=WHERE_INDENT.join(f"{pair}: {reason}" for pair, reason in unfit.items()),
            remedy="leave out these models, or these tasks (--tasks '!ID')",
        )
