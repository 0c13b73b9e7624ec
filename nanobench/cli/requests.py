"""What the options of a command line ask for, as typed, and how it is resolved.

Only click is loaded here; documents and the dataset are imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanobench.cli import options
from nanobench.cli.collecting import collecting
from nanobench.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from datetime import date

    from nanobench.dataset.catalog import Catalog
    from nanobench.dataset.planning import Planned, PlanOptions
    from nanobench.environment.strategies import Choice, StrategyName
    from nanobench.files import StateDirectory
    from nanobench.model.plan import Limits, ModelRef
    from nanobench.pipeline.taping import Taping
    from nanobench.report.pairing import Results

_PLANNING = (
    options.models_option,
    options.tasks_option,
    options.mode_option,
    options.runs_option,
    options.purpose_option,
    options.ruleset_option,
    options.nanocoder_option,
    options.max_turns_option,
    options.timeout_option,
    options.max_requests_option,
    options.max_tokens_option,
    options.max_cost_option,
    options.model_cutoff_option,
    options.gateway_option,
    options.tasks_dir_option,
    options.state_dir_option,
)
_ENVIRONMENT = (options.strategy_option, options.image_option, options.require_isolation_option)
_TAPING = (options.record_option, options.replay_option, options.prices_option)


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
    model_cutoffs: dict[str, date]
    gateway: str
    tasks_dir: Path | None
    state_dir: Path | None

    def resolve(self) -> Resolved:
        """Read the dataset and build the plan.

        Raises:
            UsageError: a model or a selection is none, or a name stands twice.
            InvalidInputError: a task file or a build of Nanocoder is wrong.
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
            build_plan(models, entries, self._options(state)), catalog.holding(entries), state
        )

    def _options(self, state: StateDirectory) -> PlanOptions:
        from nanobench.dataset.planning import PlanOptions
        from nanobench.model.plan import AgentSettings, Limits

        limits = {
            "max_turns": self.max_turns,
            "agent_seconds": self.timeout,
            "max_requests": self.max_requests,
            "max_tokens": self.max_tokens,
            "max_cost": self.max_cost,
        }
        agent = {"nanocoder": _version(self.nanocoder, state), "gateway": self.gateway}
        return PlanOptions(
            modes=options.MODES[self.mode],
            runs=self.runs,
            purpose=self.purpose,
            ruleset=self.ruleset,
            agent=AgentSettings.model_validate(_given(agent)),
            limits=Limits.model_validate(_given(limits)),
            model_cutoffs=self.model_cutoffs,
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

    def read_baseline(self, tasks_dir: Path | None) -> Results | None:
        """The results to compare with; `tasks_dir` as in `read_results`.

        Raises:
            InvalidInputError: there are none, or not all of them can be read.
        """
        from nanobench.cli.judging import check_readable, read_results

        if self.baseline is None:
            return None
        results = read_results([self.baseline], tasks_dir=tasks_dir)
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
place_request = collecting(
    "place", PlaceRequest, (options.tasks_dir_option, options.state_dir_option)
)
"""Gives a command `place: PlaceRequest`."""
environment_request = collecting("environment", EnvironmentRequest, _ENVIRONMENT)
"""Gives a command `environment: EnvironmentRequest`."""
outcome_request = collecting(
    "outcome", OutcomeRequest, (options.baseline_option, options.json_option)
)
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


def _version(nanocoder: str | None, state: StateDirectory) -> str | None:
    """What was typed, or the name of the build that it is the path of.

    Raises:
        InvalidInputError: there is no build of Nanocoder at the path.
    """
    from nanobench.environment.toolchain import Toolchain

    if nanocoder is None or not _is_path(nanocoder):
        return nanocoder
    return Toolchain(state.tools).take_in(Path(nanocoder).expanduser())


def _is_path(nanocoder: str) -> bool:
    return "/" in nanocoder or nanocoder.startswith((".", "~")) or nanocoder.endswith(".tgz")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}
