"""What a look at the active tasks found: which ones a person should think of retiring (SPEC H6)."""

from typing import Final, Literal

from pydantic import Field

from nanobench.model.base import Document, Identifier, NonEmpty

HEALTH_SCHEMA_VERSION: Final = "1.0"


class Proposal(Document):
    """A task that should be retired; nothing retires it but a person."""

    task_id: Identifier
    reason: Literal["flaky", "history_rewritten", "other"] = Field(
        description="as `status.reason` of a retired task"
    )
    seen: tuple[NonEmpty, ...]


class Unchecked(Document):
    """A task that could not be looked at, which says nothing about it."""

    task_id: Identifier
    because: NonEmpty


class Health(Document):
    """All that was looked at."""

    schema_version: Literal["1.0"] = HEALTH_SCHEMA_VERSION
    healthy: tuple[Identifier, ...]
    proposals: tuple[Proposal, ...]
    unchecked: tuple[Unchecked, ...]
