"""Taking the names of provider, model and run out of what a reviewer reads."""

import re
from collections.abc import Iterable

from nanobench.model.plan import Cell

_SHORTEST = 3
# A part as long as this is taken out wherever it stands, a shorter one only as a word.
_TELLING = 5


class Blinder:
    """Replaces every name that tells who made a run."""

    def __init__(self, cell: Cell) -> None:
        self._runs = _either([cell.cell_id])
        self._names = _either(_names(cell))

    def __call__(self, text: str) -> str:
        """`text` without the names, whatever their case."""
        return self._names.sub("[model]", self._runs.sub("[run]", text))


def _names(cell: Cell) -> set[str]:
    """Provider and model, whole and in the parts that people know them by.

    A path in a model's name, its tag, and the words between dashes: of
    `openrouter/anthropic/claude-sonnet` also `anthropic`, `claude` and `sonnet`.
    """
    whole = {cell.model.provider, cell.model.model, str(cell.model)}
    parts = {part for name in whole for part in re.split(r"[^A-Za-z0-9.]+", name)}
    words = {word for part in parts for word in re.findall(r"[A-Za-z]+|[A-Za-z]+\d[\w.]*", part)}
    telling = {n for n in parts | words if len(n) >= _SHORTEST and re.search("[A-Za-z]", n)}
    return whole | telling


def _either(names: Iterable[str]) -> re.Pattern[str]:
    """Any of `names`, the longest first, so that no rest of a name is left."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return re.compile("|".join(_place(name) for name in ordered), re.IGNORECASE)


def _place(name: str) -> str:
    escaped = re.escape(name)
    if len(name) >= _TELLING:
        return escaped
    return rf"(?<![A-Za-z]){escaped}(?![A-Za-z])"
