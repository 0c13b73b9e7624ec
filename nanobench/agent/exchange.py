"""What a gateway or the scripted server saw of one HTTP request of the agent."""

from dataclasses import dataclass

from nanobench.model.signals import ErrorClass


@dataclass(frozen=True)
class Exchange:
    """One request to the provider and its reply, in the order in which the requests came.

    Attributes:
        status: HTTP status of the reply; null when no reply came.
        error_class: what was wrong with it; null for a good reply.
        input_tokens: as the provider counted them; null when it did not say.
        output_tokens: likewise.
        finish_reason: the provider's word (`stop`, `tool_calls`, `length`, ...).
        temperature: as sent; null when the request carried none.
        tools: names of the tools offered to the model; null when the body was not understood.
    """

    status: int | None
    error_class: ErrorClass | None
    input_tokens: int | None
    output_tokens: int | None
    finish_reason: str | None
    temperature: float | None
    tools: tuple[str, ...] | None
