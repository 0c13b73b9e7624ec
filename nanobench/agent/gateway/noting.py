"""What one request comes to in the log: an `Exchange`."""

from dataclasses import dataclass, field

from nanobench.agent.exchange import Attempt, Exchange, TemperatureState
from nanobench.agent.gateway.dialects.base import Dialect, ErrorText, Reading
from nanobench.agent.gateway.dialects.errors import error_document
from nanobench.agent.gateway.dialects.registry import classify_error
from nanobench.agent.gateway.pinning import SEED, TEMPERATURE, Asked, Pinned
from nanobench.agent.gateway.route import UNKNOWN_DIALECT
from nanobench.model.signals import ErrorClass


@dataclass
class Noted:
    """What is known so far of a request that is under way.

    Attributes:
        status: that the provider gave last.
        error: what went wrong at last; null while nothing did.
        answered: status that the agent got.
        first_byte: when the agent got it, on the monotonic clock.
        response_bytes: that the agent got.
        replayed: whether the reply comes from a cassette.
        client_left: whether the agent went away.
        temperature_state: see `Exchange`.
        reading: what the reply told.
        attempts: that were absorbed.
    """

    status: int | None = None
    error: ErrorText | None = None
    answered: int | None = None
    first_byte: float | None = None
    response_bytes: int = 0
    replayed: bool = False
    client_left: bool = False
    temperature_state: TemperatureState = "unknown"
    reading: Reading = field(default_factory=Reading)
    attempts: list[Attempt] = field(default_factory=list)


def exchange(noted: Noted, dialect: Dialect | None, asked: Asked, pinned: Pinned) -> Exchange:
    """The exchange, but for its place in the run, its sizes and its times."""
    reading = noted.reading
    error_class, code = _error(noted, dialect)
    waiting = noted.client_left and noted.answered is None
    last = noted.attempts[-1].status if waiting and noted.attempts else noted.status
    return Exchange(
        status=last,
        error_class=error_class,
        input_tokens=reading.input_tokens,
        output_tokens=reading.output_tokens,
        finish_reason=reading.finish_reason,
        temperature=pinned.values.get(TEMPERATURE),
        tools=asked.tools,
        dialect=dialect.name if dialect else UNKNOWN_DIALECT,
        answered=noted.answered,
        error_code=code,
        attempts=tuple(noted.attempts),
        cached_tokens=reading.cached_tokens,
        reasoning_tokens=reading.reasoning_tokens,
        temperature_asked=asked.temperature,
        temperature_state=noted.temperature_state,
        seed=pinned.values.get(SEED),
        model_asked=asked.model,
        model_answered=reading.model,
        response_bytes=noted.response_bytes,
        cost=reading.cost,
        replayed=noted.replayed,
        client_left=noted.client_left,
    )


def _error(noted: Noted, dialect: Dialect | None) -> tuple[ErrorClass | None, str | None]:
    """Class and code of what was wrong with the last reply."""
    reading = noted.reading
    if noted.error is not None:
        return noted.error.error_class, noted.error.code
    if noted.client_left and noted.answered is None and noted.attempts:
        return noted.attempts[-1].error_class, None
    if dialect is None:
        return _unread(noted.status), None
    if reading.error:
        document = error_document(reading.error)
        return classify_error(noted.status or 200, document, dialect), document.code
    finish = dialect.finishes.get(reading.finish_reason or "")
    if finish is None and reading.finished and not reading.output:
        return "empty", None
    return finish, None


def _unread(status: int | None) -> ErrorClass | None:
    """By the status alone, where the body was not read."""
    if status is None or status < 400:
        return None
    return classify_error(status, error_document(None), None)
