"""Where two canonical requests part, told in one short line each."""

import json
from dataclasses import dataclass
from typing import Any

from nanobench.agent.gateway.canonical import CanonicalRequest

_BEFORE, _SHOWN = 20, 80  # characters before the first different one, and in all
_HEAD = ("dialect", "method", "route", "header", "header")
_MISSING = object()


@dataclass(frozen=True)
class Difference:
    """The first place where two requests differ.

    Attributes:
        path: a JSON path into the body (`$.messages[3].content`), or the part of the address.
        recorded: what the recording has there, shortened.
        asked: what was asked, shortened.
    """

    path: str
    recorded: str
    asked: str

    def __str__(self) -> str:
        return f"first difference at {self.path}: recorded {self.recorded}, asked {self.asked}"


def first_difference(recorded: CanonicalRequest, asked: CanonicalRequest) -> Difference | None:
    """The first difference in reading order: address, then body; null if there is none."""
    for name, before, after in zip(_HEAD, recorded.head, asked.head, strict=True):
        if before != after:
            return Difference(name, *_shortened(before, after))
    if recorded.body[0] != asked.body[0]:
        return Difference("$", f"a body of {recorded.body[0]}", f"a body of {asked.body[0]}")
    return _in_values(recorded.body[1:], asked.body[1:])


def _in_values(recorded: list[Any], asked: list[Any]) -> Difference | None:
    """Walks without recursion, since a body can nest deeply."""
    stack = [("$", before, after) for before, after in zip(recorded, asked, strict=True)]
    while stack:
        path, before, after = stack.pop()
        if isinstance(before, dict) and isinstance(after, dict):
            names = sorted({*before, *after}, reverse=True)
            stack += [
                (f"{path}.{name}", before.get(name, _MISSING), after.get(name, _MISSING))
                for name in names
            ]
        elif isinstance(before, list) and isinstance(after, list):
            stack += [
                (f"{path}[{at}]", _item(before, at), _item(after, at))
                for at in reversed(range(max(len(before), len(after))))
            ]
        elif type(before) is not type(after) or before != after:
            return Difference(path, *_shortened(before, after))
    return None


def _item(values: list[Any], at: int) -> Any:
    return values[at] if at < len(values) else _MISSING


def _shortened(before: Any, after: Any) -> tuple[str, str]:
    """Both texts around the first character in which they differ."""
    first, second = _text(before), _text(after)
    pairs = zip(first, second, strict=False)
    apart = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
    start = max(0, apart - _BEFORE)
    return _window(first, start), _window(second, start)


def _window(text: str, start: int) -> str:
    end = start + _SHOWN
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def _text(value: Any) -> str:
    return "nothing" if value is _MISSING else json.dumps(value, sort_keys=True)
