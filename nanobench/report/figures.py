"""From the rows of a report to its figures: rates with intervals, taxonomy, navigation delta.

Rows come in the report's order, so that equal keys lie together.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import get_args

from nanobench.model.verdict import Category
from nanobench.report.blocks import Block, rate_interval, together
from nanobench.report.breakdowns import Cards, breakdowns
from nanobench.report.document import (
    FailureMode,
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

MERGED: FailureMode = "implementation_error"
LEVEL_4: frozenset[FailureMode] = frozenset({"hallucinated_api", "wrong_abstraction_layer"})
FAILURE_MODES: tuple[FailureMode, ...] = (*get_args(Category), "zero_signal", "ended_by_limit")
_MOST_K = 5


def sections(rows: Sequence[Row], cards: Cards) -> Iterator[Section]:
    """The sections of `rows`.

    Args:
        rows: in the order of the report.
        cards: of all their tasks.
    """
    for kind, members in groupby(rows, key=lambda row: row.section):
        own = list(members)
        grouped = groupby(own, key=lambda row: (*model_order(row), row.cell.task_id))
        blocks = [Block.of(list(group)) for _, group in grouped]
        results = [task_result(block, cards[block.cell.task_id].tier) for block in blocks]
        tasks = zip(results, blocks, strict=True)
        yield Section(
            kind=kind,
            summaries=tuple(
                _summary(*zip(*of_model, strict=True))
                for _, of_model in groupby(tasks, key=lambda task: (task[0].model, task[0].mode))
            ),
            tasks=tuple(results),
            taxonomy=taxonomy(own),
            navigation=tuple(navigations(results)),
            groups=tuple(breakdowns(blocks, cards)),
        )


def model_order(row: Row) -> tuple[str, str, str]:
    """What the rows of one model in one mode share."""
    return row.cell.model.provider, row.cell.model.model, row.cell.mode


def task_result(block: Block, tier: int | None) -> TaskResult:
    """The result of one model on one task in one mode."""
    runs = block.runs
    return TaskResult(
        model=block.cell.model,
        mode=block.cell.mode,
        task_id=block.cell.task_id,
        valid_runs=runs,
        missing=block.missing,
        infrastructure=block.infrastructure,
        solved=block.solved,
        raw_count=f"{block.solved}/{runs}",
        pass_at_1=block.valid[0].solved if runs else None,
        pass_rate_interval=rate_interval(block.solved, runs),
        mean_score=share(block.score, runs),
        mean_score_interval=rate_interval(block.score, runs),
        pass_k=tuple(_pass_k([Tally(block.solved, runs)])),
        not_compared=_not_compared(block, tier),
        failure_modes=dict(sorted(Counter(_modes(block.valid)).items())),
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


def _summary(results: Sequence[TaskResult], blocks: Sequence[Block]) -> Summary:
    shared = together(blocks)
    valid, solved, missing = shared["valid_runs"], shared["solved"], shared["missing"]
    unknown = missing + shared["infrastructure"]
    passed = [Tally(block.solved, block.runs) for block in blocks if block.runs]
    scores = [Tally(block.score, block.runs) for block in blocks if block.runs]
    rates = [tally.rate for tally in passed]
    return Summary(
        model=results[0].model,
        mode=results[0].mode,
        compared_tasks=sum(result.not_compared is None for result in results),
        rate_like_these=(
            estimate(Estimate(mean_rate(passed), clustered_mean(rates))) if rates else None
        ),
        mean_score_interval=ends(stratified_mean(scores)) if scores else None,
        score_like_these=ends(clustered_mean([s.rate for s in scores])) if scores else None,
        strict_rate=share(solved, valid + missing),
        worst_rate=share(solved, valid + unknown),
        best_rate=share(solved + unknown, valid + unknown),
        pass_k=tuple(_pass_k(passed)),
        detectable_drop=detectable(solved / valid, valid, valid, drop=True) if valid else None,
        needed=tuple(_needed(solved / valid)) if valid else (),
        **shared,
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


def _not_compared(block: Block, tier: int | None) -> str | None:
    needed = runs_needed(tier)
    if block.missing:
        return f"{block.missing} missing"
    if block.runs >= needed:
        return None
    kind = "a task of unknown tier" if tier is None else f"a task of tier {tier}"
    return f"{block.runs} valid of the {needed} runs that {kind} needs"


def _modes(rows: Iterable[Row]) -> Iterator[FailureMode]:
    return (row.failure_mode for row in rows if row.failure_mode is not None)


def _mean(values: Sequence[float]) -> float:
    return rounded(math.fsum(values) / len(values))
