"""What the TypeScript compiler writes, versions 4.9 to 7; codes are those of diagnosticMessages.

Vitest's typecheck keeps the message alone, as a `TypeCheckError` or as nothing, so that patterns
must tell codes apart.
"""

from nanobench.scoring.tables.row import Maker, Row

_ERROR = Maker("typescript", also=frozenset({"TypeCheckError", ""}))
_NAME = r"'(?P<symbol>[^'\n]+)'"
_TYPE = r"'[^\n]+'"

_NAMES: tuple[Row, ...] = tuple(
    _ERROR.missing(code, rf"Cannot find {what} {_NAME}\.{rest}", f"tsc, {where}")
    for code, what, rest, where in (
        ("TS2552", "name", r" Did you mean '", "a name with a similar one in scope"),
        ("TS2662", "name", r" Did you mean the static member", "a name that is a static member"),
        ("TS2663", "name", r" Did you mean the instance member", "a name that is a member"),
        ("TS2591", "name", r" Do you need to install type definitions for node", "a name of Node"),
        ("TS2593", "name", r" Do you need to install type definitions for a test", "of a runner"),
        ("TS2584", "name", r" Do you need to change your target library", "a name of the DOM"),
        ("TS2583", "name", r" Do you need to change your target library\?", "a newer library"),
        ("TS2580", "name", r" Do you need to install type definitions for node", "Node's, `types`"),
        ("TS2582", "name", r" Do you need to install type definitions for a test", "runner's"),
        ("TS2304", "name", "", "a name"),
        ("TS2833", "namespace", r" Did you mean '", "a namespace with a similar one in scope"),
        ("TS2503", "namespace", "", "a namespace"),
    )
)

_MEMBERS: tuple[Row, ...] = (
    _ERROR.missing("TS2724", rf"'[^\n]+' has no exported member named {_NAME}", "tsc, imports"),
    _ERROR.missing(
        "TS2614", rf"Module '[^\n]+' has no exported member {_NAME}\. Did you mean", "tsc, imports"
    ),
    _ERROR.missing("TS2305", rf"Module '[^\n]+' has no exported member {_NAME}", "tsc, imports"),
    _ERROR.missing(
        "TS2694", rf"Namespace '[^\n]+' has no exported member {_NAME}", "tsc, namespaces"
    ),
    _ERROR.missing("TS2459", rf"Module '[^\n]+' declares {_NAME} locally, but it is not", "tsc"),
    _ERROR.missing(
        "TS2460", rf"Module '[^\n]+' declares {_NAME} locally, but it is exported as", "tsc"
    ),
    _ERROR.missing(
        "TS2551",
        rf"Property {_NAME} does not exist on type {_TYPE}\. Did you mean '",
        "tsc, a member with a similar one on its type",
    ),
    _ERROR.missing(
        "TS2576",
        rf"Property {_NAME} does not exist on type {_TYPE}\. Did you mean to access the static",
        "tsc, a static member of the class",
    ),
    _ERROR.missing(
        "TS2550",
        rf"Property {_NAME} does not exist on type {_TYPE}\. Do you need to change your target",
        "tsc, a member of a newer library",
    ),
    _ERROR.missing("TS2339", rf"Property {_NAME} does not exist on type {_TYPE}", "tsc, members"),
    _ERROR.missing(
        "TS2561",
        rf"Object literal may only specify known properties, but {_NAME} does not exist in type",
        "tsc, object literals, with a similar name",
    ),
    _ERROR.missing(
        "TS2353",
        rf"Object literal may only specify known properties, and {_NAME} does not exist in type",
        "tsc, object literals",
    ),
    *(
        _ERROR.missing(
            code,
            r"(?:Type|Argument of type) '(?s:.*?)\nObject literal may only specify known"
            rf" properties, \w+ {_NAME} does not exist in type",
            "tsc, object literals, until 5.2",
        )
        for code in ("TS2322", "TS2345")
    ),
    _ERROR.missing(
        "TS18004", rf"No value exists in scope for the shorthand property {_NAME}", "tsc"
    ),
    _ERROR.missing(
        "TS2792", r"Cannot find module '(?P<module>[^'\n]+)'\. Did you mean to set", "tsc, modules"
    ),
    _ERROR.missing("TS2307", r"Cannot find module '(?P<module>[^'\n]+)'", "tsc, modules"),
)

