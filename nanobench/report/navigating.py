"""The navigation delta of each model of a section (SPEC S5)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from nanobench.model.plan import Mode, ModelRef
from nanobench.report.document import Navigation, TaskResult
from nanobench.report.rounding import estimate
from nanobench.stats.navigation import navigation_split
from nanobench.stats.stratified import Tally

_MODES: tuple[Mode, Mode] = get_args(Mode)  # hinted, navigation
_Results = Mapping[str, TaskResult]


def navigations(results: Sequence[TaskResult]) -> Iterator[Navigation]:
    """One per model that was run in both modes on tasks whose scores may be compared."""
    for model in dict.fromkeys(result.model for result in results):
        own = [result for result in results if result.model == model]
        hinted, alone = ({r.task_id: r for r in own if r.mode == mode} for mode in _MODES)
        excluded = {
            task: reason
            for task in sorted(hinted.keys() | alone.keys())
            if (reason := _excluded(task, hinted, alone))
        }
        tasks = sorted((hinted.keys() | alone.keys()) - excluded.keys())
        if tasks:
            yield _navigation(model, [(hinted[task], alone[task]) for task in tasks], excluded)


def _excluded(task: str, hinted: _Results, alone: _Results) -> str:
    return "; ".join(
        f"{mode}: {results[task].not_compared if task in results else 'not run'}"
        for mode, results in zip(_MODES, (hinted, alone), strict=True)
        if task not in results or results[task].not_compared
    )


def _navigation(
    model: ModelRef, pairs: Sequence[tuple[TaskResult, TaskResult]], excluded: dict[str, str]
) -> Navigation:
    hinted, alone = (
        [Tally(result.solved, result.valid_runs) for result in side]
        for side in zip(*pairs, strict=True)
    )
    split = navigation_split(hinted, alone)
    return Navigation(
        model=model,
        tasks=len(pairs),
        hinted=estimate(split.hinted),
        navigation=estimate(split.navigation),
        delta=estimate(split.delta),
        delta_like_these=estimate(split.delta_like_these),
        implementation=estimate(split.implementation),
        excluded=excluded,
    )
