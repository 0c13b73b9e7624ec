"""What figures of the report's documents are made of: intervals, estimates, amounts."""

from pydantic import NonNegativeFloat, PositiveInt

from nanobench.model.base import Document


class Interval(Document):
    """A 95 % confidence interval."""

    low: float
    high: float


class Estimate(Document):
    """A value with its 95 % confidence interval."""

    value: float
    low: float
    high: float


class Amount(Document):
    """What graded runs used of something; `runs` are those of which it is known."""

    total: NonNegativeFloat
    mean: NonNegativeFloat
    runs: PositiveInt


class Effort(Document):
    """What graded runs cost; null where it is known of none."""

    input_tokens: Amount | None = None
    output_tokens: Amount | None = None
    cost: Amount | None = None
    turns: Amount | None = None
    agent_seconds: Amount | None = None
    files_read: Amount | None = None
    files_edited: Amount | None = None
