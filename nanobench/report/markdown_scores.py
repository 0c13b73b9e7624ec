"""The figures of a section in Markdown: rates, how sure they are, tasks, taxonomy."""

from collections.abc import Iterator

from nanobench.report.document import Section, Summary, TaskResult, Taxonomy
from nanobench.report.escape import inert
from nanobench.report.tables import (
    NONE,
    difference,
    estimated,
    percent,
    rate,
    score,
    shortened,
    table,
)

_TASKS_SHOWN = 300


def scores(section: Section) -> Iterator[str]:
    """The tables of models, of what their samples can show, and of tasks."""
    yield table(
        "model | mode | solved | pass rate | tasks like these | mean score | strict | "
        "worst to best | missing | infrastructure",
        (_summary(summary) for summary in section.summaries),
    )
    yield (
        "In brackets: 95 % intervals. Pass rate (solved / graded runs) asks: would the same tasks "
        "give this again? Tasks like these (mean over tasks, each one observation) asks: "
        "what would other tasks of the kind give? Mean score: mean over tasks of each task's mean, "
        "same tasks. Strict counts missing runs as failed; worst to best lets every run "
        "without a score have failed, or been solved."
    )
    yield "### How sure"
    yield table(
        "model | mode | tasks that enter comparisons | smallest drop that as many runs show | "
        "runs to show drops",
        (_sureness(summary) for summary in section.summaries),
    )
    yield (
        "In percentage points, with 80 % probability, by intervals that do not overlap. Smaller "
        "changes are not distinguishable from noise in a sample of this size."
    )
    yield from _navigation(section)
    yield "### Matrix of tasks and models"
    yield from shortened(
        "task | model | mode | runs passed | pass rate | pass@1 | pass@k, pass^k | mean score | "
        "compared | failure modes",
        sorted(section.tasks, key=lambda t: t.task_id),
        _task,
        _TASKS_SHOWN,
        "matrix.csv",
    )


def shown_taxonomy(taxonomy: Taxonomy) -> Iterator[str]:
    """The distribution of failures, with intervals."""
    yield "### Failure taxonomy"
    if not taxonomy.failed:
        yield "No graded run failed."
        return
    yield table(
        "failure mode | runs | share",
        (
            [f"`{mode}`", str(count), estimated(taxonomy.shares[mode])]
            for mode, count in taxonomy.counts.items()
        ),
    )
    yield (
        f"Coverage: {percent(taxonomy.coverage)} of {taxonomy.failed} failed runs are named "
        "(all but `unclassified`). "
        + "By confidence level: "
        + (", ".join(f"{level}: {n}" for level, n in taxonomy.levels.items()) or "none")
        + "."
    )


def _summary(summary: Summary) -> list[str]:
    return [
        inert(str(summary.model)),
        summary.mode,
        f"{summary.solved}/{summary.valid_runs}",
        rate(summary.pass_rate, summary.pass_rate_interval),
        estimated(summary.rate_like_these),
        score(summary.mean_score, summary.mean_score_interval),
        percent(summary.strict_rate),
        f"{percent(summary.worst_rate)} to {percent(summary.best_rate)}",
        str(summary.missing),
        str(summary.infrastructure),
    ]


def _sureness(summary: Summary) -> list[str]:
    needed = [
        f"{-100 * need.difference:.0f} points: {need.runs or 'more than 4096'}"
        for need in summary.needed
    ]
    drop = summary.detectable_drop
    return [
        inert(str(summary.model)),
        summary.mode,
        f"{summary.compared_tasks} of {summary.tasks}",
        "none" if drop is None else f"{100 * drop:.1f}",
        ", ".join(needed) or NONE,
    ]


def _navigation(section: Section) -> Iterator[str]:
    if not section.navigation:
        return
    yield "### Navigation delta"
    yield table(
        "model | tasks | hinted | navigation | pathfinding (delta) | delta, tasks like these | "
        "implementation | left out",
        (
            [
                inert(str(found.model)),
                str(found.tasks),
                estimated(found.hinted),
                estimated(found.navigation),
                difference(found.delta),
                difference(found.delta_like_these),
                estimated(found.implementation),
                ", ".join(f"{inert(task)} ({why})" for task, why in found.excluded.items()) or NONE,
            ]
            for found in section.navigation
        ),
    )
    yield (
        "Pathfinding: what naming the files gains, in percentage points. Implementation: what "
        "stays unsolved although they are named."
    )


def _task(result: TaskResult) -> list[str]:
    modes = ", ".join(f"`{mode}` {count}" for mode, count in result.failure_modes.items())
    interval, last = result.pass_rate_interval, result.pass_k[-1:]
    return [
        inert(result.task_id),
        inert(str(result.model)),
        result.mode,
        result.raw_count,
        NONE if interval is None else f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %",
        {True: "yes", False: "no", None: NONE}[result.pass_at_1],
        ", ".join(f"k={p.k}: {p.any_solved:.2f}, {p.all_solved:.2f}" for p in last) or NONE,
        score(result.mean_score, result.mean_score_interval),
        "yes" if result.not_compared is None else f"no: {result.not_compared}",
        modes or NONE,
    ]
