"""What a dialect is: where things sit in its requests, replies and errors."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nanobench.agent.gateway.dialects.errors import ErrorTable
from nanobench.model.signals import ErrorClass

Place = tuple[str, ...]
"""The keys that lead to a value of a JSON document."""

Document = dict[str, Any]
_MOST = 1e12  # of tokens or dollars; whoever tells of more tells nonsense


@dataclass
class Reading:
    """What a reply told so far; null until it did.

    Attributes:
        model: that answered.
        input_tokens: cached ones included.
        output_tokens: reasoning included.
        cached_tokens: of the input.
        reasoning_tokens: of the output.
        finish_reason: in the provider's words.
        cost: in US dollars, where the provider tells it.
        output: the model has said something.
        finished: the reply is complete, whatever comes after.
        error: the document that tells of an error.
    """

    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    finish_reason: str | None = None
    cost: float | None = None
    output: bool = False
    finished: bool = False
    error: Any = None


@dataclass(frozen=True)
class ErrorText:
    """An error as an agent is to be told it: its class, the provider's code, and a message."""

    error_class: ErrorClass
    code: str | None
    message: str


@dataclass(frozen=True)
class Dialect:
    """One dialect, by tables and small functions.

    Attributes:
        name: as records say it.
        route: what the path after the base URL ends in.
        framing: of a streamed reply.
        temperature: its place in a request.
        seed: likewise; null where the dialect has none.
        usage_switch: its place, where usage in streams must be asked for.
        errors: codes and phrases.
        finishes: what the finish reasons mean that are no success.
        telling: one of these is found in every event that tells more than another piece of
            output; other events need not be decoded once there was output. Patterns apart, each
            with its literal beginning, are found ten times faster than one with alternatives.
        last: what a complete stream ends in, whatever came before; null where its last event has
            no form of its own.
        model: the model that a request (route, document) names.
        streams: whether a request (route, document) asks for a stream.
        tools: names of the tools that a request offers.
        read_document: takes note of a whole reply.
        read_event: takes note of one event of a stream.
        error_body: the body of an HTTP error.
        error_event: the event that ends a stream with an error.
    """

    name: str
    route: re.Pattern[str]
    framing: Literal["sse", "ndjson"]
    temperature: Place
    seed: Place | None
    usage_switch: Place | None
    errors: ErrorTable
    finishes: Mapping[str, ErrorClass]
    telling: tuple[re.Pattern[bytes], ...]
    last: re.Pattern[bytes] | None
    model: Callable[[str, Document], str | None]
    streams: Callable[[str, Document], bool]
    tools: Callable[[Document], tuple[str, ...]]
    read_document: Callable[[Document, Reading], None]
    read_event: Callable[[Document, Reading], None]
    error_body: Callable[[ErrorText], Document]
    error_event: Callable[[ErrorText], bytes]


def text(value: Any) -> str | None:
    """A non-empty string, else null."""
    return value if isinstance(value, str) and value else None


def count(value: Any) -> int | None:
    """A number of tokens, else null: an absent count is unknown, not 0."""
    found = number(value)
    return found if isinstance(found, int) else None


def number(value: Any) -> float | None:
    """A number that is not negative, else null."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value < _MOST else None


def total(*values: Any) -> int | None:
    """The sum of the counts that are there; null when none is."""
    counts = [found for found in map(count, values) if found is not None]
    return sum(counts) if counts else None


def inner(document: Any, *keys: str) -> Document:
    """The object at a place; empty when there is none."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def objects(value: Any) -> list[Document]:
    """The objects of a list; empty when it is none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def named(listed: list[Document]) -> tuple[str, ...]:
    """The names of tool descriptions."""
    return tuple(name for tool in listed if (name := text(tool.get("name"))))


def body_model(route: str, document: Document) -> str | None:
    """The model, where the body names it."""
    return text(document.get("model"))


def body_streams(route: str, document: Document) -> bool:
    """Whether the body asks for a stream."""
    return document.get("stream") is True
