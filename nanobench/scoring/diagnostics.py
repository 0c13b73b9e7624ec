"""Errors that a compiler reports, read from its output.

One layout per compiler says where an error begins and which of the lines below belong to it:

- tsc: `a.ts(1,7): error TS2304: text`, `a.ts:1:7 - error TS2304: text` (pretty, ts-jest);
- go: `./a.go:5:2: text`, further lines behind a tab; `vet: ` before it under `go vet`;
- rustc: `error[E0425]: text` and its frame, or `a.rs:2:5: error[E0425]: text` (short);
- javac: `A.java:5: error: text`, or Maven's `[ERROR] /A.java:[5,9] text`; symbol and location
  stand on lines of their own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nanobench.scoring.raised import ANSI, Raised
from nanobench.scoring.tables.row import Tool

LIMIT = 200
"""Errors that are read of one output."""

_LINE_LIMIT = 2000
_NO_CODE = "error"


@dataclass(frozen=True)
class Diagnostic:
    """One error of a compiler: what the tables read, and the lines as they were written."""

    raised: Raised
    lines: tuple[str, ...]


@dataclass(frozen=True)
class _Layout:
    head: re.Pattern[str]
    tail: re.Pattern[str]  # its group `text` goes to the tables


_LAYOUTS: Mapping[Tool, _Layout] = MappingProxyType(
    {
        "typescript": _Layout(
            re.compile(r"(?:.{0,500}?(?:\(\d+,\d+\):| -) |\s*)error (?P<code>TS\d+): (?P<text>.+)"),
            re.compile(r"(?P<text>\s+(?!\d+\s|~).*\S)"),
        ),
        "go": _Layout(
            re.compile(r"(?:vet: )?[^\s:][^:]{0,500}\.go:\d+:\d+: (?P<text>.+)"),
            re.compile(r"(?P<text>\t.*\S)"),
        ),
        "rust": _Layout(
            re.compile(
                r"(?:[^\s:][^:]{0,500}:\d+:\d+: )?error(?:\[(?P<code>E\d+)\])?: "
                r"(?!(?:doc)?test (?:run )?failed|bench failed|\d+ targets? failed"
                r"|could not compile)(?P<text>.+)"  # cargo, summing up
            ),
            re.compile(r"(?P<text>(?:\s|\d+\s*\||\.\.\.).*)"),
        ),
        "java": _Layout(
            re.compile(
                r"(?:\[ERROR\] )?[^\s:\[][^:]{0,500}\.java:(?:\d+: error:|\[\d+,\d+\](?: error:)?)"
                r" (?P<text>.+)"
            ),
            re.compile(r"(?:\[ERROR\](?=\s\s))?(?P<text>(?!\[|\d+ errors?$|Note: ).*\S.*)"),
        ),
    }
)

_COMPILERS: Mapping[str, Tool] = MappingProxyType(
    {
        "typescript": "typescript",
        "javascript": "typescript",
        "svelte": "typescript",
        "vue": "typescript",
        "go": "go",
        "rust": "rust",
        "java": "java",
    }
)
"""What compiles the tests of a suite, by its language in lower case."""


def diagnostics(language: str, text: str) -> tuple[Diagnostic, ...]:
    """The different errors in the output of the language's compiler, in order, at most `LIMIT`.

    A language without a compiler has none.
    """
    tool = _COMPILERS.get(language.casefold())
    found: dict[Raised, Diagnostic] = {}
    for diagnostic in _read(_LAYOUTS[tool], text) if tool else ():
        found.setdefault(diagnostic.raised, diagnostic)
        if len(found) == LIMIT:
            break
    return tuple(found.values())


def _read(layout: _Layout, text: str) -> Iterator[Diagnostic]:
    head: re.Match[str] | None = None
    tail: list[str] = []
    lines: list[str] = []
    for line in (ANSI.sub("", line[:_LINE_LIMIT]) for line in (*text.splitlines(), "")):
        begins = layout.head.fullmatch(line)
        belongs = layout.tail.fullmatch(line) if head and not begins else None
        if belongs:
            tail.append(belongs["text"].strip())
            lines.append(line)
            continue
        if head:
            yield _diagnostic(head, tail, lines)
        head, tail, lines = begins, [], [line]


def _diagnostic(head: re.Match[str], tail: list[str], lines: list[str]) -> Diagnostic:
    code = head.groupdict().get("code") or _NO_CODE
    return Diagnostic(Raised(code, "\n".join((head["text"], *tail))), tuple(lines))