_SHAPES: tuple[Row, ...] = tuple(
    _ERROR.mismatch(code, pattern, f"tsc, {where}")
    for code, pattern, where in (
        ("TS2345", rf"Argument of type {_TYPE} is not assignable to parameter", "arguments"),
        ("TS2416", rf"Property {_NAME} in type {_TYPE} is not assignable to the same", "overrides"),
        ("TS2352", rf"Conversion of type {_TYPE} to type {_TYPE} may be a mistake", "assertions"),
        ("TS2559", rf"Type {_TYPE} has no properties in common with type", "weak types"),
        (
            "TS2560",
            rf"Value of type {_TYPE} has no properties in common with type",
            "weak types, of a function that was not called",
        ),
        ("TS2739", rf"Type {_TYPE} is missing the following properties from type", "properties"),
        (
            "TS2740",
            rf"Type {_TYPE} is missing the following properties from type {_TYPE}[^\n]+ and \d+",
            "properties, more than four",
        ),
        ("TS2741", rf"Property {_NAME} is missing in type {_TYPE} but required", "properties"),
        ("TS2322", rf"Type {_TYPE} is not assignable to type", "assignments"),
        ("TS2554", r"Expected [\d-]+ arguments?, but got \d+", "calls"),
        ("TS2555", r"Expected at least \d+ arguments?, but got \d+", "calls"),
        ("TS2556", r"A spread argument must either have a tuple type", "calls"),
        ("TS2575", r"No overload expects \d+ arguments", "calls"),
        ("TS2769", r"No overload matches this call", "calls"),
        ("TS2684", r"The 'this' context of type", "calls"),
        ("TS2349", r"This expression is not callable", "calls"),
        ("TS2348", rf"Value of type {_TYPE} is not callable\. Did you mean to include", "calls"),
        ("TS2351", r"This expression is not constructable", "`new`"),
        ("TS2511", r"Cannot create an instance of an abstract class", "`new`"),
        ("TS2507", rf"Type {_TYPE} is not a constructor function type", "`extends`"),
        ("TS2415", r"Class '(?P<symbol>[^'\n]+)' incorrectly extends base class", "`extends`"),
        ("TS2420", r"Class '(?P<symbol>[^'\n]+)' incorrectly implements interface", "classes"),
        ("TS2430", r"Interface '(?P<symbol>[^'\n]+)' incorrectly extends", "interfaces"),
        (
            "TS2515",
            r"Non-abstract class '[^\n]+' does not implement inherited abstract member"
            r" '?(?P<symbol>[^'\s]+)",
            "classes",
        ),
        (
            "TS2654",
            r"Non-abstract class '(?P<symbol>[^'\n]+)' is missing implementations",
            "classes",
        ),
        ("TS2344", rf"Type {_TYPE} does not satisfy the constraint", "generics"),
        ("TS2314", r"Generic type '(?P<symbol>[^'<\n]+)[^\n]* requires", "generics"),
        ("TS2315", rf"Type {_NAME} is not generic", "generics"),
        ("TS2558", r"Expected [\d-]+ type arguments?, but got \d+", "generics"),
        ("TS2743", r"No overload expects \d+ type arguments", "generics"),
        ("TS2362", r"The left-hand side of an arithmetic operation must be", "operators"),
        ("TS2363", r"The right-hand side of an arithmetic operation must be", "operators"),
        ("TS2365", r"Operator '[^\n]+' cannot be applied to types", "operators"),
        ("TS2367", r"This comparison appears to be unintentional", "operators"),
        ("TS2538", rf"Type {_TYPE} cannot be used as an index type", "indices"),
        ("TS7053", r"Element implicitly has an 'any' type because expression of", "indices"),
        ("TS2488", rf"Type {_TYPE} must have a '\[Symbol\.iterator\]\(\)'", "iteration"),
        ("TS2504", rf"Type {_TYPE} must have a '\[Symbol\.asyncIterator\]\(\)'", "iteration"),
        ("TS2355", r"A function whose declared type is neither", "returns"),
        ("TS2366", r"Function lacks ending return statement", "returns"),
        ("TS2531", r"Object is possibly 'null'\.", "null checks"),
        ("TS2532", r"Object is possibly 'undefined'\.", "null checks"),
        ("TS2533", r"Object is possibly 'null' or 'undefined'\.", "null checks"),
        ("TS18047", rf"{_NAME} is possibly 'null'\.", "null checks, since 4.9"),
        ("TS18048", rf"{_NAME} is possibly 'undefined'\.", "null checks, since 4.9"),
        ("TS18049", rf"{_NAME} is possibly 'null' or 'undefined'\.", "null checks, since 4.9"),
        ("TS2571", r"Object is of type 'unknown'", "`unknown`"),
        ("TS18046", rf"{_NAME} is of type 'unknown'", "`unknown`, since 4.9"),
        ("TS2540", rf"Cannot assign to {_NAME} because it is a read-only", "`readonly`"),
        ("TS2341", rf"Property {_NAME} is private and only accessible", "visibility"),
        ("TS2445", rf"Property {_NAME} is protected and only accessible", "visibility"),
        ("TS2693", rf"{_NAME} only refers to a type, but is being used as a value", "kinds"),
        ("TS2749", rf"{_NAME} refers to a value, but is being used as a type", "kinds"),
        ("TS2613", r"Module '[^\n]+' has no default export\. Did you mean", "imports"),
        ("TS1192", r"Module '[^\n]+' has no default export", "imports"),
    )
)

ROWS: tuple[Row, ...] = _NAMES + _MEMBERS + _SHAPES
