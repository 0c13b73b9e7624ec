"""One row of a symptom table."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["missing_symbol", "interface_mismatch"]
Tool = Literal["python", "javascript", "typescript", "go", "rust", "java"]


@dataclass(frozen=True)
class Row:
    """One kind of error message.

    Attributes:
        tool: whose messages these are.
        code: what the symptom is called: the exception, or the compiler's code.
        pattern: matched at the head of the message. The group `symbol`, where there is one,
            captures a name (of `a.b` it is `b`), the group `module` an import, `file` a path.
        source: what writes the message, and since or until which version.
        names: what the error is called where it is written; a compiler that writes no codes
            calls all of them `error`, and an empty name is that of an error whose runner drops it.
    """

    tool: Tool
    kind: Kind
    code: str
    pattern: re.Pattern[str]
    source: str
    names: frozenset[str]


@dataclass(frozen=True)
class Maker:
    """Makes the rows of one table from text.

    Attributes:
        names: of errors, where they are not called by the row's code; `also` adds to the code.
    """

    tool: Tool
    names: frozenset[str] | None = None
    also: frozenset[str] = frozenset()

    def missing(self, code: str, pattern: str, source: str) -> Row:
        """A row of errors that a symbol is missing."""
        return self._row("missing_symbol", code, pattern, source)

    def mismatch(self, code: str, pattern: str, source: str) -> Row:
        """A row of errors that an interface does not fit."""
        return self._row("interface_mismatch", code, pattern, source)

    def _row(self, kind: Kind, code: str, pattern: str, source: str) -> Row:
        names = self.names if self.names is not None else frozenset({code}) | self.also
        return Row(self.tool, kind, code, re.compile(pattern), source, names)
