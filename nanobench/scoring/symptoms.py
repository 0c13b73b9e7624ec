"""Errors that say that a symbol is missing or that an interface does not fit (SPEC F4).

`ROWS` holds the tables of all languages, in order; of the rows for an error, the first whose
pattern matches the head of its message gives the symptom.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.scoring.diagnostics import diagnostics
from nanobench.scoring.identifiers import identifiers, imported
from nanobench.scoring.raised import Raised, raised
from nanobench.scoring.tables import go, java, javascript, python, rust, typescript
from nanobench.scoring.tables.row import Kind, Row, Tool

ROWS: tuple[Row, ...] = (
    *python.ROWS,
    *javascript.ROWS,
    *typescript.ROWS,
    *go.ROWS,
    *rust.ROWS,
    *java.ROWS,
)

_SCRIPT: tuple[Tool, ...] = ("typescript", "javascript")
TOOLS: Mapping[str, tuple[Tool, ...]] = MappingProxyType(
    {
        "python": ("python",),
        "javascript": _SCRIPT,
        "typescript": _SCRIPT,
        "svelte": _SCRIPT,
        "vue": _SCRIPT,
        "go": ("go",),
        "rust": ("rust",),
        "java": ("java",),
    }
)
"""Whose tables read the errors of a suite, by its language in lower case."""


@dataclass(frozen=True)
class RawSymptom:
    """A symptom before its symbol was looked up.

    Attributes:
        code: the exception's name, or the compiler's code.
        symbol: the identifier concerned, without its module or class, or the import; None if
            none is named.
        test_ids: sorted.
        message: of the first of these tests, at most 500 characters.
    """

    kind: Kind
    language: str
    code: str
    symbol: str | None
    suite: str
    test_ids: tuple[str, ...]
    message: str


@dataclass(frozen=True)
class _Group:
    """Where symptoms of one kind, code and symbol were met: places in the texts, by test."""

    message: str
    places: dict[str, int]


_ENDED_BADLY: frozenset[TestStatus] = frozenset({"failed", "error", "missing"})
_NEVER_RAN: frozenset[TestStatus] = frozenset({"error", "missing"})
_NO_SYMBOLS = frozenset({"__init__", "__new__", "lambda", "locals"})
_MESSAGE_LIMIT = 500


def find_symptoms(
    language: str, suite: str, tests: Sequence[TestOutcome]
) -> tuple[RawSymptom, ...]:
    """The symptoms of the tests that failed, errored or are missing with a message.

    Tests with the same kind, code and symbol make one symptom. The dominant one comes first:
    missing symbols before mismatches, then most tests, then the order of test ids, then, as a
    compiler tells several errors of one test, the order in which it tells them. A language
    without rows has no symptoms.
    """
    found: dict[tuple[Kind, str, str | None], _Group] = {}
    for test in sorted(tests, key=lambda test: test.id):
        for place, error in enumerate(_errors(language, test)):
            row = matching_row(language, error)
            if row is None:
                continue
            key = (row.kind, row.code, _symbol(row, error))
            group = found.setdefault(key, _Group(_message(error), {}))
            group.places.setdefault(test.id, place)
    order = sorted(found, key=lambda key: _dominance(key[0], found[key]))
    return tuple(
        RawSymptom(kind, language, code, symbol, suite, tuple(group.places), group.message)
        for kind, code, symbol in order
        if (group := found[kind, code, symbol])
    )


def matching_row(language: str, error: Raised) -> Row | None:
    """The row that an error fits, or None."""
    tools = TOOLS.get(language.casefold(), ())
    for row in ROWS:
        if row.tool in tools and error.name in row.names and row.pattern.match(error.text):
            return row
    return None


def _errors(language: str, test: TestOutcome) -> tuple[Raised, ...]:
    """What a compiler says of a test that never ran, else the exception that ended the test."""
    if test.status not in _ENDED_BADLY:
        return ()
    if test.status in _NEVER_RAN:
        for text in (test.details or "", test.message or ""):
            compiled = tuple(found.raised for found in diagnostics(language, text))
            if compiled:
                return compiled
    exception = raised(language, test)
    return (exception,) if exception else ()


def _symbol(row: Row, error: Raised) -> str | None:
    """The last identifier: `x` of `module.x`; the class of `Class.__init__`. Or the import."""
    match = row.pattern.match(error.text)
    captured = match.groupdict() if match else {}
    if captured.get("module"):
        return imported(captured["module"])
    if captured.get("file"):
        return imported(f"/{captured['file']}")
    names = [name for name in identifiers(captured.get("symbol") or "") if name not in _NO_SYMBOLS]
    return names[-1] if names else None


def _message(error: Raised) -> str:
    return f"{error.name}: {error.text}".removeprefix(": ")[:_MESSAGE_LIMIT]


def _dominance(kind: Kind, group: _Group) -> tuple[bool, int, tuple[str, ...], int]:
    """No tie is left: two symptoms of the same tests stand in different places of the first."""
    ids = tuple(group.places)
    return (kind != "missing_symbol", -len(ids), ids, group.places[ids[0]])
