"""What rustc writes, versions 1.60 to 1.95; codes are those of its error index.

A compiler error that has no code is called `error`.
"""

from nanobench.scoring.tables.row import Maker, Row

_ERROR = Maker("rust")
_PLAIN = Maker("rust", names=frozenset({"error"}))
_NAME = r"`(?:[^`\n]*::)?(?P<symbol>[^`\n:]+?)(?:<[^`\n]*>)?`"

_MISSING: tuple[Row, ...] = (
    *(
        _ERROR.missing(code, pattern, f"rustc, {where}")
        for code, pattern, where in (
            ("E0405", rf"cannot find trait {_NAME}", "traits"),
            ("E0412", rf"cannot find type {_NAME}", "types, until 1.93"),
            ("E0422", rf"cannot find struct[^`\n]* {_NAME}", "struct literals"),
            ("E0425", rf"cannot find [^`\n]* {_NAME}", "values and functions; types since 1.94"),
            ("E0531", rf"cannot find [^`\n]* {_NAME}", "patterns"),
            ("E0576", rf"cannot find [^`\n]* {_NAME}", "associated items of a trait"),
            ("E0220", rf"associated \w+ {_NAME} not found", "associated items of a bound"),
            ("E0432", rf"unresolved import (?s:.*?)(?:no|could not find) {_NAME} in ", "imports"),
            (
                "E0432",
                r"unresolved import (?s:.*?)(?:crate(?: or module)?|module) `(?P<symbol>\w+)`",
                "imports of a crate",
            ),
            ("E0432", rf"unresolved imports? {_NAME}", "imports, without a label"),
            (
                "E0433",
                rf"cannot find (?:module or crate |\w+ )?{_NAME} in",
                "paths, since 1.94",
            ),
            (
                "E0433",
                rf"failed to resolve: (?:use of (?:undeclared|unresolved)[^`\n]*|could not find)"
                rf" {_NAME}",
                "paths, until 1.93",
            ),
            ("E0407", rf"method {_NAME} is not a member of trait", "trait implementations"),
            ("E0437", rf"type {_NAME} is not a member of trait", "trait implementations"),
            ("E0438", rf"const {_NAME} is not a member of trait", "trait implementations"),
            ("E0463", r"can't find crate for `(?P<symbol>\w+)`", "`extern crate`"),
            ("E0583", r"file not found for module `(?P<symbol>\w+)`", "`mod`"),
            ("E0599", rf"no [^`\n]* {_NAME} found", "methods, functions, variants, constants"),
            ("E0609", rf"no field {_NAME} on type", "fields"),
            ("E0560", rf"\w+ `[^`\n]+` has no field named {_NAME}", "struct literals"),
            ("E0559", rf"variant `[^`\n]+` has no field named {_NAME}", "variant literals"),
            ("E0026", rf"[^`\n]+`[^`\n]+` does not have[^`\n]* field[^`\n]* {_NAME}", "patterns"),
        )
    ),
    _PLAIN.missing(
        "unresolved macro",
        rf"cannot find (?:macro|attribute|derive macro) {_NAME} in",
        "rustc, macros, attributes and derives; no code",
    ),
)

_SHAPES: tuple[Row, ...] = tuple(
    _ERROR.mismatch(code, pattern, f"rustc, {where}")
    for code, pattern, where in (
        ("E0308", r"(?:mismatched types|`[^\n]*` (?:has|have) incompatible types)", "types"),
        ("E0061", r"this [^\n]+ takes [^\n]+ arguments?", "calls"),
        ("E0057", r"this function takes [^\n]+ arguments?", "calls of closures"),
        ("E0618", r"expected function, found ", "calls of what is no function"),
        ("E0277", r"[^\n]+", "trait bounds"),
        ("E0599", rf"the [^`\n]+ {_NAME} exists for [^\n]+, but ", "methods with unmet bounds"),
        ("E0271", r"(?:type mismatch resolving|expected [^\n]+ to )", "associated types"),
        ("E0191", r"the value of the associated type", "associated types of `dyn`"),
        (
            "E0038",
            r"the trait `(?P<symbol>\w+)` (?:is not dyn compatible|cannot be made into an object)",
            "`dyn`",
        ),
        ("E0046", rf"not all trait items implemented, missing: {_NAME}", "implementations"),
        ("E0049", rf"[\w ]+ {_NAME} has \d+ [^\n]+ but its trait declaration", "implementations"),
        ("E0050", rf"[\w ]+ {_NAME} has [^\n]+ but the declaration in trait", "implementations"),
        ("E0053", rf"[\w ]+ {_NAME} has an incompatible type for trait", "implementations"),
        (
            "E0185",
            rf"[\w ]+ {_NAME} has a `[^\n]+` declaration in the impl",
            "implementations",
        ),
        (
            "E0186",
            rf"[\w ]+ {_NAME} has a `[^\n]+` declaration in the trait",
            "implementations",
        ),
        ("E0195", r"lifetime parameters (?:do not match|or bounds)", "implementations"),
        ("E0107", rf"missing generics for [^`\n]+ {_NAME}", "generic arguments"),
        ("E0107", r"[^\n]+ takes [^\n]+ arguments?", "generic arguments"),
        ("E0063", rf"missing fields? {_NAME}", "struct literals"),
        ("E0023", r"this pattern has [^\n]+, but the corresponding", "patterns"),
        ("E0027", r"pattern does not mention fields? ", "patterns"),
        ("E0532", r"expected [^\n]+, found [^`\n]+(?:`(?P<symbol>\w+)`)?", "patterns"),
        ("E0029", r"only `?char`? and numeric types are allowed in range", "patterns"),
        ("E0369", r"(?:binary operation|cannot \w+) ", "operators"),
        ("E0600", r"cannot apply unary operator", "operators"),
        ("E0614", r"type `[^\n]+` cannot be dereferenced", "operators"),
        ("E0608", r"cannot index into a value of type", "indices"),
        ("E0604", r"only `u8` can be cast as `char`", "casts"),
        ("E0605", r"non-primitive cast", "casts"),
        ("E0606", r"casting `[^\n]+` as `[^\n]+` is invalid", "casts"),
        ("E0607", r"cannot cast thin pointer", "casts"),
        ("E0610", r"`[^\n]+` is a primitive type and therefore doesn't have fields", "fields"),
        ("E0615", rf"attempted to take value of method {_NAME}", "fields"),
        ("E0616", rf"field {_NAME} of [^\n]+ is private", "visibility"),
        ("E0624", rf"[^`\n]+ {_NAME} is private", "visibility"),
        ("E0603", rf"[^`\n]+ {_NAME} is private", "visibility"),
        ("E0631", r"type mismatch in (?:closure|function) arguments", "closures"),
        ("E0593", r"(?:closure|function) is expected to take ", "closures"),
        ("E0404", rf"expected trait, found [^`\n]+ {_NAME}", "kinds"),
        ("E0423", rf"expected [^\n]+, found [^`\n]+ {_NAME}", "kinds"),
        ("E0573", rf"expected type, found [^`\n]+ {_NAME}", "kinds"),
        ("E0574", rf"expected struct[^\n]*, found [^`\n]+ {_NAME}", "kinds"),
    )
)

ROWS: tuple[Row, ...] = _MISSING + _SHAPES
