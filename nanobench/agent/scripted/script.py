"""A scripted conversation: what the model says at each turn, known before it begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nanobench.model.signals import ErrorClass


@dataclass(frozen=True)
class ToolCall:
    """One call of one of the agent's tools."""

    name: str
    arguments: Mapping[str, str]


@dataclass(frozen=True)
class Act:
    """A turn that calls tools, in this order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class Say:
    """A turn of text only; it ends the agent's work."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True)
class Fault:
    """A turn at which the provider answers with an HTTP error in the OpenAI form."""

    status: int
    message: str
    error_class: ErrorClass
    kind: str = "invalid_request_error"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """A turn whose stream breaks off after this text."""

    text: str


Step = Act | Say | Fault | Cut


@dataclass(frozen=True)
class Script:
    """The turns of the model, at least one; the last one is repeated for ever."""

    steps: tuple[Step, ...]

    def step(self, turn: int) -> Step:
        """What the model does at this turn, counted from 0."""
        return self.steps[min(turn, len(self.steps) - 1)]
