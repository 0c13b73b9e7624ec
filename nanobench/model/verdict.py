"""The judgement of one run: a pure function of its signals and a ruleset."""

from typing import Literal

from pydantic import Field

from nanobench.model.base import Document
from nanobench.model.plan import Ruleset

Category = Literal[
    "context_window_exceeded",
    "insufficient_context_read",
    "hallucinated_api",
    "wrong_abstraction_layer",
    "partial_fix_only",
    "missing_cross_language_change",
    "unclassified",
]
Label = Literal["Complete Resolution", "Partial Resolution", "Pathfinding Credit", "Zero Signal"]
Level = Literal["1 structural", "1 + 2", "3 process", "4 content"]


class RuleMatch(Document):
    """A rule that holds for a run, with the facts that make it hold."""

    rule: int = Field(ge=1, le=6)
    category: Category | None = Field(description="null: Zero Signal without a category")
    level: Level
    evidence: tuple[str, ...]


class Verdict(Document):
    """Score, category and the way to them (SPEC 6, 7).

    `score` is null exactly when `outcome` is `infrastructure_error`; then `observed_score`
    is the score that the tree would have had, if it was verified.
    """

    ruleset: Ruleset
    outcome: Literal["graded", "infrastructure_error"]
    score: float | None = Field(ge=0, le=1)
    label: Label | None
    solved: bool
    category: Category | None = None
    rule: int | None = None
    level: Level | None = None
    reason: str | None = Field(
        default=None, description="why unclassified, capped, or infrastructure: a fixed word"
    )
    evidence: tuple[str, ...] = ()
    also_matched: tuple[RuleMatch, ...] = ()
    observed_score: float | None = Field(default=None, ge=0, le=1)
    flags: tuple[str, ...] = ()
