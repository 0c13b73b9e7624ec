"""Which Level 4 verdicts people look at: seeded, and from every kind there is."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nanobench.model.audit import AuditedCategory
from nanobench.model.plan import Ruleset
from nanobench.model.record import Record
from nanobench.model.signals import Symptom
from nanobench.scoring.case import Case
from nanobench.scoring.content import content_finding
from nanobench.scoring.rulesets import RULESETS

Stratum = tuple[AuditedCategory, str]


@dataclass(frozen=True)
class Candidate:
    """A run with a Level 4 verdict, and the directory of its attempt."""

    record: Record
    directory: Path
    digest: str
    category: AuditedCategory

    @cached_property
    def symptom(self) -> Symptom | None:
        """The error that the verdict rests on; of an older record perhaps only the first one."""
        signals = self.record.signals
        found = content_finding(Case(signals, RULESETS[self.record.verdict.ruleset]))
        return found.symptom if found else next(iter(signals.verification.symptoms), None)

    @property
    def language(self) -> str:
        """Of this error."""
        return self.symptom.language if self.symptom else "unknown"

    @property
    def stratum(self) -> Stratum:
        """What a sample must not leave out: each category in each language."""
        return (self.category, self.language)


def candidates(records: Iterable[tuple[Path, Record]], ruleset: Ruleset) -> list[Candidate]:
    """The runs whose verdict under `ruleset` is of Level 4: of each cell the last graded attempt.

    Args:
        records: of every attempt, with the path of its record file.
        ruleset: verdicts under another one are left out.
    """
    last: dict[Path, tuple[int, Path, Record]] = {}
    for path, record in records:
        home = path.parent.parent
        if record.verdict.outcome == "graded" and record.attempt > last.get(home, (0,))[0]:
            last[home] = (record.attempt, path, record)
    found: dict[str, Candidate] = {}
    for _, path, record in last.values():
        category = record.verdict.category
        if record.verdict.ruleset != ruleset:
            continue
        if category == "hallucinated_api" or category == "wrong_abstraction_layer":
            digest = record.digest()
            found[digest] = Candidate(record, path.parent, digest, category)
    return [found[digest] for digest in sorted(found)]


def draw(found: Sequence[Candidate], size: int, seed: str) -> list[Candidate]:
    """At most `size` of them, each stratum by its share but never left out while there is room.

    Within a stratum the order is that of a hash with the seed, so that the same records give
    the same sample wherever they lie.
    """
    strata: dict[Stratum, list[Candidate]] = defaultdict(list)
    for one in sorted(found, key=lambda one: keyed(seed, one.digest)):
        strata[one.stratum].append(one)
    shares = _allocate({name: len(members) for name, members in strata.items()}, size)
    return [one for name in sorted(strata) for one in strata[name][: shares[name]]]


def keyed(seed: str, text: str) -> str:
    """A hash that nobody foresees who does not know the seed."""
    return hashlib.sha256(f"{seed}\0{text}".encode()).hexdigest()


def _allocate(sizes: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """One for each stratum, the largest first, then one at a time to the one furthest behind."""
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    given = {name: int(place < size) for place, name in enumerate(ordered)}
    while sum(given.values()) < min(size, sum(sizes.values())):
        open_ones = [name for name in ordered if given[name] < sizes[name]]
        given[max(open_ones, key=lambda name: sizes[name] / given[name])] += 1
    return given
