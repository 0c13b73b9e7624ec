"""What javac 8 to 21 and the Java runtime write.

javac writes no codes; its rows are called by the keys of its `compiler.properties`, without
the prefix `compiler.err`.
"""

from nanobench.scoring.tables.row import Maker, Row

_ERROR = Maker("java", names=frozenset({"error"}))
_THROWN = Maker("java")

_MISSING: tuple[Row, ...] = tuple(
    _ERROR.missing(code, pattern, f"javac, {where}")
    for code, pattern, where in (
        (
            "cant.resolve.args",
            r"cannot find symbol(?s:.*?)\bsymbol: +(?:method|constructor)"
            r" (?:<[^\n]*?>)?(?P<symbol>[^\s(<]+)\(",
            "methods and constructors; the name is on the line `symbol:`",
        ),
        (
            "cant.resolve",
            r"cannot find symbol(?s:.*?)\bsymbol: +(?:static |class |interface |enum |variable "
            r"|package |@interface )?(?P<symbol>[^\s(<]+)",
            "classes, variables and static imports; the name is on the line `symbol:`",
        ),
        ("doesnt.exist", r"package (?P<module>[^\s]+) does not exist", "packages"),
        (
            "invalid.mref",
            r"invalid (?:method|constructor) reference(?s:.*?)\bsymbol: +method"
            r" (?P<symbol>[^\s(<]+)",
            "method references",
        ),
    )
)

_SHAPES: tuple[Row, ...] = tuple(
    _ERROR.mismatch(code, pattern, f"javac, {where}")
    for code, pattern, where in (
        ("prob.found.req", r"incompatible types: ", "types"),
        (
            "cant.apply.symbol",
            r"(?:method|constructor) (?P<symbol>[^\s<]+)[^\n]* in [^\n]+ cannot be applied to",
            "calls; javac may simplify it to `incompatible types`",
        ),
        (
            "cant.apply.symbols",
            r"no suitable (?:method|constructor) found for (?P<symbol>[^\s(<]+)",
            "calls of overloaded methods",
        ),
        (
            "does.not.override.abstract",
            r"[^\n]+ is not abstract and does not override abstract method"
            r" (?:<[^\n]*?>)?(?P<symbol>[^\s(<]+)\(",
            "classes",
        ),
        (
            "override",
            r"(?P<symbol>[^\s(<]+)\([^\n]*\) in [^\n]+ cannot (?:implement|override|hide) ",
            "overrides: return type, weaker access, exceptions, `final`",
        ),
        (
            "method.does.not.override.superclass",
            r"method does not override or implement a method from a supertype",
            "`@Override`",
        ),
        (
            "abstract.cant.be.instantiated",
            r"(?P<symbol>\S+) is abstract; cannot be instantiated",
            "`new`",
        ),
        ("operator.cant.be.applied", r"bad operand types? ", "operators"),
        ("incomparable.types", r"(?:incomparable types: |[^\n]+ cannot be compared)", "operators"),
        ("cant.deref", r"[^\n]+ cannot be dereferenced", "members of primitive types"),
        ("array.req.but.found", r"array required, but [^\n]+ found", "indices"),
        ("foreach.not.applicable", r"for-each not applicable to expression type", "loops"),
        ("not.def.public", r"[^\n]+ is not public in [^\n]+; cannot be accessed", "visibility"),
        ("report.access", r"(?P<symbol>[^\s(]+)[^\n]* has \w+ access in ", "visibility"),
        ("unreported.exception", r"unreported exception (?P<symbol>[^\s;]+)", "`throws`"),
        ("intf.expected.here", r"(?:no )?interface expected here", "kinds"),
        ("not.within.bounds", r"type argument [^\n]+ is not within bounds of", "generics"),
        ("wrong.number.type.args", r"wrong number of type arguments; required", "generics"),
        ("cant.apply.diamond", r"cannot infer type arguments for (?P<symbol>[^\s<]+)", "generics"),
        (
            "type.doesnt.take.params",
            r"type (?P<symbol>\S+) does not take parameters",
            "generics",
        ),
        (
            "non-static.cant.be.ref",
            r"non-static \w+ (?P<symbol>[^\s(]+)[^\n]* cannot be referenced from a static",
            "static contexts",
        ),
        ("cant.inherit.from.final", r"cannot inherit from final (?P<symbol>\S+)", "classes"),
    )
)

_THROWN_ROWS: tuple[Row, ...] = (
    _THROWN.mismatch(
        "NoSuchMethodError",
        r"[^\n]{0,500}\b(?P<symbol>[\w$]+)\.<init>",
        "JVM linking, constructors",
    ),
    _THROWN.mismatch(
        "NoSuchMethodException",
        r"[^\n]{0,500}\b(?P<symbol>[\w$]+)\.<init>",
        "reflection, constructors",
    ),
    _THROWN.missing(
        "NoSuchMethodError",
        r"(?:[^\n]*[\s.'])?(?P<symbol>[^\s.'(]+)\(",
        "JVM linking: `'void p.C.m(int)'`, until 10 `p.C.m(I)V`",
    ),
    _THROWN.missing(
        "NoSuchMethodException",
        r"(?:[^\n]*[\s.])?(?P<symbol>[^\s.(]+)(?:\(|\Z)",
        "reflection",
    ),
    _THROWN.missing(
        "NoSuchFieldError",
        r"Class [^\n]+ does not have member field '[^\n]* (?P<symbol>[^\s']+)'",
        "JVM linking, since 21",
    ),
    _THROWN.missing("NoSuchFieldError", r"(?P<symbol>\S+)", "JVM linking, until 20"),
    _THROWN.missing("NoSuchFieldException", r"(?P<symbol>\S+)", "reflection"),
    _THROWN.missing(
        "NoClassDefFoundError",
        r"(?:[^\s/]+/)*(?P<symbol>[^\s/]+)\Z",
        "JVM linking, with slashes",
    ),
    _THROWN.missing("ClassNotFoundException", r"(?P<symbol>\S+)", "class loaders"),
    _THROWN.mismatch(
        "ClassCastException",
        r"(?:class )?(?P<symbol>\S+) (?:cannot be cast to|incompatible with) ",
        "JVM casts; `class` since 11",
    ),
    _THROWN.mismatch(
        "AbstractMethodError",
        r"(?:[^\n]* of the resolved method '[^\n]*?(?P<symbol>[^\s.('<]+)\()?",
        "JVM linking",
    ),
    _THROWN.mismatch("IncompatibleClassChangeError", r"", "JVM linking"),
    _THROWN.mismatch("IllegalAccessError", r"", "JVM linking, visibility"),
    _THROWN.mismatch("InstantiationError", r"(?P<symbol>\S+)", "JVM linking, abstract classes"),
    _THROWN.mismatch("InstantiationException", r"", "reflection, abstract classes"),
    _THROWN.mismatch("ArrayStoreException", r"(?P<symbol>\S+)", "arrays"),
    _THROWN.mismatch(
        "IllegalArgumentException",
        r"(?:argument type mismatch|wrong number of arguments|object is not an instance of)",
        "reflection",
    ),
)

ROWS: tuple[Row, ...] = _MISSING + _SHAPES + _THROWN_ROWS
