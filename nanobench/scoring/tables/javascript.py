"""What V8 and Node write, and the tools that load modules for tests (Jest, Vite, Vitest).

V8's messages are those of its `message-template.h`, Node's those of its error codes; Node 18 to 24.
"""

from nanobench.scoring.tables.row import Maker, Row

_ERROR = Maker("javascript")
_PLAIN = Maker("javascript", names=frozenset({"Error", ""}))
_QUOTED = r"'(?P<symbol>[^'\n]+)'"

_NAMES: tuple[Row, ...] = (
    _ERROR.missing("ReferenceError", r"(?P<symbol>[^\s'\"]+) is not defined", "V8, names"),
    _ERROR.missing(
        "SyntaxError",
        rf"The requested module '[^'\n]+' does not provide an export named {_QUOTED}",
        "V8, module linking",
    ),
    _ERROR.missing("SyntaxError", rf"Named export {_QUOTED} not found", "Node, CommonJS"),
    _ERROR.missing(
        "SyntaxError", rf"Private field {_QUOTED} must be declared", "V8, private names"
    ),
    _PLAIN.missing(
        "ERR_MODULE_NOT_FOUND",
        r"Cannot find module '(?P<file>[^'\n]+)' imported from",
        "Node, imports of files",
    ),
    _PLAIN.missing(
        "ERR_MODULE_NOT_FOUND",
        r"Cannot find package '(?P<module>[^'\n]+)' imported from",
        "Node, imports of packages",
    ),
    _PLAIN.missing(
        "MODULE_NOT_FOUND",
        r"Cannot find module '(?P<module>[^'\n]+)'",
        "Node, `require`; Jest's resolver",
    ),
    _PLAIN.missing(
        "ERR_PACKAGE_PATH_NOT_EXPORTED",
        r"(?:Package subpath|Missing) [\"'](?P<module>[^\"'\n]+)[\"'] (?:is not defined by"
        r"|specifier in)",
        "Node, `exports` of a package; Vite",
    ),
    _PLAIN.missing(
        "ERR_UNKNOWN_BUILTIN_MODULE",
        r"No such built-in module: (?P<module>\S+)",
        "Node, `node:` imports",
    ),
    _PLAIN.missing(
        "unresolved import",
        r"Failed to (?:resolve import \"|load url )(?P<module>[^\"\s]+)\"? ",
        "Vite and Vitest, imports",
    ),
    _PLAIN.missing(
        "no such export of a mock",
        r"\[vitest\] No \"(?P<symbol>[^\"\n]+)\" export is defined on the ",
        "Vitest, mocked modules",
    ),
)

_SHAPES: tuple[Row, ...] = tuple(
    _ERROR.mismatch("TypeError", pattern, source)
    for pattern, source in (
        (r"[^\n]* is not (?:async )?iterable\b", "V8, iteration"),
        (
            r"Class constructor (?P<symbol>\S+) cannot be invoked without 'new'",
            "V8, calls",
        ),
        (r"Class extends value [^\n]* is not a constructor or null", "V8, `extends`"),
        (r"Right-hand side of 'instanceof' is not ", "V8, `instanceof`"),
        (r"Cannot use 'in' operator to search for ", "V8, `in`"),
        (rf"Cannot (?:assign to|redefine|delete)[^\n']* property:? {_QUOTED}?", "V8, properties"),
        (
            r"Cannot set property (?P<symbol>\S+) of [^\n]+ which has only a getter",
            "V8, properties",
        ),
        (r"Method (?P<symbol>\S+) called on incompatible receiver", "V8, built-in methods"),
        (r"\S+ called on non-object", "V8, built-in functions"),
        (r"Cannot mix BigInt and other types", "V8, operators"),
        (r"Cannot convert (?:a Symbol value|a BigInt value|object) to ", "V8, conversions"),
        (
            r"The \"(?P<symbol>[^\"\n]+)\"[^\n]* (?:must be|arguments? must be specified)",
            "Node, ERR_INVALID_ARG_TYPE and ERR_MISSING_ARGS",
        ),
        (
            r"(?:[^\n]*(?:\(intermediate value\)|\(\.\.\.\)|[\]}\"']|#<\w+>)|(?:[^\n]* )?"
            r"(?:undefined|null|true|false|NaN|[\d.]+)) is not a (?:function|constructor)",
            "V8, calls of a value without a name",
        ),
    )
)

_CALLS: tuple[Row, ...] = (
    _ERROR.missing(
        "TypeError",
        r"(?:[^\n]*[.\s(])?(?P<symbol>(?:[^\W\d]|[$#])[^\s.()\[\]{}'\"]*)\)? is not a"
        r" (?:function|constructor)",
        "V8, calls of a name",
    ),
)

ROWS: tuple[Row, ...] = _NAMES + _SHAPES + _CALLS
