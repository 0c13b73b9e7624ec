"""What the gates found of submitted task files (SPEC 11): data that passes between jobs.

A job without any privilege writes it, a privileged one reads it: to the reader every text in it is
foreign.
"""

from typing import Final, Literal

from pydantic import Field, PositiveInt

from nanobench.model.base import Document, NonEmpty

GATE_SCHEMA_VERSION: Final = "1.0"
GateName = Literal[
    "schema", "clone", "verification", "flakiness", "contamination", "repository_matrix"
]
GateStatus = Literal["passed", "failed", "not_run"]


class GateProblem(Document):
    """One thing that is wrong, and how to put it right."""

    gate: GateName
    file: str = Field(description="path in the repository")
    field: str | None = Field(default=None, description="of the file; null: the whole file")
    seen: NonEmpty
    remedy: NonEmpty
    severity: Literal["error", "warning"] = "error"


class GateOutcome(Document):
    """What became of one gate; one that was not run has not passed."""

    gate: GateName
    status: GateStatus
    problems: tuple[GateProblem, ...] = ()


class TaskGates(Document):
    """The gates of one task file, or of the registry."""

    task: NonEmpty = Field(description="its id, or the file's name if it tells none")
    gates: tuple[GateOutcome, ...]

    @property
    def passed(self) -> bool:
        """Whether there are gates, and every one of them was run and passed."""
        return bool(self.gates) and all(gate.status == "passed" for gate in self.gates)


class GateResult(Document):
    """All that was gated at once."""

    schema_version: Literal["1.0"] = GATE_SCHEMA_VERSION
    tasks: tuple[TaskGates, ...]
    pull_request: PositiveInt | None = Field(
        default=None, description="that was gated, as the job without privilege says"
    )

    @property
    def passed(self) -> bool:
        """Whether every gate of everything was run and passed; nothing gated is a pass."""
        return all(task.passed for task in self.tasks)
