"""Results divided by what the tasks are, as documents of the report."""

from typing import Final, Literal

from pydantic import Field, NonNegativeInt

from nanobench.model.base import Document, Identifier
from nanobench.model.plan import Mode, ModelRef, TaskFacts
from nanobench.report.measures import Effort, Interval

UNKNOWN: Final = "unknown"
Dimension = Literal[
    "provider",
    "model",
    "mode",
    "tier",
    "task_type",
    "reasoning_category",
    "language",
    "domain",
    "token_density",
]
# Of the task's estimate, with the edges of the repository matrix (SPEC R0).
TokenDensity = Literal["under 20k", "20k to 50k", "50k to 80k", "over 80k"]


class TaskCard(Document):
    """What is known of a task beside its results."""

    task_id: Identifier
    tier: int | None
    facts: TaskFacts | None = Field(description="null: there is no plan, or it is an older one")
    token_density: TokenDensity | None


class Group(Document):
    """The runs of one mode that share a value of a dimension.

    A task of several languages stands in the group of each. What is not known of a task is the
    value `unknown`.
    """

    dimension: Dimension
    value: str
    mode: Mode
    model: ModelRef | None = Field(description="null: all models; others only if there are several")
    tasks: NonNegativeInt
    valid_runs: NonNegativeInt
    missing: NonNegativeInt
    infrastructure: NonNegativeInt
    solved: NonNegativeInt
    pass_rate: float | None = Field(description="solved / valid_runs; null without valid runs")
    pass_rate_interval: Interval | None = Field(description="Wilson: same tasks, run again")
    mean_score: float | None = Field(description="mean over pairs of model and task")
    non_deterministic: NonNegativeInt = Field(description="valid runs so flagged")
    possibly_contaminated: NonNegativeInt = Field(description="valid runs so marked")
    dated_runs: NonNegativeInt = Field(description="valid runs that could be so marked")
    effort: Effort
