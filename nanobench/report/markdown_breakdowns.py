"""What the tasks are and what the runs cost, in Markdown."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import get_args

from nanobench.report.breakdown_document import UNKNOWN, Dimension, Group
from nanobench.report.document import Section, Summary
from nanobench.report.escape import inert
from nanobench.report.measures import Amount, Effort
from nanobench.report.tables import NONE, rate, score, shortened, table

_MODELS_SHOWN = 6
_GROUPS_SHOWN = 20
_NAMES = {
    "task_type": "type of task",
    "reasoning_category": "reasoning category",
    "token_density": "tokens of the task",
}
_OF_MODELS = ("model", "mode")


def breakdowns(section: Section) -> Iterator[str]:
    """A table for each dimension in which the section's runs differ."""
    yield "### Divided"
    same: list[str] = []
    models = list(dict.fromkeys(summary.model for summary in section.summaries))
    shown = [str(model) for model in models[:_MODELS_SHOWN]] if len(models) > 1 else []
    for dimension in get_args(Dimension):
        own = [group for group in section.groups if group.dimension == dimension]
        values = list(dict.fromkeys(group.value for group in own))
        if values == [UNKNOWN]:
            continue
        if len(values) == 1:
            same.append(f"{_name(dimension)} {inert(values[0])}")
        elif dimension not in _OF_MODELS:
            yield from _divided(dimension, own, shown if any(g.model for g in own) else [])
    if same:
        yield f"The same in all runs: {', '.join(same)}."
    yield (
        "Pass rate as above, same tasks. A task of several languages stands in each of them. Few "
        "tasks stand behind most lines: they tell where to look, and compare nothing."
    )


def efforts(section: Section) -> Iterator[str]:
    """What a graded run of each model cost, and which of its runs are to be read with care."""
    yield "### Effort"
    yield table(
        "model | mode | input tokens | output tokens | cost | all costs | turns | agent's time | "
        "files read | files edited | non-deterministic | possibly contaminated",
        (_effort(summary) for summary in section.summaries),
    )
    yield (
        "Means over graded runs; in brackets, of how many of them it is known, if not of all. All "
        "costs: the sum over the same runs. "
        "Turns are replies of the model. Non-deterministic: the temperature could not be pinned. "
        "Possibly contaminated: the task was merged before the model's training data end, as far "
        "as that is stated (`--model-cutoff`)."
    )


def _divided(dimension: Dimension, groups: Sequence[Group], models: Sequence[str]) -> Iterator[str]:
    heads = [_name(dimension), "mode", "tasks", "solved", "pass rate", "mean score"]
    lines = [list(o) for _, o in groupby(groups, key=lambda group: (group.value, group.mode))]
    yield from shortened(
        " | ".join([*heads, *map(inert, models)]),
        lines,
        lambda line: _line(line, models),
        _GROUPS_SHOWN,
        "report.json",
    )


def _line(groups: Sequence[Group], models: Sequence[str]) -> list[str]:
    pooled = next(group for group in groups if group.model is None)
    of_each = {str(group.model): group for group in groups}
    return [
        inert(pooled.value),
        pooled.mode,
        str(pooled.tasks),
        _solved(pooled),
        rate(pooled.pass_rate, pooled.pass_rate_interval),
        score(pooled.mean_score, None),
        *(_solved(of_each[name]) if name in of_each else NONE for name in models),
    ]


def _solved(group: Group) -> str:
    return f"{group.solved}/{group.valid_runs}"


def _name(dimension: str) -> str:
    return _NAMES.get(dimension, dimension)


def _effort(summary: Summary) -> list[str]:
    effort: Effort = summary.effort
    runs, cost = summary.valid_runs, effort.cost
    return [
        inert(str(summary.model)),
        summary.mode,
        _mean(effort.input_tokens, runs, "{:,.0f}"),
        _mean(effort.output_tokens, runs, "{:,.0f}"),
        _mean(cost, runs, "${:.4f}"),
        f"${cost.total:.2f}" if cost else NONE,
        _mean(effort.turns, runs, "{:.1f}"),
        _mean(effort.agent_seconds, runs, "{:.0f} s"),
        _mean(effort.files_read, runs, "{:.1f}"),
        _mean(effort.files_edited, runs, "{:.1f}"),
        f"{summary.non_deterministic} of {runs}",
        f"{summary.possibly_contaminated} of {summary.dated_runs}" if summary.dated_runs else NONE,
    ]


def _mean(amount: Amount | None, runs: int, form: str) -> str:
    if amount is None:
        return NONE
    known = "" if amount.runs == runs else f" ({amount.runs})"
    return form.format(amount.mean) + known
