"""What a report keeps of a record: its row, and under what circumstances it ran.

A record holds several times as much, so that reading many of them one by one and keeping entries
needs little memory. Circumstances are the same for many runs and kept once.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nanobench.model.plan import Ruleset
from nanobench.model.record import Provenance, Record
from nanobench.report.document import Row
from nanobench.report.rows import row_of

# Said of the instrument and not of the run, or of each task on its own.
_ASIDE = {"task_schema", "prices", "departures", "undated_installs"}
Load = Callable[[], Record]


@dataclass(frozen=True, eq=False)
class Circumstances:
    """All that shaped a run beside its cell; compared by identity."""

    provenance: Provenance
    ruleset: Ruleset

    @cached_property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Each setting by its name, with its value in words."""
        told = self.provenance.model_dump(mode="json", exclude=_ASIDE)
        return tuple(_flat(told | {"ruleset": self.ruleset}))


@dataclass(frozen=True, slots=True)
class Entry:
    """An attempt at a cell; `load` gives its record again."""

    row: Row
    under: Circumstances
    load: Load


class Entries:
    """Turns records into entries.

    Args:
        merged_rulesets: as in `build_report`.
    """

    def __init__(self, merged_rulesets: Collection[Ruleset] = ()) -> None:
        self._merged = merged_rulesets
        self._known: dict[tuple[str, Ruleset], Circumstances] = {}

    def of(self, records: Iterable[Record]) -> Iterator[Entry]:
        """The entries of records at hand."""
        return map(self._at_hand, records)

    def entry(self, record: Record, load: Load) -> Entry:
        """The entry of a record that `load` would give again."""
        ruleset = record.verdict.ruleset
        key = record.provenance.model_dump_json(), ruleset
        under = self._known.get(key)
        if under is None:
            under = self._known[key] = Circumstances(record.provenance, ruleset)
        return Entry(row_of(record, self._merged), under, load)

    def _at_hand(self, record: Record) -> Entry:
        return self.entry(record, lambda: record)


class Records(Mapping[str, Record]):
    """The records of entries by cell id, each loaded when it is asked for.

    Raises:
        UnreadableRecordError: a record is no longer what it was when it was read first.
    """

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries

    def __getitem__(self, cell_id: str) -> Record:
        return self._entries[cell_id].load()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def shared_provenance(circumstances: Collection[Circumstances]) -> dict[str, Any]:
    """The fields of the provenance in which all agree, as JSON has them."""
    if not circumstances:
        return {}
    first = next(iter(circumstances)).provenance
    same = {
        name
        for name in Provenance.model_fields
        if all(getattr(c.provenance, name) == getattr(first, name) for c in circumstances)
    }
    found: dict[str, Any] = json.loads(
        json.dumps(first.model_dump(mode="json", include=same), sort_keys=True)
    )
    return found


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, part in value.items():
        if isinstance(part, dict):
            yield from _flat(part, f"{prefix}{name}.")
        elif isinstance(part, list):
            yield prefix + name, ", ".join(map(str, part)) or "none"
        else:
            yield prefix + name, "unknown" if part is None else str(part)
