"""Results as commands read and judge them: what is readable, and what is a regression."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from nanobench.errors import WHERE_INDENT, GateError, InvalidInputError

if TYPE_CHECKING:
    from pathlib import Path

    from nanobench.model.plan import Ruleset
    from nanobench.report.comparison_document import Comparison
    from nanobench.report.pairing import Results

_LISTED = 20


def read_results(directories: Sequence[Path], *, tasks_dir: Path | None = None) -> Results:
    """The results below `directories`.

    Args:
        directories: of benches.
        tasks_dir: the dataset, whose audit says whether the categories of level 4 hold.

    Raises:
        InvalidInputError: a directory is missing, there are no results, or they belong to
            different plans, or the audit's status cannot be used.
        UsageError: `tasks_dir` is no directory.
    """
    from nanobench.pipeline.records import load_record
    from nanobench.pipeline.scanning import Scan
    from nanobench.report.entries import Entries
    from nanobench.report.pairing import Results

    name = ", ".join(map(str, directories))
    entries = Entries(_merged_rulesets(tasks_dir))
    with _without_collection():
        scan = Scan.of(directories)
        found = Results.of_entries(
            name,
            scan.plan,
            (entries.entry(one, partial(load_record, path)) for path, one in scan.records()),
            scan.problems,
        )
    if scan.plan is None and not found.report.cells and not scan.problems:
        raise InvalidInputError(
            "there is neither a plan nor a record here",
            where=name,
            remedy="name the --out directory of a bench",
        )
    return found


def _merged_rulesets(tasks_dir: Path | None) -> tuple[Ruleset, ...]:
    """The rulesets of which the last audit found too little agreement (SPEC F6)."""
    from nanobench.dataset.places import AUDIT_FILE, find_tasks_dir

    directory = find_tasks_dir(tasks_dir)
    if directory is None or not (directory / AUDIT_FILE).exists():
        return ()
    from nanobench.audit.status import read_status

    return read_status(directory / AUDIT_FILE).merged


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
