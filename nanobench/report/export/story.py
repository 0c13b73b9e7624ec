"""What an agent was asked, did and said, as formats of other tools tell it."""

from dataclasses import dataclass
from typing import Any

from nanobench.model.record import Record
from nanobench.model.report import ToolCall
from nanobench.model.text import clean_json
from nanobench.report.attempts import Attempt

_PROMPT_LIMIT = 1024 * 1024
# Nanocoder's report lists calls and not replies.
CALLS_NOTE = "which calls came in one reply of the model is not known: each stands alone"


@dataclass(frozen=True)
class Call:
    """A call of a tool: its number in the run from 1, its arguments, and what came of it."""

    number: int
    name: str
    arguments: dict[str, Any]
    result: str
    failed: bool

    @property
    def call_id(self) -> str:
        """Unique in the run."""
        return f"call-{self.number}"


@dataclass(frozen=True)
class Story:
    """One run; text is empty where nothing was kept."""

    record: Record
    prompt: str
    calls: tuple[Call, ...]
    answer: str


def story(attempt: Attempt) -> Story:
    """The story of an attempt, as far as its files tell it."""
    record, report, prompt = attempt.record, attempt.report(), attempt.prompt(_PROMPT_LIMIT)
    told = report.final_text if report else record.signals.agent.final_text_tail
    calls = enumerate(report.tool_calls if report else (), 1)
    return Story(
        record=record,
        prompt=prompt.text if prompt else "",
        calls=tuple(_call(number, call) for number, call in calls),
        answer=told,
    )


def _call(number: int, call: ToolCall) -> Call:
    arguments = call.arguments
    return Call(
        number=number,
        name=call.name,
        arguments=clean_json(arguments if isinstance(arguments, dict) else {"raw": arguments}),
        result=call.error if call.error is not None else call.result or "",
        failed=call.error is not None,
    )
