"""The comparison of two results as a document (`comparison.json`)."""

from typing import Final, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from nanobench.model.base import Document, Identifier
from nanobench.model.plan import Mode, ModelRef
from nanobench.report.document import FailureMode, Needed, Taxonomy
from nanobench.report.measures import Estimate
from nanobench.stats.compare import Finding

COMPARISON_SCHEMA_VERSION: Final = "1.0"
UNEVEN: Final = (
    "tasks were run in other proportions before than after, which moves the rates; "
    "the change within tasks counts"
)
Verdict = Finding | Literal["not comparable"]
Label = FailureMode | Literal["solved"]


class Side(Document):
    """One of the two results: what was planned, and what became of it."""

    name: str
    cells: NonNegativeInt
    present: NonNegativeInt
    missing: tuple[str, ...] = Field(description="cells, by id")
    infrastructure: tuple[str, ...] = Field(description="cells, by id")
    rulesets: tuple[str, ...]
    datasets: tuple[str, ...]
    problems: tuple[str, ...]


class Varied(Document):
    """A setting that differs between the runs compared (SPEC O4)."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class TaskChange(Document):
    """One task of one model in one mode; `excluded` tasks enter no other figure."""

    model: ModelRef
    mode: Mode
    task_id: Identifier
    solved_before: NonNegativeInt
    runs_before: NonNegativeInt
    solved_after: NonNegativeInt
    runs_after: NonNegativeInt
    p: float | None = Field(description="Fisher's exact test; null if excluded")
    p_adjusted: float | None = Field(
        description="after Holm over the tasks of this comparison: at most 0.05 is a claim"
    )
    excluded: str | None = Field(description="why it is not compared")


class Move(Document):
    """Runs whose label went from one to another, within tasks."""

    before: Label
    after: Label
    runs: PositiveInt


class Shift(Document):
    """How failures moved: the compared runs before and after."""

    before: Taxonomy
    after: Taxonomy
    moves: tuple[Move, ...]


class Change(Document):
    """One model in one mode, or all models of one mode (`model` is null).

    The verdict rests on the Wilson intervals of `before` and `after` (SPEC S3), and on that of
    `same_tasks`; all else stands beside it. Every figure is null when nothing could be compared.
    """

    model: ModelRef | None
    mode: Mode
    verdict: Verdict
    reasons: tuple[str, ...] = Field(description="why tasks, or all of it, are not compared")
    compared: NonNegativeInt = Field(description="tasks, or pairs of model and task")
    excluded: NonNegativeInt
    before: Estimate | None = Field(default=None, description="solved / runs, same tasks again")
    after: Estimate | None = None
    same_tasks: Estimate | None = Field(
        default=None, description="mean change over tasks, if the same tasks were run again"
    )
    tasks_like_these: Estimate | None = Field(
        default=None, description="mean change over tasks, for other tasks of the kind"
    )
    p: float | None = Field(default=None, description="of 'no task changed': exact, within tasks")
    detectable_drop: float | None = Field(
        default=None, description="smallest true drop shown with 80 % probability; null if none"
    )
    detectable_rise: float | None = None
    needed: tuple[Needed, ...] = ()
    uneven: bool = Field(
        default=False,
        description="tasks were run in other proportions before than after: `before` and `after` "
        "weigh them differently, `same_tasks` does not",
    )
    shift: Shift | None = None

    @property
    def caution(self) -> str | None:
        """Why the two rates say little of the change; null if they may be held side by side."""
        return UNEVEN if self.uneven else None


class Comparison(Document):
    """Two results, paired by provider, model, task and mode."""

    schema_version: Literal["1.0"] = COMPARISON_SCHEMA_VERSION
    verdict: Verdict = Field(
        description="a regression if any change is one; else an improvement, noise, or nothing"
    )
    before: Side
    after: Side
    overall: tuple[Change, ...] = Field(description="one per mode, over several models")
    changes: tuple[Change, ...] = Field(description="one per model and mode")
    tasks: tuple[TaskChange, ...]
    held: dict[str, str] = Field(description="settings that all runs compared share")
    varied: tuple[Varied, ...]
    notes: tuple[str, ...]
