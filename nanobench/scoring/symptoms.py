"""Errors that say that a symbol is missing or that an interface does not fit (SPEC F4).

`ROWS` is an ordered table; of the rows for the exception that ended a test, the first whose
pattern matches the head of its message gives the symptom. Messages are those of CPython 3.10 to
3.14 and of V8; each row names its source.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.scoring.raised import RUNTIMES, Raised, Runtime, raised

Kind = Literal["missing_symbol", "interface_mismatch"]


@dataclass(frozen=True)
class RawSymptom:
    """A symptom before its symbol was looked up.

    Attributes:
        code: the exception's name.
        symbol: the identifier concerned, without its module or class; None if none is named.
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
class Row:
    """One kind of message; the group `symbol`, where there is one, captures the name."""

    runtime: Runtime
    kind: Kind
    code: str
    pattern: re.Pattern[str]
    source: str


def _missing(runtime: Runtime, code: str, pattern: str, source: str) -> Row:
    return Row(runtime, "missing_symbol", code, re.compile(pattern), source)


def _mismatch(runtime: Runtime, code: str, pattern: str, source: str) -> Row:
    return Row(runtime, "interface_mismatch", code, re.compile(pattern), source)


_PYTHON = (
    _missing("python", "NameError", r"name '(?P<symbol>\w+)' is not defined", "CPython ceval"),
    _missing(
        "python",
        "AttributeError",
        r"[^\n]*?(?:has no attribute|does not have the attribute) '(?P<symbol>[^']+)'",
        "CPython objects and modules; pytest monkeypatch; unittest.mock",
    ),
    _missing(
        "python",
        "AttributeError",
        r"cannot access submodule '(?P<symbol>\w+)' of module",
        "CPython 3.12 module objects",
    ),
    _missing("python", "AttributeError", r"(?P<symbol>\w+)\Z", "enum; `__getattr__` by custom"),
    _missing(
        "python", "ImportError", r"cannot import name '(?P<symbol>\w+)' from", "CPython import"
    ),
    _missing(
        "python",
        "ModuleNotFoundError",
        r"No module named '(?P<symbol>[^']+)'",
        "CPython importlib",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"(?P<symbol>[\w.<>]+)\(\) (?:missing \d+ required|takes "
        r"|got (?:an unexpected keyword|multiple values for|some positional-only))",
        "CPython calls of Python functions",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"(?P<symbol>[\w.]+) expected (?:at least |at most |exactly )?\d+ arguments?, got \d+",
        "CPython calls of built-in functions",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"(?:missing a required|got an unexpected keyword|got some positional-only"
        r"|too many positional|multiple values for) (?:keyword-only )?arguments?",
        "inspect.Signature.bind, unittest.mock autospec",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"(?:unsupported operand type\(s\) for|bad operand type for|can only concatenate"
        r"|can't multiply sequence|'[^'\n]+' not supported between instances of)",
        "CPython operators",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"'(?P<symbol>[^'\n]+)' object (?:is not|does not support|cannot be interpreted)",
        "CPython protocols",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"(?:cannot unpack non-iterable (?P<symbol>\w+) object"
        r"|object \w+ can't be used in 'await' expression"
        r"|'async (?:for|with)' requires an object with"
        r"|argument of type '[^'\n]+' is not"
        r"|object of type '[^'\n]+' has no len\(\)|unhashable type:)",
        "CPython protocols",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"Can't instantiate abstract class (?P<symbol>\w+)",
        "CPython abc",
    ),
    _mismatch(
        "python",
        "TypeError",
        r"[^\n]*\b(?:expected|must be|required)\b[^\n]*\b(?:not|got|found)\b",
        "CPython conversions; attrs.validators.instance_of",
    ),
    _mismatch(
        "python",
        "ValidationError",
        r"\d+ validation errors? for (?P<symbol>[^\n]+)\n(?s:.*?)"
        r"(?:\[type=(?:missing\w*|extra_forbidden|unexpected_\w+|multiple_argument_values"
        r"|no_such_attribute|is_(?:instance|subclass)_of|\w+_type)\b"
        r"|\(type=(?:type_error|value_error\.(?:missing|extra))\b)",
        "pydantic 2 and 1: errors of shape, not of value",
    ),
)

