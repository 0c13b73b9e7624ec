"""The comparison of two results in Markdown: the verdict first, then where, why and how sure."""

from collections.abc import Iterator

from nanobench.model.verdict import Level
from nanobench.report.comparison_document import Change, Comparison, Shift, Side, TaskChange
from nanobench.report.document import Needed
from nanobench.report.escape import inert
from nanobench.report.tables import (
    NONE,
    difference,
    estimated,
    listed,
    percent,
    points,
    table,
)

_WORDS = {
    "regression": "Regression",
    "improvement": "Improvement",
    "not distinguishable from noise": "Not distinguishable from noise",
    "not comparable": "Not comparable",
}
_NOTHING = "There is nothing to compare."
_CLAIM = 0.05
_TASKS_SHOWN = 30


def render_comparison(comparison: Comparison) -> str:
    """The whole page."""
    return "\n\n".join(["# NanoBench comparison", *comparison_blocks(comparison)]) + "\n"


def comparison_blocks(comparison: Comparison) -> Iterator[str]:
    """Its blocks, to stand alone or before a report."""
    yield _headline(comparison)
    for side in (comparison.before, comparison.after):
        yield from listed(f"Problems of {side.name}", [inert(p, 400) for p in side.problems])
    changes = (*comparison.overall, *comparison.changes)
    yield "## Verdict"
    yield table(
        "model | mode | verdict | before | after | change, same tasks | change, tasks like these | "
        "p | compared | left out",
        map(_verdict, changes),
    )
    yield (
        "In brackets: 95 % intervals; changes in percentage points. The verdict rests on before "
        "and after: a regression or an improvement is told only if their intervals (Wilson, all "
        "runs) do not overlap, and the change, same tasks, agrees; where tasks were run in other "
        "proportions before than after, its interval must leave out 0. p: exact test, within "
        "tasks, of no change in any of them."
    )
    yield from listed(
        "With care", [f"{_name(change)}: {change.caution}" for change in changes if change.caution]
    )
    yield from _sureness([change for change in changes if change.before])
    yield from _where(comparison.tasks)
    yield from _why(changes)
    yield from listed("Not compared", _left_out(changes))
    yield from _conditions(comparison)
    for title, side in (("before", comparison.before), ("after", comparison.after)):
        yield from listed(f"Missing {title}", [inert(cell) for cell in side.missing])
        yield from listed(
            f"Infrastructure trouble {title}", [inert(cell) for cell in side.infrastructure]
        )
    yield from listed("Notes on the two results", [inert(note, 400) for note in comparison.notes])


def _headline(comparison: Comparison) -> str:
    changes = (*comparison.overall, *comparison.changes)
    counts = [
        f"{len(own)} {word}: {', '.join(own[:5])}{', …' if len(own) > 5 else ''}"
        for word in _WORDS
        if (own := [_name(c) for c in changes if c.verdict == word])
    ]
    sides = [_side("before", comparison.before), _side("after", comparison.after)]
    return "\n\n".join(
        [f"**{_WORDS[comparison.verdict]}** — {'; '.join(counts) or 'nothing to compare'}", *sides]
    )


def _side(when: str, side: Side) -> str:
    absent = [
        f"**{len(cells)} {what}**"
        for what, cells in (("missing", side.missing), ("infrastructure", side.infrastructure))
        if cells
    ]
    return ", ".join([f"{when}: {inert(side.name)}, {side.present} of {side.cells} runs", *absent])


def _name(change: Change) -> str:
    return f"{inert(str(change.model)) if change.model else 'all models'} {change.mode}"


def _verdict(change: Change) -> list[str]:
    return [
        inert(str(change.model)) if change.model else "all models",
        change.mode,
        f"**{change.verdict}**",
        estimated(change.before),
        estimated(change.after),
        difference(change.same_tasks),
        difference(change.tasks_like_these),
        _p(change.p),
        str(change.compared),
        str(change.excluded),
    ]


def _sureness(changes: list[Change]) -> Iterator[str]:
    if not changes:
        return
    yield "## How sure"
    yield table(
        "model | mode | smallest drop shown | smallest rise shown | to show this and other drops",
        (
            [
                inert(str(change.model)) if change.model else "all models",
                change.mode,
                _shown(change.detectable_drop),
                _shown(change.detectable_rise),
                "<br>".join(map(_needed, change.needed)) or NONE,
            ]
            for change in changes
        ),
    )
    yield (
        "With 80 % probability, in percentage points. A smaller true change would often have gone "
        "unnoticed in a sample of this size: that none was seen says little of it."
    )


