"""Taking the names of providers, models and runs out of what a reviewer reads."""

import re
from collections.abc import Iterable, Iterator

from nanobench.model.plan import Cell

_SHORTEST = 3
# A name as long as this is taken out wherever it stands, a shorter one only as a word.
_TELLING = 5
_BETWEEN = r"[\W_]{0,2}"
# Parts of many models' names, and of other texts, that tell nobody.
_COMMON = frozenset(
    ("api", "chat", "code", "coder", "free", "instruct", "latest", "local", "model", "server")
)
# Who is known by several names: a model says of itself whose it is, whoever serves it.
_FAMILIES = (
    ("anthropic", "claude"),
    ("openai", "chatgpt", "gpt"),
    ("google", "gemini", "gemma", "deepmind"),
    ("alibaba", "qwen", "tongyi"),
    ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral"),
    ("moonshot", "kimi"),
    ("zhipu", "glm", "chatglm"),
    ("xai", "grok"),
    ("nvidia", "nemotron"),
)


class Blinder:
    """Replaces every name that tells who made a run.

    It knows the names of all runs that a sample is drawn from and treats every text alike:
    otherwise a word of the repository that is missing in one item would tell whose that is.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        known = list(cells)
        self._runs = _either({re.escape(cell.cell_id) for cell in known})
        self._names = _either({pattern for cell in known for pattern in _patterns(cell)})

    def __call__(self, text: str) -> str:
        """`text` without the names, whatever their case and what stands between their parts."""
        return self._names.sub("[model]", self._runs.sub("[run]", text))


def _either(patterns: Iterable[str]) -> re.Pattern[str]:
    """Any of them, the longest first, so that no rest of a name is left."""
    ordered = sorted(patterns, key=lambda pattern: (-len(pattern), pattern))
    return re.compile("|".join(ordered), re.IGNORECASE)


def _patterns(cell: Cell) -> Iterator[str]:
    """Provider and model, whole and in the parts that people know them by.

    A path in a model's name, its tag, and the words between dashes: of
    `openrouter/anthropic/claude-sonnet` also `anthropic`, `claude` and `sonnet`.
    """
    whole = {cell.model.provider, cell.model.model, str(cell.model)}
    parts = {part for name in whole for part in re.split(r"[^A-Za-z0-9.]+", name)}
    words = {word for part in parts for word in re.findall(r"[A-Za-z]+|[A-Za-z]+\d[\w.]*", part)}
    telling = {n for n in parts | words if len(n) >= _SHORTEST and re.search("[A-Za-z]", n)}
    telling |= {part for part in parts if re.fullmatch(r"(?!v)[A-Za-z]\d", part, re.IGNORECASE)}
    for family in _FAMILIES:
        if any(part.casefold().startswith(family) for part in parts):
            telling.update(family)
    names = whole | {name for name in telling if name.casefold() not in _COMMON}
    yield from (_place(name, re.escape(name)) for name in names if len(name) > 1)
    for segment in str(cell.model).split("/"):
        first, *rest = re.findall(r"[A-Za-z]+|\d+", segment) or [""]
        if len(first) >= _SHORTEST and first.casefold() not in _COMMON and rest:
            yield _place(first, _begun(first, rest))


def _begun(first: str, rest: list[str]) -> str:
    """A name that may end after any of its parts: `Claude Sonnet` of `claude-sonnet-4`."""
    tail = ""
    for part in reversed(rest):
        tail = f"(?:{_BETWEEN}{part}{tail})?"
    return first + tail


def _place(name: str, pattern: str) -> str:
    if len(name) >= _TELLING:
        return pattern
    around = "A-Za-z" if len(name) >= _SHORTEST else "A-Za-z0-9"
    return rf"(?<![{around}]){pattern}(?![{around}])"
