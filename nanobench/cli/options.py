"""Click options that commands share. Only click is loaded here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from nanobench.cli.collecting import Command
    from nanobench.model.plan import Mode

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
_DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?", re.ASCII)
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


def _cutoffs(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, date]:
    """Dates by model; of a month its last day, so that no doubtful task passes for safe."""
    from calendar import monthrange
    from datetime import date

    found: dict[str, date] = {}
    for value in values:
        model, _, text = value.rpartition("=")
        match = _DAY.fullmatch(text)
        try:
            if not (match and "/" in model):
                raise ValueError
            year, month = int(match[1]), int(match[2])
            found[model] = date(year, month, int(match[3] or monthrange(year, month)[1]))
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is not of the form PROVIDER/MODEL=YYYY-MM or ...=YYYY-MM-DD"
            ) from None
    return found


models_option = click.option(
    "--models",
    multiple=True,
    required=True,
    metavar="PROVIDER/MODEL[,...]",
    help="Models of providers; may be repeated.",
)


def selection_option(default: str) -> Callable[[Command], Command]:
    """`--tasks`, and which ones they are without it."""
    return click.option(
        "--tasks",
        multiple=True,
        metavar="SELECTION",
        help="Ids, patterns, files, tier<=2, lang:go, domain:..., repo:..., status:..., !TERM. "
        "Terms of one kind widen the selection, different kinds narrow it.  "
        f"[default: {default}]",
    )


tasks_option = selection_option("all active")
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
    "--nanocoder",
    metavar="VERSION|FILE|DIR",
    help="A version, an archive of `npm pack`, or a built checkout.  [default: the pinned version]",
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
model_cutoff_option = click.option(
    "--model-cutoff",
    "model_cutoffs",
    multiple=True,
    callback=_cutoffs,
    metavar="PROVIDER/MODEL=DATE",
    help="Until when a model's training data reach, as its maker states (YYYY-MM or YYYY-MM-DD): "
    "runs of tasks merged until then are marked as possibly contaminated. May be repeated.",
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
record_option = click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Record what providers answer, one cassette per cell.",
)
replay_option = click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Answer from the cassettes in DIR; no provider is asked.",
)
prices_option = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Prices of models, in JSON.  [default: those of the extra nanobench[prices]]",
)
