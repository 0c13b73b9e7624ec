"""Which of several attempts at one cell stands (SPEC X13)."""

from collections.abc import Iterable
from typing import Any

from nanobench.model.record import Record
from nanobench.report.entries import Entries, Entry, Records


def standing(records: Iterable[Record]) -> tuple[dict[str, Record], list[str]]:
    """The record that stands for each cell, by cell id, and notes on contradicting ones."""
    found, notes = standing_entries(Entries().of(records))
    return dict(Records(found)), notes


def standing_entries(entries: Iterable[Entry]) -> tuple[dict[str, Entry], list[str]]:
    """As `standing`."""
    found: dict[str, Entry] = {}
    disputed: dict[str, int] = {}
    for entry in entries:
        cell_id, attempt = entry.row.cell_id, entry.row.attempt or 0
        other = found.setdefault(cell_id, entry)
        highest = other.row.attempt or 0
        if attempt > highest:
            found[cell_id] = entry
        elif attempt == highest and entry is not other and entry.load() != other.load():
            disputed[cell_id] = attempt
            found[cell_id] = min(entry, other, key=_age)
    notes = [
        f"{cell_id}: different records of attempt {attempt}; the one started first stands"
        for cell_id, attempt in disputed.items()
        if found[cell_id].row.attempt == attempt
    ]
    return found, notes


def _age(entry: Entry) -> tuple[Any, ...]:
    record = entry.load()
    return record.timing.started_at, record.digest()
