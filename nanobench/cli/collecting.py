"""Options of a command that reach it together, as one object."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])


def collecting(
    name: str, request: type[Any], options: Sequence[Callable[[Any], Any]]
) -> Callable[[Command], Command]:
    """A decorator that gives a command `options`, which reach it as one `request`."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def collected(**values: Any) -> Any:
            own = {field.name: values.pop(field.name) for field in fields(request)}
            return command(**{name: request(**own)}, **values)

        for option in reversed(options):
            collected = option(collected)
        return collected  # type: ignore[return-value]

    return decorate
