"""Verdicts of another ruleset from records alone: nothing is run, nothing is overwritten."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from nanobench.errors import InvalidInputError, UsageError
from nanobench.files import make_directory, state_error, write_atomic
from nanobench.model.base import Document
from nanobench.model.plan import Cell, Ruleset
from nanobench.model.record import Record
from nanobench.model.verdict import Verdict
from nanobench.pipeline.records import find, records_below
from nanobench.pipeline.scanning import read_plan
from nanobench.scoring.judge import judge
from nanobench.workspace.teardown import remove_tree

_LABELS = ("outcome", "score", "label", "category", "rule", "reason")


class Move(Document):
    """A record whose label another ruleset, or the same one of another version, moves."""

    path: str
    cell: Cell
    cell_id: str
    attempt: PositiveInt
    changed: tuple[str, ...]
    before: Verdict
    after: Verdict


class Regrading(Document):
    """What became of the verdicts; `records` counts those that could be judged."""

    ruleset: Ruleset
    records: NonNegativeInt
    moved: tuple[Move, ...]
    problems: tuple[str, ...]


def regrade(directory: Path, ruleset: Ruleset, out: Path | None = None) -> Regrading:
    """Judge every record below `directory` anew.

    With `out`, plans and records are written there at the same relative paths, all or nothing;
    they differ from the old ones in ruleset and verdict, older schema versions also in their shape.

    Raises:
        InvalidInputError: there are no results, a plan is damaged, or `out` holds something.
        UsageError: `out` lies in `directory`, or around it.
        StateError: `out` cannot be written.
    """
    if not directory.is_dir():
        raise _nothing(directory)
    if out is None:
        return _regrade(directory, ruleset, None)
    _check_apart(directory, out)
    with _whole(out.resolve()) as partial:
        return _regrade(directory, ruleset, partial)


def rejudged(record: Record, ruleset: Ruleset) -> Record:
    """The record with the verdict that the ruleset gives its signals.

    Raises:
        InvalidInputError: as `judge`.
    """
    return record.model_copy(update={"verdict": judge(record.signals, ruleset)})


def _regrade(directory: Path, ruleset: Ruleset, out: Path | None) -> Regrading:
    moved: list[Move] = []
    problems: list[str] = []
    records = 0
    plans = _copy_plans(directory, ruleset, out)
    for path, record in records_below(directory):
        name = path.relative_to(directory)
        after = _judged(record, ruleset)
        if isinstance(after, str) or isinstance(record, str):
            problems.append(f"{name.as_posix()}: {after}")
            continue
        records += 1
        _write(after, out, name)
        changed = _changed(record.verdict, after.verdict)
        if changed:
            moved.append(
                Move(
                    path=name.as_posix(),
                    cell=record.cell,
                    cell_id=record.cell.cell_id,
                    attempt=record.attempt,
                    changed=changed,
                    before=record.verdict,
                    after=after.verdict,
                )
            )
    if not (plans or records or problems):
        raise _nothing(directory)
    return Regrading(ruleset=ruleset, records=records, moved=tuple(moved), problems=tuple(problems))


def _judged(record: Record | str, ruleset: Ruleset) -> Record | str:
    if isinstance(record, str):
        return record
    try:
        return rejudged(record, ruleset)
    except InvalidInputError as error:
        return error.what


def _changed(before: Verdict, after: Verdict) -> tuple[str, ...]:
    return tuple(name for name in _LABELS if getattr(before, name) != getattr(after, name))


def _copy_plans(directory: Path, ruleset: Ruleset, out: Path | None) -> int:
    paths = find(directory).plans
    for path in paths:
        plan = read_plan(path).model_copy(update={"ruleset": ruleset})
        _write(plan, out, path.relative_to(directory))
    return len(paths)


def _write(document: Document, out: Path | None, name: Path) -> None:
    if out is not None:
        make_directory((out / name).parent)
        write_atomic(out / name, document.to_json())


def _check_apart(directory: Path, out: Path) -> None:
    old, new = directory.resolve(), out.resolve()
    if old.is_relative_to(new) or new.is_relative_to(old):
        raise UsageError(
            "the new records would lie among the old ones",
            where=f"--out {out}",
            remedy="name a directory outside the old one",
        )
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InvalidInputError(
            "the output directory holds something already",
            where=str(out),
            remedy="name a new or an empty directory",
        )


@contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """A directory that takes its place as `out` once it is complete, and is else removed."""
    partial = out.parent / f".{out.name}.partial"
    remove_tree(partial)
    make_directory(partial)
    try:
        yield partial
        partial.replace(out)
    except OSError as error:
        raise state_error(error, out) from None
    finally:
        remove_tree(partial)


def _nothing(directory: Path) -> InvalidInputError:
    return InvalidInputError(
        "there is neither a plan nor a record here",
        where=str(directory),
        remedy="name the --out directory of a bench",
    )