_JAVASCRIPT = (
    _missing("javascript", "ReferenceError", r"(?P<symbol>[\w$]+) is not defined", "V8"),
    _missing(
        "javascript",
        "SyntaxError",
        r"The requested module '[^'\n]+' does not provide an export named '(?P<symbol>[\w$]+)'",
        "V8 module linking",
    ),
    _missing(
        "javascript",
        "SyntaxError",
        r"Named export '(?P<symbol>[\w$]+)' not found",
        "Node, import from CommonJS",
    ),
    _mismatch("javascript", "TypeError", r"[^\n]* is not (?:async )?iterable\b", "V8 iteration"),
    _mismatch(
        "javascript",
        "TypeError",
        r"Class constructor (?P<symbol>[\w$]+) cannot be invoked without 'new'",
        "V8 calls",
    ),
    _mismatch(
        "javascript",
        "TypeError",
        r"[^\n]*(?:\(intermediate value\)|\(\.\.\.\)|[\]}]) is not a (?:function|constructor)",
        "V8 calls of a value without a name",
    ),
    _missing(
        "javascript",
        "TypeError",
        r"(?:[^\n]*[^\w$\n])?(?P<symbol>[A-Za-z_$][\w$]*)\)? is not a (?:function|constructor)",
        "V8 calls of a name",
    ),
)

ROWS: tuple[Row, ...] = _PYTHON + _JAVASCRIPT

_ENDED_BADLY: frozenset[TestStatus] = frozenset({"failed", "error", "missing"})
_IDENTIFIER = re.compile(r"[^\W\d$][\w$]*|\$[\w$]*")
_NO_SYMBOLS = frozenset({"__init__", "__new__", "lambda", "locals"})
_MESSAGE_LIMIT = 500


def find_symptoms(
    language: str, suite: str, tests: Sequence[TestOutcome]
) -> tuple[RawSymptom, ...]:
    """The symptoms of the tests that failed, errored or are missing with a message.

    Tests with the same kind, code and symbol make one symptom. The dominant one comes first:
    missing symbols before mismatches, then most tests, then the order of test ids. A language
    without rows has no symptoms.
    """
    found: dict[tuple[Kind, str, str | None], list[tuple[str, str]]] = {}
    for test in sorted(tests, key=lambda test: test.id):
        exception = raised(language, test) if test.status in _ENDED_BADLY else None
        if exception is None:
            continue
        matched = _match(language, exception)
        if matched is None:
            continue
        kind, symbol = matched
        group = found.setdefault((kind, exception.name, symbol), [])
        group.append((test.id, f"{exception.name}: {exception.text}"[:_MESSAGE_LIMIT]))
    symptoms = (
        RawSymptom(kind, language, code, symbol, suite, tuple(id for id, _ in group), group[0][1])
        for (kind, code, symbol), group in found.items()
    )
    return tuple(sorted(symptoms, key=_dominance))


def _match(language: str, exception: Raised) -> tuple[Kind, str | None] | None:
    runtime = RUNTIMES.get(language.casefold())
    for row in ROWS:
        if row.runtime == runtime and row.code == exception.name:
            found = row.pattern.match(exception.text)
            if found:
                return row.kind, _symbol(found.groupdict().get("symbol"))
    return None


def _symbol(captured: str | None) -> str | None:
    """The last identifier: `x` of `module.x`; the class of `Class.__init__`."""
    names = [name for name in _IDENTIFIER.findall(captured or "") if name not in _NO_SYMBOLS]
    return names[-1] if names else None


def _dominance(symptom: RawSymptom) -> tuple[bool, int, tuple[str, ...]]:
    """No tie is left: a test ends with one exception, so ids differ between symptoms."""
    return (symptom.kind != "missing_symbol", -len(symptom.test_ids), symptom.test_ids)
