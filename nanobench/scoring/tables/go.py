"""What the Go toolchain writes, versions 1.18 to 1.26.

The compiler writes no codes; rows are called by those of its package `internal/types/errors`.
"""

from nanobench.scoring.tables.row import Maker, Row

_ERROR = Maker("go", names=frozenset({"error"}))
_PANIC = Maker("go", names=frozenset({"panic"}))
_NAME = r"(?P<symbol>[^\s:.(),]+)"
_PATH = r"(?P<module>[^\s;:@\"]+)"

_MISSING: tuple[Row, ...] = tuple(
    _ERROR.missing(code, pattern, source)
    for code, pattern, source in (
        ("UndeclaredImportedName", rf"undefined: [^\s.]+\.{_NAME}$", "types2, members of packages"),
        ("UndeclaredName", rf"undefined: {_NAME}$", "types2, names"),
        (
            "UnexportedName",
            rf"name {_NAME} not exported by package",
            "types2, members of packages, since 1.20",
        ),
        (
            "UnexportedName",
            rf"cannot refer to unexported name [^\s.]+\.{_NAME}",
            "types2, members of packages, until 1.19",
        ),
        (
            "MissingFieldOrMethod",
            rf"[^\n]+\.{_NAME} undefined \(type [^\n]+ has no (?:field or )?method",
            "types2, members of types",
        ),
        (
            "MissingLitField",
            rf"unknown field {_NAME} in struct literal",
            "types2, struct literals",
        ),
        (
            "BrokenImport",
            rf"package {_PATH} is not in (?:std|GOROOT)",
            "cmd/go, imports; `GOROOT` until 1.20",
        ),
        (
            "BrokenImport",
            rf"no required module provides package {_PATH}",
            "cmd/go, imports, modules",
        ),
        (
            "BrokenImport",
            rf"cannot find (?:module providing )?package \"?{_PATH}",
            "cmd/go, imports, vendoring and until 1.15",
        ),
        (
            "BrokenImport",
            rf"module \S+ (?:found \([^)]*\), but )?does not contain package {_PATH}",
            "cmd/go, imports of a known module",
        ),
        ("BrokenImport", rf"could not import {_PATH} \(", "types2 under `go vet`"),
    )
)

_SHAPES: tuple[Row, ...] = tuple(
    _ERROR.mismatch(code, pattern, f"types2, {where}")
    for code, pattern, where in (
        (
            "InvalidIfaceAssign",
            r"cannot use (?s:.+?) does not implement [^\n]+ \((?:missing method|wrong type for"
            rf" method|method) {_NAME}",
            "interfaces",
        ),
        ("IncompatibleAssign", r"cannot use (?s:.+?) as .+? value in ", "assignments"),
        ("WrongArgCount", r"(?:not enough|too many) arguments in call to (?P<symbol>\S+)", "calls"),
        ("WrongResultCount", r"(?:not enough|too many) return values", "returns"),
        ("AssignmentMismatch", r"assignment mismatch: \d+ variables? but ", "assignments"),
        (
            "MismatchedTypes",
            r"invalid operation: [^\n]+ \(mismatched types ",
            "binary operators",
        ),
        ("UndefinedOp", r"invalid operation: operator \S+ not defined on ", "operators"),
        (
            "InvalidCall",
            r"invalid operation: cannot call (?:non-function )?(?P<symbol>[^\s(]+)",
            "calls of what is no function",
        ),
        ("ImpossibleAssert", r"impossible type (?:assertion|switch case):", "type assertions"),
        ("InvalidAssert", r"invalid operation: \S+ (?:\([^\n]+\) )?is not an interface", "asserts"),
        ("InvalidConversion", r"cannot convert [^\n]+ to type ", "conversions"),
        (
            "WrongTypeArgCount",
            r"(?:not enough type arguments for type|too many type arguments for type"
            r"|got \d+ type arguments but) (?P<symbol>[^\s:]+)",
            "generics",
        ),
        ("CannotInferTypeArgs", r"in call to (?P<symbol>[^\s,]+), cannot infer ", "generics"),
        (
            "InvalidTypeArg",
            r"[^\n]+ does not (?:satisfy|implement) ",
            "generics; `implement` until 1.19",
        ),
        ("TooManyValues", r"multiple-value [^\n]+ in single-value context", "results"),
        ("NotAnExpr", r"[^\n]+ \(no value\) used as value", "results"),
        ("InvalidRangeExpr", r"cannot range over ", "loops"),
        ("InvalidCond", r"non-boolean condition in ", "conditions"),
        ("NonIndexableOperand", r"(?:invalid operation: )?cannot index ", "indices"),
        ("InvalidStructLit", r"too (?:few|many) values in struct literal", "struct literals"),
        (
            "InvalidPtrIface",
            rf"[^\n]+\.{_NAME} undefined \(type \*[^\n]+ is pointer to (?:interface|type param)",
            "members of types",
        ),
        ("InvalidMethodExpr", r"cannot call pointer method (?P<symbol>\S+)", "receivers"),
        ("NotAType", r"(?P<symbol>\S+) (?:\([^\n]+\) )?is not a type", "kinds"),
        ("NotAnExpr", r"(?P<symbol>\S+) \(type\) is not an expression", "kinds"),
    )
)

_PANICS: tuple[Row, ...] = (
    _PANIC.mismatch("TypeAssertionError", r"interface conversion: ", "runtime, type assertions"),
    _PANIC.mismatch(
        "ValueError", r"reflect: call of (?P<symbol>\S+) on \S+ Value", "package reflect"
    ),
    _PANIC.mismatch(
        "reflect.Call",
        r"reflect: Call (?:with too (?:few|many) input arguments|using \S+ as type )",
        "package reflect",
    ),
)

ROWS: tuple[Row, ...] = _MISSING + _SHAPES + _PANICS
