"""What to run: the plan and its cells."""

import hashlib
import re
from datetime import date
from typing import Final, Literal, Self

from pydantic import AwareDatetime, Field, PositiveFloat, PositiveInt, model_validator

from nanobench.model.base import Document, Identifier, NonEmpty, Sha256

PLAN_SCHEMA_VERSION: Final = "1.0"
Mode = Literal["hinted", "navigation"]
Ruleset = Literal["1.0", "1.1"]
DEFAULT_RULESET: Ruleset = "1.1"


class ModelRef(Document):
    """A model of a provider, written `provider/model`; the first slash divides."""

    provider: NonEmpty
    model: NonEmpty

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `provider/model`.

        Raises:
            ValueError: there is no slash, or one side is empty.
        """
        provider, slash, model = text.partition("/")
        if not (slash and provider and model):
            raise ValueError(f"{text!r} is not of the form provider/model")
        return cls(provider=provider, model=model)

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


class Cell(Document):
    """One run: provider, model, task, mode and run number (from 1)."""

    model: ModelRef
    task_id: Identifier
    mode: Mode
    run: PositiveInt

    @property
    def cell_id(self) -> str:
        """A name that is unique in a plan and safe in file and artifact names."""
        key = f"{self.model}\0{self.task_id}\0{self.mode}\0{self.run}"
        readable = f"{self.model}--{self.task_id}--{self.mode}--r{self.run}"
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", readable)[:100].strip("-.")
        return f"{slug}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"


class Limits(Document):
    """What ends an agent; seconds of wall-clock, turns, and the context size in tokens."""

    agent_seconds: PositiveFloat = 1800.0
    max_turns: PositiveInt = 200
    context_tokens: PositiveInt = 128_000
    attempts: PositiveInt = Field(default=3, description="of one cell, over all resumes")
    max_requests: PositiveInt | None = Field(default=None, description="to the provider, per cell")
    max_tokens: PositiveInt | None = Field(default=None, description="read and written, per cell")
    max_cost: PositiveFloat | None = Field(
        default=None,
        allow_inf_nan=False,
        description="US dollars, of all cells that one command runs",
    )


class AgentSettings(Document):
    """Every departure from Nanocoder's defaults, and its version."""

    nanocoder: NonEmpty = "1.30.0"
    tune: dict[str, bool | int | float | str] = {}
    disabled_tools: tuple[str, ...] = ()
    gateway: Literal["on", "off"] = Field(
        default="on", description="a proxy between agent and provider: pins, retries, counts"
    )


class TaskFacts(Document):
    """What of a task file results are divided by, so that a report needs no dataset."""

    languages: tuple[NonEmpty, ...]
    domain: NonEmpty
    task_type: NonEmpty
    reasoning_category: NonEmpty
    token_estimate: PositiveInt
    merged_at: AwareDatetime


class PlanTask(Document):
    """A task of the plan, with the hash of its file so that the same task runs everywhere."""

    task_id: Identifier
    origin: Literal["dataset", "sample"]
    sha256: Sha256
    tier: int | None = Field(default=None, ge=1, le=4, description="null: written by an older plan")
    facts: TaskFacts | None = Field(default=None, description="null: written by an older plan")


class Plan(Document):
    """Cells in the order in which they start, and what holds for all of them."""

    schema_version: Literal["1.0"] = PLAN_SCHEMA_VERSION
    tasks: tuple[PlanTask, ...]
    cells: tuple[Cell, ...]
    ruleset: Ruleset = DEFAULT_RULESET
    agent: AgentSettings = AgentSettings()
    limits: Limits = Limits()
    model_cutoffs: dict[str, date] = Field(
        default={},
        description="last day of the training data by provider/model, as stated by who planned",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [cell.cell_id for cell in self.cells]
        if len(set(ids)) != len(ids):
            raise ValueError("the plan names one cell twice")
        known = {task.task_id for task in self.tasks}
        missing = {cell.task_id for cell in self.cells} - known
        if missing:
            raise ValueError(f"cells name tasks that the plan lacks: {sorted(missing)}")
        return self
