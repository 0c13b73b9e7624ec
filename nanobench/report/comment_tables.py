"""The tables of a comment: narrow enough for the column of a pull request."""

from collections.abc import Iterator, Sequence

from nanobench.model.plan import Mode, ModelRef
from nanobench.report.comparison_document import Change, Comparison, Shift, TaskChange
from nanobench.report.document import Report, Section, Summary, TaskResult
from nanobench.report.escape import inert
from nanobench.report.markdown import TITLES
from nanobench.report.markdown_scores import shown_taxonomy
from nanobench.report.tables import (
    NONE,
    difference,
    estimated,
    number,
    percent,
    rate,
    score,
    table,
)

_NAME_WIDTH = 60
_MOST_NAMED_HEADS = 3
_FAILING_SHOWN = 30
_SHIFTS_SHOWN = 6
_VALUE_WIDTH = 120
_VERDICTS = {
    "regression": "**regression**",
    "improvement": "**improvement**",
    "not distinguishable from noise": "noise",
    "not comparable": "not compared",
}

_Task = tuple[ModelRef, Mode, str]


def titled(title: str, text: str) -> str:
    """A part with its heading."""
    return f"### {title}\n\n{text}"


def models(report: Report, comparison: Comparison | None) -> Iterator[str]:
    """Every model in every mode: verdict, rates, the baseline's, and what would have shown."""
    changes = {(c.model, c.mode): c for c in comparison.changes} if comparison else {}
    heads = "# | model, mode | verdict | pass rate | baseline | mean score | shows"
    for section in report.sections:
        yield f"### {TITLES[section.kind]}"
        numbers = _numbers(section)
        own = changes if _is_compared(section, report) else {}
        yield table(
            heads if comparison else heads.replace("verdict | ", "").replace("baseline | ", ""),
            (
                [str(numbers[s.model]), *_summary(s, own.get((s.model, s.mode)), comparison)]
                for s in section.summaries
            ),
        )
    if not report.sections:
        return
    told = ["In brackets: 95 % intervals, same tasks run again."]
    if comparison is not None:
        told.append("Noise: no difference that is distinguishable from it.")
    told.append(
        f"Shows: the smallest drop{' and rise' if comparison else ''}, in percentage points, that "
        "samples of this size show with 80 % probability."
    )
    yield " ".join(told)


def matrix(report: Report, comparison: Comparison | None) -> Iterator[str]:
    """Tasks by models, a table for each mode; a cell shows runs passed and the mean score."""
    moved = {(t.model, t.mode, t.task_id): t for t in comparison.tasks} if comparison else {}
    for section in report.sections:
        numbers = _numbers(section)
        found: dict[_Task, TaskResult] = {(t.model, t.mode, t.task_id): t for t in section.tasks}
        for mode in sorted({task.mode for task in section.tasks}):
            tasks = sorted({task.task_id for task in section.tasks if task.mode == mode})
            yield f"### Runs passed, {mode}{_aside(report, section)}"
            yield table(
                " | ".join(["task", *_heads(numbers)]),
                (
                    [
                        inert(task, _NAME_WIDTH),
                        *(
                            _cell(found.get((m, mode, task)), moved.get((m, mode, task)))
                            for m in numbers
                        ),
                    ]
                    for task in tasks
                ),
            )
    if not report.sections:
        return
    told = ["Runs passed of runs graded, and the mean score."]
    if any(len(_numbers(section)) > _MOST_NAMED_HEADS for section in report.sections):
        told.append("The numbers are those of the models above.")
    if comparison is not None:
        told.append("Was: in the baseline, where it differs.")
    if report.in_state("infrastructure"):
        told.append("Infra.: ended in infrastructure trouble, not scored.")
    yield " ".join(told)


def taxonomies(report: Report, comparison: Comparison | None) -> Iterator[str]:
    """How failures are distributed; with a baseline, how they moved."""
    shifts = [(c, c.shift) for c in _widest(comparison) if c.shift] if comparison else []
    if not shifts:
        for section in report.sections:
            yield from shown_taxonomy(section.taxonomy)
        return
    for change, shift in shifts[:_SHIFTS_SHOWN]:
        who = inert(str(change.model), _NAME_WIDTH) if change.model else "all models"
        yield f"### Failure taxonomy against the baseline: {who}, {change.mode}"
        yield _shift(shift)
    if len(shifts) > _SHIFTS_SHOWN:
        yield f"{len(shifts) - _SHIFTS_SHOWN} more are in comparison.json."


def failing(report: Report) -> Iterator[str]:
    """Tasks with runs that failed, and by which failure."""
    tasks = [t for section in report.sections for t in section.tasks if t.failure_modes]
    if not tasks:
        return
    tasks.sort(key=lambda t: (t.mean_score or 0.0, t.task_id, str(t.model), t.mode))
    yield "### Failing tasks"
    yield table(
        "task | model | mode | passed | failure modes",
        (
            [
                inert(t.task_id, _NAME_WIDTH),
                inert(str(t.model), _NAME_WIDTH),
                t.mode,
                f"{t.solved}/{t.valid_runs}",
                ", ".join(f"`{mode}` {count}" for mode, count in t.failure_modes.items()),
            ]
            for t in tasks[:_FAILING_SHOWN]
        ),
    )
    if len(tasks) > _FAILING_SHOWN:
        yield f"{len(tasks) - _FAILING_SHOWN} more are in the report."


