"""The report as a document (`report.json`): a pure function of a plan and its records.

The clock and the machine's paths are left out, so that the same records give the same bytes on
every machine. How long an agent took stands in the record and is kept.
"""

from datetime import date
from typing import Any, Final, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nanobench.model.base import Document, Identifier
from nanobench.model.plan import Cell, Mode, ModelRef, Ruleset
from nanobench.model.signals import TestStatus, Usage
from nanobench.model.verdict import Category, Label, Level
from nanobench.report.breakdown_document import Group, TaskCard
from nanobench.report.measures import Effort, Estimate, Interval

REPORT_SCHEMA_VERSION: Final = "1.0"

CellState = Literal["present", "missing", "infrastructure"]
SectionKind = Literal["models", "sample", "scripted"]
# How a failed run counts in the taxonomy: its category, hinted Zero Signal (rule 2), or a run
# whose tests all pass but that a limit ended (SPEC X10).
# `implementation_error` stands for both categories of level 4 while their audit asks for it (F6).
FailureMode = Category | Literal["zero_signal", "ended_by_limit", "implementation_error"]


class PassK(Document):
    """What `k` tries are worth, without bias; a mean over the tasks that have `k` valid runs."""

    k: PositiveInt
    tasks: PositiveInt
    any_solved: float = Field(description="pass@k: at least one of k runs is solved")
    all_solved: float = Field(description="pass^k: all of k runs are solved")


class Needed(Document):
    """What would show a difference of the pass rate with 80 % probability."""

    difference: float
    runs: PositiveInt | None = Field(
        description="on each side over all tasks, the same tasks run again; null: over 4096"
    )
    tasks: PositiveInt | None = Field(
        default=None, description="run as often as these, tasks like these; null: unknown"
    )


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
    turns: NonNegativeInt | None = Field(default=None, description="replies of the model")
    agent_seconds: NonNegativeFloat | None = Field(default=None, description="the agent alone")
    non_deterministic: bool = False
    possibly_contaminated: bool | None = Field(
        default=None,
        description="the task was merged before the end of the model's training data; null: it is "
        "not known when that was",
    )
    trajectory: Trajectory | None = Field(default=None, description="null: the cell is missing")


class Summary(Document):
    """One model in one mode, over all its tasks. Only valid (graded) runs enter a figure.

    Two questions are kept apart. *Would the same tasks give this again?* The runs vary, the tasks
    are given: `pass_rate_interval`, `mean_score_interval`. *Would tasks like these?* The tasks are
    a sample too: `rate_like_these`, `score_like_these`.
    """

    model: ModelRef
    mode: Mode
    tasks: NonNegativeInt
    compared_tasks: NonNegativeInt = Field(description="whose score may enter a comparison")
    valid_runs: NonNegativeInt
    missing: NonNegativeInt
    infrastructure: NonNegativeInt
    solved: NonNegativeInt = Field(description="valid runs with score 1.0")
    pass_rate: float | None = Field(description="solved / valid_runs; null without valid runs")
    pass_rate_interval: Interval | None = Field(description="Wilson, all valid runs (SPEC S3)")
    rate_like_these: Estimate | None = Field(
        description="mean over tasks of the share solved, Student's t over tasks"
    )
    mean_score: float | None = Field(
        description="mean over tasks of each task's mean over valid runs (SPEC 6)"
    )
    mean_score_interval: Interval | None = Field(description="same tasks, run again")
    score_like_these: Interval | None = Field(description="of `mean_score`, tasks like these")
    strict_rate: float | None = Field(
        description="solved / (valid + missing): a missing run counts as failed"
    )
    worst_rate: float | None = Field(description="if every missing or infrastructure run failed")
    best_rate: float | None = Field(description="if every one of them were solved")
    pass_k: tuple[PassK, ...] = Field(description="for k from 1 to 5, where a task has k runs")
    detectable_drop: float | None = Field(
        description="smallest drop of the pass rate that a second result of as many runs shows "
        "with 80 % probability; null if none"
    )
    needed: tuple[Needed, ...] = Field(description="to show drops of 10 and 20 points")
    non_deterministic: NonNegativeInt = Field(description="valid runs so flagged")
    possibly_contaminated: NonNegativeInt = Field(description="valid runs so marked")
    dated_runs: NonNegativeInt = Field(description="valid runs that could be so marked")
    effort: Effort


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
    pass_rate_interval: Interval | None = Field(description="Wilson, same task, run again")
    mean_score: float | None
    mean_score_interval: Interval | None = Field(description="same task, run again")
    pass_k: tuple[PassK, ...]
    not_compared: str | None = Field(
        description="why its score is shown but enters no comparison (SPEC S1); null if it does"
    )
    failure_modes: dict[FailureMode, PositiveInt]


class Taxonomy(Document):
    """How the failed runs are distributed (SPEC 7)."""

    failed: NonNegativeInt = Field(description="valid runs that are not solved")
    counts: dict[FailureMode, NonNegativeInt]
    shares: dict[FailureMode, Estimate] = Field(description="of failed runs; empty without any")
    levels: dict[Level, PositiveInt] = Field(description="failed runs by confidence level")
    coverage: float | None = Field(
        description="share of failed runs that are not `unclassified`; null without failed runs"
    )


class Navigation(Document):
    """How much of one model's failure is pathfinding (SPEC S5): tasks run in both modes.

    `navigation` + `delta` + `implementation` = 1: solved alone, gained by naming the files, and
    unsolved although they are named.
    """

    model: ModelRef
    tasks: PositiveInt
    hinted: Estimate
    navigation: Estimate
    delta: Estimate = Field(description="pathfinding: hinted - navigation, same tasks run again")
    delta_like_these: Estimate
    implementation: Estimate = Field(description="1 - hinted, tasks like these")
    excluded: dict[str, str] = Field(description="tasks left out, and why")


class Section(Document):
    """Results that may be read side by side.

    `models`: real models on the dataset. `scripted`: the built-in models that behave instead
    of thinking. `sample`: real models on the built-in sample task.
    """

    kind: SectionKind
    summaries: tuple[Summary, ...]
    tasks: tuple[TaskResult, ...]
    taxonomy: Taxonomy
    navigation: tuple[Navigation, ...]
    groups: tuple[Group, ...] = Field(description="by dimension, value, mode and model")


class Report(Document):
    """All results of some cells."""

    schema_version: Literal["1.0"] = REPORT_SCHEMA_VERSION
    rulesets: tuple[Ruleset, ...]
    datasets: tuple[str, ...] = Field(description="`sample`, or versions of the dataset")
    provenance: dict[str, Any] = Field(
        description="the record's provenance as far as all records share it"
    )
    tasks: tuple[TaskCard, ...]
    model_cutoffs: dict[str, date] = Field(
        description="last day of the training data by provider/model, as stated"
    )
    sections: tuple[Section, ...]
    cells: tuple[Row, ...]
    notes: tuple[str, ...] = Field(description="what limits the reading of these results")
    problems: tuple[str, ...] = Field(description="files that could not be used, by name")

    def to_json(self) -> str:
        """ASCII with an indent of one blank and a final newline; fields in the schema's order.

        Not sorted: of many runs that takes longer than all else.
        """
        return self.model_dump_json(indent=1, ensure_ascii=True) + "\n"

    def in_state(self, state: CellState) -> tuple[Row, ...]:
        """The cells in a state."""
        return tuple(row for row in self.cells if row.state == state)
