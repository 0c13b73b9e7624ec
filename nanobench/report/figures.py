"""From the rows of a report to its figures: rates with intervals, taxonomy, navigation delta.

Rows come in the report's order, so that equal keys lie together.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import get_args

from nanobench.model.verdict import Category
from nanobench.report.document import (
    FailureMode,
    Interval,
    Needed,
    PassK,
    Row,
    Section,
    Summary,
    TaskResult,
    Taxonomy,
)
from nanobench.report.navigating import navigations
from nanobench.report.rounding import ends, estimate, rounded, share
from nanobench.stats.clustered import clustered_mean
from nanobench.stats.compare import ASKED_DIFFERENCES, Estimate
from nanobench.stats.passk import pass_at_k, pass_hat_k
from nanobench.stats.power import detectable, runs_to_show
from nanobench.stats.sampling import runs_needed
from nanobench.stats.stratified import Tally, mean_rate, stratified_mean
from nanobench.stats.taxonomy_shift import shares
from nanobench.stats.wilson import wilson

MERGED: FailureMode = "implementation_error"
LEVEL_4: frozenset[FailureMode] = frozenset({"hallucinated_api", "wrong_abstraction_layer"})
FAILURE_MODES: tuple[FailureMode, ...] = (*get_args(Category), "zero_signal", "ended_by_limit")
Tiers = Mapping[str, int | None]
_MOST_K = 5


def sections(rows: Sequence[Row], tiers: Tiers) -> Iterator[Section]:
    """The sections of `rows`.

    Args:
        rows: in the order of the report.
        tiers: of the tasks, as far as known.
    """
    for kind, members in groupby(rows, key=lambda row: row.section):
        own = list(members)
        grouped = _grouped(own, lambda row: (*model_order(row), row.cell.task_id))
        tasks = [(task_result(group, tiers), group) for group in grouped]
        yield Section(
            kind=kind,
            summaries=tuple(
                _summary(list(of_model))
                for _, of_model in groupby(tasks, key=lambda task: model_order(task[1][0]))
            ),
            tasks=tuple(result for result, _ in tasks),
            taxonomy=taxonomy(own),
            navigation=tuple(navigations([result for result, _ in tasks])),
        )


def model_order(row: Row) -> tuple[str, str, str]:
    """What the rows of one model in one mode share."""
    return row.cell.model.provider, row.cell.model.model, row.cell.mode


def task_result(rows: Sequence[Row], tiers: Tiers) -> TaskResult:
    """The result of one model on one task in one mode: at least one row, in order of runs."""
    first = rows[0].cell
    counts = _counts(rows)
    valid = [row for row in rows if row.state == "present"]
    score = _score(valid)
    return TaskResult(
        model=first.model,
        mode=first.mode,
        task_id=first.task_id,
        raw_count=f"{counts['solved']}/{counts['valid_runs']}",
        pass_at_1=valid[0].solved if valid else None,
        pass_rate_interval=_wilson(counts["solved"], len(valid)),
        mean_score=rounded(score.rate) if valid else None,
        mean_score_interval=_wilson(score.total, len(valid)),
        pass_k=tuple(_pass_k([Tally(counts["solved"], len(valid))])),
        not_compared=_not_compared(counts, tiers.get(first.task_id)),
        failure_modes=dict(sorted(Counter(_modes(rows)).items())),
        **counts,
    )


def taxonomy(rows: Sequence[Row]) -> Taxonomy:
    """How the failed ones of `rows` are distributed."""
    found = Counter(_modes(rows))
    failed = found.total()
    shown = FAILURE_MODES
    if found[MERGED]:
        shown = (*(mode for mode in FAILURE_MODES if mode not in LEVEL_4), MERGED)
    counts = {mode: found[mode] for mode in shown}
    levels = Counter(row.level for row in rows if row.failure_mode and row.level)
    return Taxonomy(
        failed=failed,
        counts=counts,
        shares={mode: estimate(found) for mode, found in shares(counts).items()},
        levels=dict(sorted(levels.items())),
        coverage=share(failed - found["unclassified"], failed),
    )


def _summary(tasks: Sequence[tuple[TaskResult, Sequence[Row]]]) -> Summary:
    results = [result for result, _ in tasks]
    counts = _counts([row for _, rows in tasks for row in rows])
    valid, solved = counts["valid_runs"], counts["solved"]
    unknown = counts["missing"] + counts["infrastructure"]
    passed = [Tally(r.solved, r.valid_runs) for r in results if r.valid_runs]
    scores = [_score(graded) for _, rows in tasks if (graded := _valid(rows))]
    rates = [tally.rate for tally in passed]
    return Summary(
        model=results[0].model,
        mode=results[0].mode,
        tasks=len(results),
        compared_tasks=sum(result.not_compared is None for result in results),
        pass_rate=share(solved, valid),
        pass_rate_interval=_wilson(solved, valid),
        rate_like_these=(
            estimate(Estimate(mean_rate(passed), clustered_mean(rates))) if rates else None
        ),
        mean_score=rounded(mean_rate(scores)) if scores else None,
        mean_score_interval=ends(stratified_mean(scores)) if scores else None,
        score_like_these=ends(clustered_mean([s.rate for s in scores])) if scores else None,
        strict_rate=share(solved, valid + counts["missing"]),
        worst_rate=share(solved, valid + unknown),
        best_rate=share(solved + unknown, valid + unknown),
        pass_k=tuple(_pass_k(passed)),
        detectable_drop=detectable(solved / valid, valid, valid, drop=True) if valid else None,
        needed=tuple(_needed(solved / valid)) if valid else (),
        **counts,
    )


def _needed(rate: float) -> Iterator[Needed]:
    for size in ASKED_DIFFERENCES:
        if rate >= size:
            yield Needed(difference=-size, runs=runs_to_show(rate, rate - size))


def _pass_k(tallies: Sequence[Tally]) -> Iterator[PassK]:
    for k in range(1, _MOST_K + 1):
        enough = [(tally.runs, int(tally.total)) for tally in tallies if tally.runs >= k]
        if enough:
            yield PassK(
                k=k,
                tasks=len(enough),
                any_solved=_mean([pass_at_k(*counts, k) for counts in enough]),
                all_solved=_mean([pass_hat_k(*counts, k) for counts in enough]),
            )


def _not_compared(counts: Mapping[str, int], tier: int | None) -> str | None:
    valid, needed = counts["valid_runs"], runs_needed(tier)
    if counts["missing"]:
        return f"{counts['missing']} missing"
    if valid >= needed:
        return None
    kind = "a task of unknown tier" if tier is None else f"a task of tier {tier}"
    return f"{valid} valid of the {needed} runs that {kind} needs"


def _counts(rows: Sequence[Row]) -> dict[str, int]:
    states = Counter(row.state for row in rows)
    return {
        "valid_runs": states["present"],
        "missing": states["missing"],
        "infrastructure": states["infrastructure"],
        "solved": sum(row.solved for row in _valid(rows)),
    }


def _valid(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.state == "present"]


def _score(valid: Sequence[Row]) -> Tally:
    return Tally(math.fsum(row.score or 0.0 for row in valid), len(valid))


def _grouped(rows: Sequence[Row], key: Callable[[Row], tuple[str, ...]]) -> Iterator[list[Row]]:
    return (list(group) for _, group in groupby(rows, key=key))


def _modes(rows: Iterable[Row]) -> Iterator[FailureMode]:
    return (row.failure_mode for row in rows if row.failure_mode is not None)


def _wilson(successes: float, runs: int) -> Interval | None:
    return ends(wilson(successes, runs)) if runs else None


def _mean(values: Sequence[float]) -> float:
    return rounded(math.fsum(values) / len(values))
