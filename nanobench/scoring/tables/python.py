"""What CPython 3.10 to 3.14 and libraries of the kind that every project uses write."""

from nanobench.scoring.tables.row import Maker, Row

_ERROR = Maker("python")

ROWS: tuple[Row, ...] = (
    _ERROR.mismatch(
        "AttributeError",
        r"(?:property|attribute) '(?P<symbol>[^'\n]+)' of '[^'\n]+' objects? (?:has no|is not)",
        "CPython properties and slots, since 3.11",
    ),
    _ERROR.mismatch(
        "AttributeError",
        r"can't (?:set|delete) attribute(?: '(?P<symbol>[^'\n]+)')?",
        "CPython properties, until 3.10",
    ),
    _ERROR.mismatch(
        "AttributeError", r"__a?(?:enter|exit)__\Z", "CPython context managers, until 3.10"
    ),
    _ERROR.mismatch(
        "AttributeError",
        r"'[^'\n]+' object attribute '(?P<symbol>[^'\n]+)' is read-only",
        "CPython slots",
    ),
    _ERROR.missing("NameError", r"name '(?P<symbol>[^'\n]+)' is not defined", "CPython ceval"),
    _ERROR.missing(
        "AttributeError",
        r"[^\n]*?(?:has no attribute|does not have the attribute) '(?P<symbol>[^']+)'",
        "CPython objects and modules; pytest monkeypatch; unittest.mock",
    ),
    _ERROR.missing(
        "AttributeError",
        r"cannot access submodule '(?P<symbol>[^'\n]+)' of module",
        "CPython 3.12 module objects",
    ),
    _ERROR.missing("AttributeError", r"(?P<symbol>\w+)\Z", "enum; `__getattr__` by custom"),
    _ERROR.missing(
        "ImportError", r"cannot import name '(?P<symbol>[^'\n]+)' from", "CPython import"
    ),
    _ERROR.missing(
        "ModuleNotFoundError",
        r"No module named '(?P<symbol>[^']+)'",
        "CPython importlib",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"(?P<symbol>[\w.<>]+)\(\) (?:missing \d+ required|takes "
        r"|got (?:an unexpected keyword|multiple values for|some positional-only))",
        "CPython calls of Python functions",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"(?P<symbol>[\w.]+) expected (?:at least |at most |exactly )?\d+ arguments?, got \d+",
        "CPython calls of built-in functions",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"(?:missing a required|got an unexpected keyword|got some positional-only"
        r"|too many positional|multiple values for) (?:keyword-only )?arguments?",
        "inspect.Signature.bind, unittest.mock autospec",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"(?:unsupported operand type\(s\) for|bad operand type for|can only concatenate"
        r"|can't multiply sequence|'[^'\n]+' not supported between instances of)",
        "CPython operators",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"'(?P<symbol>[^'\n]+)' object (?:is not|does not support|cannot be interpreted)",
        "CPython protocols",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"(?:cannot unpack non-iterable (?P<symbol>\w+) object"
        r"|object \w+ can't be used in 'await' expression"
        r"|'async (?:for|with)' requires an object with"
        r"|argument of type '[^'\n]+' is not"
        r"|object of type '[^'\n]+' has no len\(\)|unhashable type:)",
        "CPython protocols",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"Can't instantiate abstract class (?P<symbol>\w+)",
        "CPython abc",
    ),
    _ERROR.mismatch(
        "TypeError",
        r"[^\n]*\b(?:expected|must be|required)\b[^\n]*\b(?:not|got|found)\b",
        "CPython conversions; attrs.validators.instance_of",
    ),
    _ERROR.mismatch(
        "ValidationError",
        r"\d+ validation errors? for (?P<symbol>[^\n]+)\n(?s:.*?)"
        r"(?:\[type=(?:missing\w*|extra_forbidden|unexpected_\w+|multiple_argument_values"
        r"|no_such_attribute|is_(?:instance|subclass)_of|frozen_\w+|\w+_type)\b"
        r"|\(type=(?:type_error|value_error\.(?:missing|extra))\b)",
        "pydantic 2 and 1: errors of shape, not of value",
    ),
    _ERROR.missing(
        "ValueError",
        r"\"[^\"\n]+\" object has no field \"(?P<symbol>[^\"\n]+)\"",
        "pydantic, setting what is no field",
    ),
    _ERROR.missing(
        "PydanticUndefinedAnnotation",
        r"name '(?P<symbol>[^'\n]+)' is not defined",
        "pydantic 2, forward references",
    ),
    _ERROR.mismatch("NotCallableError", r"", "attrs.validators.is_callable"),
    _ERROR.mismatch(
        "NotAnAttrsClassError", r"<class '(?P<symbol>[^'\n]+)'> is not an attrs", "attrs.fields"
    ),
    _ERROR.mismatch(
        "FrozenInstanceError",
        r"(?:cannot (?:assign to|delete) field '(?P<symbol>[^'\n]+)')?",
        "dataclasses; attrs, which names no field",
    ),
)
