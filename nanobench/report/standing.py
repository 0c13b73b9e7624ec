"""Which of several records of one cell stands (SPEC X13)."""

from collections.abc import Iterable
from typing import Any

from nanobench.model.record import Record


def standing(records: Iterable[Record]) -> tuple[dict[str, Record], list[str]]:
    """The record that stands for each cell, by cell id, and notes on contradicting ones."""
    found: dict[str, Record] = {}
    disputed: dict[str, int] = {}
    for record in records:
        cell_id = record.cell.cell_id
        other = found.setdefault(cell_id, record)
        if record.attempt == other.attempt and record != other:
            disputed[cell_id] = record.attempt
            found[cell_id] = min(record, other, key=_age)
        elif record.attempt > other.attempt:
            found[cell_id] = record
    notes = [
        f"{cell_id}: different records of attempt {attempt}; the one started first stands"
        for cell_id, attempt in disputed.items()
        if found[cell_id].attempt == attempt
    ]
    return found, notes


def _age(record: Record) -> tuple[Any, ...]:
    return record.timing.started_at, record.digest()
