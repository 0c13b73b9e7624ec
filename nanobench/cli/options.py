"""Click options that commands share, and the plan that the planning ones ask for.

Only click is loaded here; documents and the dataset are imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanobench.cli.collecting import collecting
from nanobench.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from nanobench.dataset.catalog import Catalog
    from nanobench.dataset.planning import Planned, PlanOptions
    from nanobench.environment.strategies import Choice, StrategyName
    from nanobench.files import StateDirectory
    from nanobench.model.plan import Limits, Mode, ModelRef
    from nanobench.pipeline.taping import Taping
    from nanobench.report.pairing import Results

# Kept beside the documents because importing those costs more than the rest of `--help`;
# a test holds them against `nanobench.model.plan`.
RULESETS = ("1.0", "1.1")
PURPOSES = ("smoke", "regression")
MODES: dict[str, tuple[Mode, ...]] = {
    "hinted": ("hinted",),
    "navigation": ("navigation",),
    "both": ("hinted", "navigation"),
}
_MOST_RUNS = 1000
_LONGEST_SECONDS = 7 * 24 * 3600


def _runs(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    if value == "auto":
        return value
    if value.isdecimal() and value.isascii() and 1 <= int(value) <= _MOST_RUNS:
        return int(value)
    raise click.BadParameter(f"{value!r} is neither 'auto' nor from 1 to {_MOST_RUNS}")


def _dollars(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < float("inf"):
        raise click.BadParameter("it must be more than 0")
    return value


models_option = click.option(
    "--models",
    multiple=True,
    required=True,
    metavar="PROVIDER/MODEL[,...]",
    help="Models of providers; may be repeated.",
)
tasks_option = click.option(
    "--tasks",
    multiple=True,
    metavar="SELECTION",
    help="Ids, patterns, files, tier<=2, lang:go, domain:..., repo:..., status:..., !TERM. "
    "Terms of one kind widen the selection, different kinds narrow it.  [default: all active]",
)
mode_option = click.option(
    "--mode",
    type=click.Choice(list(MODES)),
    default="hinted",
    show_default=True,
    help="Whether the prompt names the key files.",
)
runs_option = click.option(
    "--runs",
    callback=_runs,
    metavar="auto|N",
    default="auto",
    show_default=True,
    help="Runs of each task; auto: as many as --purpose needs.",
)
purpose_option = click.option(
    "--purpose",
    type=click.Choice(PURPOSES),
    default="regression",
    show_default=True,
    help="What --runs auto is for. regression: one run for tiers 1 and 2, five for tiers 3 and 4, "
    "so that the scores enter comparisons; smoke: one run of each task.",
)
ruleset_option = click.option(
    "--ruleset",
    type=click.Choice(RULESETS),
    default=RULESETS[-1],
    show_default=True,
    help="The rules that judge the runs.",
)
nanocoder_option = click.option(
    "--nanocoder", metavar="VERSION", help="Version of Nanocoder.  [default: the pinned one]"
)
max_turns_option = click.option(
    "--max-turns", type=click.IntRange(min=1), help="Turns of the agent.  [default: 200]"
)
timeout_option = click.option(
    "--timeout",
    type=click.IntRange(1, _LONGEST_SECONDS),
    metavar="SECONDS",
    help="Wall-clock limit of the agent.  [default: 1800]",
)
max_requests_option = click.option(
    "--max-requests", type=click.IntRange(min=1), metavar="N", help="Requests of one cell."
)
max_tokens_option = click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Tokens of one cell, read and written, as the provider counts them.",
)
max_cost_option = click.option(
    "--max-cost",
    type=float,
    callback=_dollars,
    metavar="USD",
    help="Cost of all cells that this command runs.",
)
gateway_option = click.option(
    "--gateway",
    type=click.Choice(("on", "off")),
    default="on",
    show_default=True,
    help="A proxy to the provider: pins the temperature, keeps the key, retries and counts.",
)
tasks_dir_option = click.option(
    "--tasks-dir",
    type=click.Path(path_type=Path),
    help="Task files.  [default: tasks/ here, else of the checkout]",
)
state_dir_option = click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    help="Caches and running cells.  [default: NANOBENCH_STATE_DIR, else the user's cache]",
)
require_isolation_option = click.option(
    "--require-isolation",
    is_flag=True,
    help="Refuse to run where agents would reach files, processes or the network of the machine.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document to standard output."
)
merge_level_4_option = click.option(
    "--merge-level-4",
    is_flag=True,
    help="Report hallucinated_api and wrong_abstraction_layer as implementation_error: for as "
    "long as their audit disagrees too often.",
)
baseline_option = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The result directory of an earlier bench to compare with.",
)
out_directory_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Directory to write to; created if absent.",
)

_PLANNING = (
    models_option,
    tasks_option,
    mode_option,
    runs_option,
    purpose_option,
    ruleset_option,
    nanocoder_option,
    max_turns_option,
    timeout_option,
    max_requests_option,
    max_tokens_option,
    max_cost_option,
    gateway_option,
    tasks_dir_option,
    state_dir_option,
)


strategy_option = click.option(
    "--strategy",
    type=click.Choice(("native", "container")),
    help="Where tasks are run: on the machine, or in containers.  [default: as each task says]",
)
image_option = click.option(
    "--image",
    metavar="REFERENCE",
    envvar="NANOBENCH_IMAGE",
    help="The image of tasks that run in containers and name none.  [default: NANOBENCH_IMAGE]",
)
_ENVIRONMENT = (strategy_option, image_option, require_isolation_option)


_TAPING = (
    click.option(
        "--record",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Record what providers answer, one cassette per cell.",
    ),
    click.option(
        "--replay",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Answer from the cassettes in DIR; no provider is asked.",
    ),
    click.option(
        "--prices",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Prices of models, in JSON.  [default: those of the extra nanobench[prices]]",
    ),
)


@dataclass(frozen=True)
class PlanRequest:
    """The planning options of a command line, as typed."""

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    mode: str
    runs: Any
    purpose: Any
    ruleset: Any
    nanocoder: str | None
    max_turns: int | None
    timeout: int | None
    max_requests: int | None
    max_tokens: int | None
    max_cost: float | None
    gateway: str
    tasks_dir: Path | None
    state_dir: Path | None

    def resolve(self) -> Resolved:
        """Read the dataset and build the plan.

        Raises:
            UsageError: a model or a selection is none, or a name stands twice.
            InvalidInputError: a task file is wrong.
            StateError: the state directory cannot be used.
        """
        from nanobench.dataset.catalog import Catalog, find_tasks_dir
        from nanobench.dataset.planning import build_plan
        from nanobench.dataset.selectors import names_sample, select
        from nanobench.files import StateDirectory

        models = parse_models(self.models)
        state = StateDirectory.locate(self.state_dir)
        catalog = Catalog.open(
            find_tasks_dir(self.tasks_dir), state, include_sample=names_sample(self.tasks)
        )
        entries = select(self.tasks, catalog)
        return Resolved(
            build_plan(models, entries, self._options()), catalog.holding(entries), state
        )

    def _options(self) -> PlanOptions:
        from nanobench.dataset.planning import PlanOptions
        from nanobench.model.plan import AgentSettings, Limits

        limits = {
            "max_turns": self.max_turns,
            "agent_seconds": self.timeout,
            "max_requests": self.max_requests,
            "max_tokens": self.max_tokens,
            "max_cost": self.max_cost,
        }
        agent = {"nanocoder": self.nanocoder, "gateway": self.gateway}
        return PlanOptions(
            modes=MODES[self.mode],
            runs=self.runs,
            purpose=self.purpose,
            ruleset=self.ruleset,
            agent=AgentSettings.model_validate(_given(agent)),
            limits=Limits.model_validate(_given(limits)),
        )


@dataclass(frozen=True)
class Resolved:
    """A plan with its warnings, the catalogue that holds its tasks, and the state directory."""

    planned: Planned
    catalog: Catalog
    state: StateDirectory


@dataclass(frozen=True)
class PlaceRequest:
    """Where task files and caches lie, as typed."""

    tasks_dir: Path | None
    state_dir: Path | None


@dataclass(frozen=True)
class EnvironmentRequest:
    """How tasks are run, as typed."""

    strategy: StrategyName | None
    image: str | None
    require_isolation: bool

    @property
    def choice(self) -> Choice:
        """As the environments take it."""
        from nanobench.environment.strategies import Choice

        return Choice(self.strategy, self.image)


@dataclass(frozen=True)
class OutcomeRequest:
    """What is made of the results of a bench, as typed."""

    baseline: Path | None
    as_json: bool

    def read_baseline(self) -> Results | None:
        """The results to compare with.

        Raises:
            InvalidInputError: there are none, or not all of them can be read.
        """
        from nanobench.cli.judging import check_readable, read_results

        if self.baseline is None:
            return None
        results = read_results([self.baseline], merge_level_4=False)
        check_readable(results.report.problems)
        return results


@dataclass(frozen=True)
class TapeRequest:
    """The options for recordings and prices, as typed."""

    record: Path | None
    replay: Path | None
    prices: Path | None

    def resolve(self, limits: Limits) -> Taping:
        """Read the prices and look at the directories.

        Raises:
            UsageError: both a recording and a replay are asked for.
            InvalidInputError: the price file is wrong, or there is nothing to replay.
            StateError: the directory for recordings cannot be created.
        """
        from nanobench.agent.gateway.budget import Purse
        from nanobench.agent.gateway.prices import price_list
        from nanobench.files import make_directory
        from nanobench.pipeline.taping import Taping

        if self.record and self.replay:
            raise UsageError(
                "a bench is either recorded or replayed",
                where="--record and --replay",
                remedy="give one of them",
            )
        if self.replay and not self.replay.is_dir():
            raise InvalidInputError(
                "there is no recording here",
                where=f"--replay {self.replay}",
                remedy="name the directory of a bench with --record",
            )
        if self.record:
            make_directory(self.record)
        prices = price_list(self.prices)
        return Taping(self.record, self.replay, prices, Purse(limits.max_cost))


plan_request = collecting("request", PlanRequest, _PLANNING)
"""Gives a command the planning options as `request: PlanRequest`."""
place_request = collecting("place", PlaceRequest, (tasks_dir_option, state_dir_option))
"""Gives a command `place: PlaceRequest`."""
environment_request = collecting("environment", EnvironmentRequest, _ENVIRONMENT)
"""Gives a command `environment: EnvironmentRequest`."""
outcome_request = collecting("outcome", OutcomeRequest, (baseline_option, json_option))
"""Gives a command `outcome: OutcomeRequest`."""
tape_request = collecting("tape", TapeRequest, _TAPING)
"""Gives a command the options for recordings and prices as `tape: TapeRequest`."""


def parse_models(values: Sequence[str]) -> tuple[ModelRef, ...]:
    """The models of `--models`, each value a comma-separated list.

    Raises:
        UsageError: one is not of the form provider/model, or there is none.
    """
    from nanobench.model.plan import ModelRef

    names = [name.strip() for value in values for name in value.split(",")]
    try:
        models = tuple(ModelRef.parse(name) for name in names if name)
    except ValueError as error:
        raise UsageError(
            str(error), where="--models", remedy="write for example ollama/qwen3"
        ) from None
    if not models:
        raise UsageError(
            "no model is named", where="--models", remedy="write for example ollama/qwen3"
        )
    return models


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}
