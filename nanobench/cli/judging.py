"""Results as commands read and judge them: what is readable, and what is a regression."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from nanobench.errors import WHERE_INDENT, GateError, InvalidInputError

if TYPE_CHECKING:
    from pathlib import Path

    from nanobench.report.comparison_document import Comparison
    from nanobench.report.pairing import Results

_LISTED = 20


def read_results(directories: Sequence[Path], *, merge_level_4: bool) -> Results:
    """The results below `directories`.

    Raises:
        InvalidInputError: a directory is missing, there are no results, or they belong to
            different plans.
    """
    from nanobench.pipeline.store import load_results
    from nanobench.report.pairing import Results

    with _without_collection():
        found = load_results(directories)
    name = ", ".join(map(str, directories))
    if found.plan is None and not found.records and not found.problems:
        raise InvalidInputError(
            "there is neither a plan nor a record here",
            where=name,
            remedy="name the --out directory of a bench",
        )
    return Results.of(name, found.plan, found.records, found.problems, merge_level_4=merge_level_4)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep the garbage collector from looking again and again at many objects without a cycle.

    Of a thousand records that would take as long as everything else does.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if on:
            gc.enable()


def tell_verdict(comparison: Comparison) -> None:
    """Print what became better or worse."""
    from nanobench.report.terminal import render_verdict

    click.echo(render_verdict(comparison), nl=False)


def check_readable(problems: Sequence[str]) -> None:
    """Refuse to call results whole of which files could not be used.

    Raises:
        InvalidInputError: there are such files.
    """
    if problems:
        raise InvalidInputError(
            f"{len(problems)} files could not be used; the report holds the rest",
            where=some(problems),
            remedy="read records of a newer version with that version; remove damaged ones, or run "
            "their cells again",
        )


def check_regression(comparison: Comparison) -> None:
    """Fail on a real regression, and on nothing else.

    Raises:
        GateError: a model in a mode, or all models of a mode, are worse.
    """
    worse = [
        f"{change.model or 'all models'} {change.mode}"
        for change in (*comparison.overall, *comparison.changes)
        if change.verdict == "regression"
    ]
    if worse:
        raise GateError(
            "there is a regression: the intervals before and after do not overlap",
            where=some(worse),
            remedy="see the comparison: where and why it moved, and what varied",
        )


def some(names: Sequence[str]) -> str:
    """The first twenty of foreign names, one below the other, for an error's `where`."""
    from nanobench.report.escape import plain

    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return WHERE_INDENT.join([*(plain(name) for name in names[:_LISTED]), *more])