def navigation(report: Report) -> Iterator[str]:
    """How much of the failure is pathfinding, by model."""
    found = [entry for section in report.sections for entry in section.navigation]
    if not found:
        return
    yield "### Navigation delta"
    yield table(
        "model | tasks | hinted | navigation | pathfinding, points | implementation",
        (
            [
                inert(str(n.model), _NAME_WIDTH),
                str(n.tasks),
                estimated(n.hinted),
                estimated(n.navigation),
                difference(n.delta),
                estimated(n.implementation),
            ]
            for n in found
        ),
    )


def varied(comparison: Comparison | None) -> Iterator[str]:
    """What differs between the runs compared (SPEC O4)."""
    if comparison is None:
        return
    yield "### What varied"
    if not comparison.varied:
        yield "Nothing that records tell."
        return
    yield table(
        "setting | baseline | now",
        (
            [
                inert(v.name, _NAME_WIDTH),
                *(inert(", ".join(values), _VALUE_WIDTH) for values in (v.before, v.after)),
            ]
            for v in comparison.varied
        ),
    )


def _numbers(section: Section) -> dict[ModelRef, int]:
    """The models of a section, numbered in its order."""
    return {m: n for n, m in enumerate(dict.fromkeys(s.model for s in section.summaries), 1)}


def _heads(numbers: dict[ModelRef, int]) -> list[str]:
    if len(numbers) <= _MOST_NAMED_HEADS:
        return [inert(str(model), _NAME_WIDTH) for model in numbers]
    return [str(value) for value in numbers.values()]


def _aside(report: Report, section: Section) -> str:
    return f": {TITLES[section.kind].lower()}" if len(report.sections) > 1 else ""


def _summary(
    summary: Summary, change: Change | None, comparison: Comparison | None
) -> Iterator[str]:
    yield f"{inert(str(summary.model), _NAME_WIDTH)}<br>{summary.mode}"
    if comparison is not None:
        yield _VERDICTS[change.verdict] if change else NONE
    solved = f"{summary.solved}/{summary.valid_runs}"
    yield f"{solved}<br>{_unbroken(rate(summary.pass_rate, summary.pass_rate_interval))}"
    if comparison is not None:
        yield _baseline(change)
    yield _unbroken(score(summary.mean_score, summary.mean_score_interval))
    if comparison is None:
        yield _size(summary.detectable_drop)
    else:
        found = (change.detectable_drop, change.detectable_rise) if change else ()
        yield ", ".join(map(_size, found)) or NONE


def _is_compared(section: Section, report: Report) -> bool:
    """Beside real models on the dataset nothing else is compared."""
    return section.kind == "models" or report.sections[0].kind != "models"


def _baseline(change: Change | None) -> str:
    """The baseline's rate; where tasks are left out, that of the same tasks now below it.

    The verdict rests on these two, and not on the rate of all tasks.
    """
    if change is None or change.before is None:
        return NONE
    before = _unbroken(estimated(change.before))
    if not change.excluded:
        return before
    tasks = f"{change.compared}&nbsp;{'task' if change.compared == 1 else 'tasks'}"
    return f"{before}<br>now, same {tasks}:<br>{_unbroken(estimated(change.after))}"


def _unbroken(figure: str) -> str:
    """A figure and, below it, its interval: neither is broken into lines."""
    value, bracket, interval = figure.partition(" (")
    told = f"{value}<br>({interval}" if bracket else value
    return told.replace(" ", "&nbsp;")


def _size(difference: float | None) -> str:
    return "none" if difference is None else f"{100 * difference:.0f}"


def _cell(task: TaskResult | None, change: TaskChange | None) -> str:
    if task is None:
        return NONE
    runs = f"{task.solved}/{task.valid_runs}" if task.valid_runs else "no score"
    lines = [runs, number(task.mean_score)] if task.valid_runs else [runs]
    if change is not None and _has_moved(change):
        lines[0] = f"**{runs}**"
        lines.append(f"was&nbsp;{change.solved_before}/{change.runs_before}")
    lines += [
        f"{count}&nbsp;{what}"
        for what, count in (("missing", task.missing), ("infra.", task.infrastructure))
        if count
    ]
    return "<br>".join(lines)


def _has_moved(change: TaskChange) -> bool:
    before, after = change.runs_before, change.runs_after
    if change.excluded or not (before and after):
        return False
    return change.solved_before * after != change.solved_after * before


def _widest(comparison: Comparison) -> Sequence[Change]:
    """Changes over all models where there are several, else those of the models."""
    wide = {change.mode for change in comparison.overall}
    return (*comparison.overall, *(c for c in comparison.changes if c.mode not in wide))


def _shift(shift: Shift) -> str:
    before, after = shift.before, shift.after
    modes = [
        mode
        for mode in dict.fromkeys((*before.counts, *after.counts))
        if before.counts.get(mode) or after.counts.get(mode)
    ]
    if not modes:
        return "No compared run failed on either side."
    rows = table(
        "failure mode | baseline | now | share, baseline | share, now",
        (
            [
                f"`{mode}`",
                str(before.counts.get(mode, 0)),
                str(after.counts.get(mode, 0)),
                estimated(before.shares.get(mode)),
                estimated(after.shares.get(mode)),
            ]
            for mode in modes
        ),
    )
    named = f"{percent(before.coverage)} of failures before, {percent(after.coverage)} now"
    return f"{rows}\n\nNamed (not `unclassified`): {named}."
