"""The report as a document (`report.json`): a pure function of a plan and its records.

Times, durations and paths of the machine are left out, so that the same records give the same
bytes on every machine.
"""

from typing import Any, Final, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from nanobench.model.base import Document, Identifier
from nanobench.model.plan import Cell, Mode, ModelRef, Ruleset
from nanobench.model.signals import TestStatus, Usage
from nanobench.model.verdict import Category, Label, Level

REPORT_SCHEMA_VERSION: Final = "1.0"

CellState = Literal["present", "missing", "infrastructure"]
SectionKind = Literal["models", "sample", "scripted"]
# How a failed run counts in the taxonomy: its category, hinted Zero Signal (rule 2), or a run
# whose tests all pass but that a limit ended (SPEC X10).
FailureMode = Category | Literal["zero_signal", "ended_by_limit"]


class Trajectory(Document):
    """How a run went about it (SPEC O3): counts; what they were stands in the record.

    `harness` and `model` are the evidence apart (SPEC O4). Null is unknown: there was no report.
    """

    known: bool = Field(description="whether there was a report of the agent's calls")
    calls: NonNegativeInt
    files_read: NonNegativeInt
    required_read: NonNegativeInt
    required_files: NonNegativeInt
    rereads: NonNegativeInt
    loops: NonNegativeInt
    unverified_claim: bool
    used: tuple[str, ...] = Field(description="vision, ocr, web, browser, shell only")
    network_attempts: NonNegativeInt
    history_attempts: NonNegativeInt
    pollution: NonNegativeInt
    unreported_edits: NonNegativeInt | None = Field(description="in the diff, not in the report")
    unobserved_edits: NonNegativeInt | None = Field(description="in the report, not in the diff")
    harness: tuple[str, ...]
    model: tuple[str, ...]


class Row(Document):
    """One cell: what its standing attempt came to, or that it has none."""

    cell: Cell
    cell_id: str
    section: SectionKind
    state: CellState
    attempt: PositiveInt | None = None
    score: float | None = None
    label: Label | None = None
    solved: bool = False
    category: Category | None = None
    failure_mode: FailureMode | None = Field(
        default=None, description="null for solved, missing and infrastructure"
    )
    rule: int | None = None
    level: Level | None = None
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    also_matched: tuple[int, ...] = Field(default=(), description="rules; they change nothing")
    flags: tuple[str, ...] = ()
    infrastructure: tuple[str, ...] = Field(default=(), description="each a cause and its place")
    observed_score: float | None = Field(
        default=None, description="of an infrastructure cell: what its tree would have scored"
    )
    targets_passed: NonNegativeInt = 0
    targets: NonNegativeInt = 0
    regressions: NonNegativeInt = 0
    counts: dict[TestStatus, NonNegativeInt] = Field(default={}, description="all tests run")
    edited: NonNegativeInt = Field(default=0, description="paths in the authoritative set")
    edits: tuple[str, ...] = Field(default=(), description="the first 50 of these paths")
    required_edited: tuple[str, ...] = ()
    usage: Usage = Usage()
    non_deterministic: bool = False
    trajectory: Trajectory | None = Field(default=None, description="null: the cell is missing")


class Summary(Document):
    """One model in one mode, over all its tasks. Only valid (graded) runs enter a figure."""

    model: ModelRef
    mode: Mode
    tasks: NonNegativeInt
    valid_runs: NonNegativeInt
    missing: NonNegativeInt
    infrastructure: NonNegativeInt
    solved: NonNegativeInt = Field(description="valid runs with score 1.0")
    pass_rate: float | None = Field(description="solved / valid_runs; null without valid runs")
    pass_rate_interval: None = Field(
        default=None,
        description="place of the 95 % Wilson interval of pass_rate (SPEC S3): not computed yet",
    )
    mean_score: float | None = Field(
        description="mean over tasks of each task's mean over valid runs (SPEC 6)"
    )


class TaskResult(Document):
    """One model on one task in one mode (SPEC S2)."""

    model: ModelRef
    mode: Mode
    task_id: Identifier
    valid_runs: NonNegativeInt
    missing: NonNegativeInt
    infrastructure: NonNegativeInt
    solved: NonNegativeInt
    raw_count: str = Field(description="solved/valid runs, e.g. `3/5`")
    pass_at_1: bool | None = Field(
        description="whether the lowest-numbered valid run is solved; null without one"
    )
    mean_score: float | None
    failure_modes: dict[FailureMode, PositiveInt]


class Taxonomy(Document):
    """How the failed runs are distributed (SPEC 7)."""

    failed: NonNegativeInt = Field(description="valid runs that are not solved")
    counts: dict[FailureMode, NonNegativeInt]
    coverage: float | None = Field(
        description="share of failed runs that are not `unclassified`; null without failed runs"
    )


class Section(Document):
    """Results that may be read side by side.

    `models`: real models on the dataset. `scripted`: the built-in models that behave instead
    of thinking. `sample`: real models on the built-in sample task.
    """

    kind: SectionKind
    summaries: tuple[Summary, ...]
    tasks: tuple[TaskResult, ...]
    taxonomy: Taxonomy


class Report(Document):
    """All results of some cells."""

    schema_version: Literal["1.0"] = REPORT_SCHEMA_VERSION
    rulesets: tuple[Ruleset, ...]
    datasets: tuple[str, ...] = Field(description="`sample`, or versions of the dataset")
    provenance: dict[str, Any] = Field(
        description="the record's provenance as far as all records share it"
    )
    sections: tuple[Section, ...]
    cells: tuple[Row, ...]
    notes: tuple[str, ...] = Field(description="what limits the reading of these results")
    problems: tuple[str, ...] = Field(description="files that could not be used, by name")

    def in_state(self, state: CellState) -> tuple[Row, ...]:
        """The cells in a state."""
        return tuple(row for row in self.cells if row.state == state)