def _shown(size: float | None) -> str:
    return "none" if size is None else f"{100 * size:.1f}"


def _needed(need: Needed) -> str:
    runs = f"{need.runs} runs a side" if need.runs else "more than 4096 runs a side"
    tasks = f", or {need.tasks} tasks like these" if need.tasks else ""
    return f"{points(need.difference)}: {runs}{tasks}"


def _where(tasks: tuple[TaskChange, ...]) -> Iterator[str]:
    compared = [task for task in tasks if task.p is not None]
    moved = [task for task in compared if _moved(task)]
    yield "## Where"
    if not moved:
        yield "No compared task changed its share of solved runs." if compared else _NOTHING
        return
    moved.sort(key=lambda task: (task.p or 0.0, _moved(task)))
    yield table(
        "task | model | mode | before | after | change | p | after Holm",
        (
            [
                inert(task.task_id),
                inert(str(task.model)),
                task.mode,
                f"{task.solved_before}/{task.runs_before}",
                f"{task.solved_after}/{task.runs_after}",
                points(_moved(task)),
                _p(task.p),
                f"**{_p(task.p_adjusted)}**"
                if (task.p_adjusted or 0) <= _CLAIM
                else _p(task.p_adjusted),
            ]
            for task in moved[:_TASKS_SHOWN]
        ),
    )
    if len(moved) > _TASKS_SHOWN:
        yield f"{len(moved) - _TASKS_SHOWN} more are in comparison.json."
    yield (
        "Only an entry in bold is a claim about a single task: the last column corrects for "
        "looking at all of them."
    )


def _moved(task: TaskChange) -> float:
    return task.solved_after / task.runs_after - task.solved_before / task.runs_before


def _why(changes: tuple[Change, ...]) -> Iterator[str]:
    shifts = [(change, change.shift) for change in changes if change.shift]
    if not shifts:
        return
    yield "## Why: how failures moved"
    for change, shift in shifts:
        yield f"### {_name(change)}"
        yield from _shift(shift)
    yield (
        "Shares are of failed runs. Run 1 before is no partner of run 1 after: what a task has on "
        "both sides stayed, the rest is matched with the fewest moves."
    )


def _shift(shift: Shift) -> Iterator[str]:
    modes = [
        mode
        for mode in dict.fromkeys((*shift.before.counts, *shift.after.counts))
        if shift.before.counts.get(mode) or shift.after.counts.get(mode)
    ]
    if not modes:
        yield "No compared run failed on either side."
        return
    yield table(
        "failure mode | runs before | runs after | share before | share after",
        (
            [
                f"`{mode}`",
                str(shift.before.counts.get(mode, 0)),
                str(shift.after.counts.get(mode, 0)),
                estimated(shift.before.shares.get(mode)),
                estimated(shift.after.shares.get(mode)),
            ]
            for mode in modes
        ),
    )
    moves = [
        f"`{move.before}` → `{move.after}`: {move.runs}"
        for move in shift.moves
        if move.before != move.after
    ]
    yield (
        f"Moved: {', '.join(moves) or 'none'}. Named (not `unclassified`): "
        f"{percent(shift.before.coverage)} before, {percent(shift.after.coverage)} after. "
        f"By confidence level: {_levels(shift.before.levels)} before, "
        f"{_levels(shift.after.levels)} after."
    )


def _levels(levels: dict[Level, int]) -> str:
    return ", ".join(f"{level}: {count}" for level, count in levels.items()) or "none"


def _left_out(changes: tuple[Change, ...]) -> list[str]:
    return [
        f"{_name(change)}: {inert(reason, 400)}"
        for change in changes
        if change.model
        for reason in change.reasons
    ]


def _conditions(comparison: Comparison) -> Iterator[str]:
    yield "## What varied"
    if comparison.varied:
        yield table(
            "setting | before | after",
            (
                [
                    f"`{varied.name}`",
                    " ".join(inert(value) for value in varied.before),
                    " ".join(inert(value) for value in varied.after),
                ]
                for varied in comparison.varied
            ),
        )
    else:
        yield "Nothing that records tell."
    if comparison.held:
        yield f"Held: {', '.join(f'`{name}`' for name in comparison.held)}."


def _p(value: float | None) -> str:
    if value is None:
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
