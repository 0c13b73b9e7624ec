"""What a gateway or the scripted server saw of one HTTP request of the agent."""

from dataclasses import dataclass
from typing import Literal

from nanobench.model.signals import ErrorClass

TemperatureState = Literal["pinned", "refused", "ignored", "unknown"]


@dataclass(frozen=True)
class Attempt:
    """One try at the provider that was not passed on to the agent.

    Attributes:
        status: HTTP status; null when no reply came.
        error_class: what was wrong with it.
        retry_after_seconds: what the provider asked for; null when it did not.
        waited_seconds: before the next try.
    """

    status: int | None
    error_class: ErrorClass | None
    retry_after_seconds: float | None = None
    waited_seconds: float = 0.0


@dataclass(frozen=True)
class Exchange:
    """One request of the agent and its reply, in the order in which the requests came.

    Never a body, never a key. Null is unknown: a count that the provider did not give is not 0.

    Attributes:
        status: HTTP status that the provider gave last; null when no reply came.
        error_class: what was wrong with the last reply; null for a good one.
        input_tokens: all that the model read, cached ones included, as the provider counted.
        output_tokens: all that it wrote, reasoning included.
        finish_reason: the provider's word (`stop`, `tool_calls`, `length`, ...).
        temperature: as sent; null when the request carried none.
        tools: names of the tools offered to the model; null when the body was not understood.
        index: position among the requests of the run, from 0.
        method: of the request.
        route: path after the base URL, without keys.
        dialect: name of the dialect it was read in, or `unknown`.
        answered: HTTP status that the agent got; null when it left before.
        error_code: the provider's own code for the error.
        attempts: the tries that the gateway absorbed before the last one.
        first_byte_seconds: from the request to the first byte that the agent got.
        total_seconds: from the request to the end of the reply.
        cached_tokens: of the input, read from a cache.
        reasoning_tokens: of the output.
        temperature_asked: what the agent asked for.
        temperature_state: whether the provider takes the pinned temperature.
        seed: as sent; null when the request carried none.
        model_asked: the model that the request names.
        model_answered: the model that the reply names.
        request_bytes: of the body as the agent sent it.
        response_bytes: of the body as the agent got it.
        cost: in US dollars; null when no price is known.
        replayed: served from a cassette.
        client_left: the agent went away before the reply was complete.
    """

    status: int | None
    error_class: ErrorClass | None
    input_tokens: int | None
    output_tokens: int | None
    finish_reason: str | None
    temperature: float | None
    tools: tuple[str, ...] | None
    index: int = 0
    method: str = "POST"
    route: str = ""
    dialect: str = "unknown"
    answered: int | None = None
    error_code: str | None = None
    attempts: tuple[Attempt, ...] = ()
    first_byte_seconds: float | None = None
    total_seconds: float | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    temperature_asked: float | None = None
    temperature_state: TemperatureState = "unknown"
    seed: int | None = None
    model_asked: str | None = None
    model_answered: str | None = None
    request_bytes: int = 0
    response_bytes: int = 0
    cost: float | None = None
    replayed: bool = False
    client_left: bool = False
