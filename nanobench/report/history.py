"""Results over time: one entry per model and mode of a bench, made from its records alone."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from pydantic import AwareDatetime, Field, NonNegativeInt, PositiveInt

from nanobench.errors import InvalidInputError
from nanobench.model.base import Document, NonEmpty, Sha256
from nanobench.model.plan import Mode, ModelRef, Ruleset
from nanobench.report.document import Section, SectionKind, Summary
from nanobench.report.measures import Interval
from nanobench.report.pairing import Results

HISTORY_SCHEMA_VERSION: Final = "1.0"


class HistoryEntry(Document):
    """One line of a history.

    An entry with the same `bench`, model and mode as an earlier one takes its place: more of its
    cells have been run since.
    """

    schema_version: Literal["1.0"] = HISTORY_SCHEMA_VERSION
    bench: Sha256 = Field(description="of `began`, the versions, and the ids of all its cells")
    section: SectionKind
    model: ModelRef
    mode: Mode
    nanocoder: NonEmpty
    dataset: NonEmpty
    ruleset: Ruleset
    began: AwareDatetime = Field(description="when the first graded run of the bench was started")
    task_set: Sha256 = Field(description="of the ids of its tasks: only equal ones compare")
    tasks: PositiveInt
    valid_runs: PositiveInt
    missing: NonNegativeInt
    infrastructure: NonNegativeInt
    solved: NonNegativeInt
    pass_rate: float
    pass_rate_interval: Interval
    mean_score: float
    mean_score_interval: Interval

    @property
    def key(self) -> tuple[str, str, str]:
        """What a later entry must share to take the place of this one."""
        return self.bench, str(self.model), self.mode


def entries_of(results: Results) -> list[HistoryEntry]:
    """The entries of all models that have graded runs.

    Raises:
        InvalidInputError: results of several versions of Nanocoder, the dataset or the ruleset
            stand together, or no run is graded.
    """
    found = [entry for section in results.report.sections for entry in _of(section, results)]
    if not found:
        raise InvalidInputError(
            "no run is graded here: there is nothing to remember",
            where=results.name,
            remedy="run the bench first",
        )
    return found


def _of(section: Section, results: Results) -> Iterator[HistoryEntry]:
    cells = [row for row in results.report.cells if row.section == section.kind]
    graded = [row.cell_id for row in cells if row.state == "present"]
    if not graded:
        return
    under = [results.circumstances[r.cell_id] for r in cells if r.cell_id in results.circumstances]
    versions = (
        _only("versions of Nanocoder", {one.provenance.nanocoder for one in under}, results.name),
        _only("versions of the dataset", {one.provenance.dataset for one in under}, results.name),
        _only("rulesets", {one.ruleset for one in under}, results.name),
    )
    began = min(results.records[cell_id].timing.started_at for cell_id in graded)
    bench = _digest([began.isoformat(), *versions, *sorted(row.cell_id for row in cells)])
    for summary in section.summaries:
        if not summary.valid_runs:
            continue
        own = [r for r in cells if (r.cell.model, r.cell.mode) == (summary.model, summary.mode)]
        yield HistoryEntry(
            bench=bench,
            section=section.kind,
            nanocoder=versions[0],
            dataset=versions[1],
            ruleset=versions[2],
            began=began,
            task_set=_digest(sorted({row.cell.task_id for row in own})),
            **_figures(summary),
        )


_SHARED = (
    "model",
    "mode",
    "tasks",
    "valid_runs",
    "missing",
    "infrastructure",
    "solved",
    "pass_rate",
    "pass_rate_interval",
    "mean_score",
    "mean_score_interval",
)


def _figures(summary: Summary) -> dict[str, object]:
    return {name: getattr(summary, name) for name in _SHARED}


def _only(what: str, values: set[str], where: str) -> str:
    if len(values) > 1:
        raise InvalidInputError(
            f"results of several {what} stand together: {', '.join(sorted(values))}",
            where=where,
            remedy="add them one after the other",
        )
    return next(iter(values))


def _digest(names: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(names).encode()).hexdigest()
