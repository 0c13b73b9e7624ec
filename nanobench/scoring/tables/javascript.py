"""What V8, Node and the tools that load modules write."""

from nanobench.scoring.tables.row import Maker, Row

_ERROR = Maker("javascript")

ROWS: tuple[Row, ...] = (
    _ERROR.missing("ReferenceError", r"(?P<symbol>[\w$]+) is not defined", "V8"),
    _ERROR.missing(
        "SyntaxError",
        r"The requested module '[^'\n]+' does not provide an export named '(?P<symbol>[\w$]+)'",
        "V8 module linking",
    ),
    _ERROR.missing(
        "SyntaxError",
        r"Named export '(?P<symbol>[\w$]+)' not found",
        "Node, import from CommonJS",
    ),
    _ERROR.mismatch("TypeError", r"[^\n]* is not (?:async )?iterable\b", "V8 iteration"),
    _ERROR.mismatch(
        "TypeError",
        r"Class constructor (?P<symbol>[\w$]+) cannot be invoked without 'new'",
        "V8 calls",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"[^\n]*(?:\(intermediate value\)|\(\.\.\.\)|[\]}]) is not a (?:function|constructor)",
        "V8 calls of a value without a name",
    ),
    _ERROR.missing(
        "TypeError",
        r"(?:[^\n]*[^\w$\n])?(?P<symbol>[A-Za-z_$][\w$]*)\)? is not a (?:function|constructor)",
        "V8 calls of a name",
    ),
)
