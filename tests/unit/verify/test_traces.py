"""Exceptions found in runners' texts."""

import pytest

from nanobench.verify import traces

SPEC = """\
▶ outer
  ✔ inner (0.1ms)
✔ outer (0.2ms)
file:///ws/test/b.test.mjs:1
import {nothing} from './lib.mjs';
        ^^^^^^^
SyntaxError: The requested module './lib.mjs' does not provide an export named 'nothing'
    at ModuleJob._instantiate (node:internal/modules/esm/module_job:228:21)

Node.js v22.20.0
✖ test/b.test.mjs (21.213009ms)
✖ test/c.test.mjs (26.0ms)
"""


def test_a_node_file_gets_the_exception_printed_before_its_line() -> None:
    cause = traces.of_node_file(SPEC, "sub/test/b.test.mjs")
    assert cause is not None
    assert cause[0] == "SyntaxError"
    assert cause[1].endswith("export named 'nothing'")
    assert cause[2].startswith("file:///ws/test/b.test.mjs:1")
    assert traces.of_node_file(SPEC, "test/c.test.mjs") is None
    assert traces.of_node_file(SPEC, "test/d.test.mjs") is None


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            "Traceback (most recent call last):\n  File 'x'\nKeyError: 'a'\n\nDuring handling:\n"
            "pkg.errors.CustomError: last\n",
            "pkg.errors.CustomError",
            "pkg.errors.CustomError: last",
        ),
        ("E   ImportError: cannot import name 'x'\n=== 1 error ===", "ImportError", None),
        ("TypeError [ERR_X]: bad\n   at y", "TypeError", "TypeError [ERR_X]: bad"),
        ("RecursionError\n", "RecursionError", "RecursionError"),
    ],
)
def test_the_last_exception_of_an_output(text: str, kind: str, message: str | None) -> None:
    named = traces.of_output(text)
    assert named is not None
    assert named[0] == kind
    assert message is None or named[1] == message


@pytest.mark.parametrize("text", ["", "all good\n", "Expected: 2\nNote: x\n"])
def test_plain_text_is_no_exception(text: str) -> None:
    assert traces.of_output(text) is None


def test_pytests_place_line_beats_a_message_that_quotes_another_exception() -> None:
    details = "E   assert 'ValueError: x' == 'y'\n\nt.py:3: AssertionError"
    assert traces.of_pytest("assert 'ValueError: x' == 'y'", details)[0] == "AssertionError"


HOOKS = """\
✖ failing tests:

test at n/a.test.mjs:3:53
✖ x
  'test did not finish before its parent and was cancelled'

test at ./n/a.test.mjs:3:1
✖ s (0.907013ms)
  TypeError [Error]: lib.nope is not a function
      at SuiteContext.<anonymous> (file:///ws/n/a.test.mjs:3:42)

      at Suite.run (node:internal/test_runner/test:1129:18)
test at n/b.test.mjs:5:1
✖ fails
  AssertionError [ERR_ASSERTION]: no
"""


def test_a_node_suite_names_the_exception_of_its_hook() -> None:
    suite, other = traces.of_node_suites(HOOKS)
    assert (suite.file, suite.name, suite.type) == ("n/a.test.mjs", "s", "TypeError")
    assert suite.message == "TypeError [Error]: lib.nope is not a function"
    assert suite.text.count("\n    at ") == 2
    assert (other.name, other.type) == ("fails", "AssertionError")


@pytest.mark.parametrize(
    ("test_id", "holds"),
    [
        ("n/a.test.mjs::s > x", True),
        ("n/a.test.mjs::outer > s > inner > x #2", True),
        ("s > x", True),  # Node before 24
        ("n/b.test.mjs::s > x", False),
        ("n/a.test.mjs::s", False),  # a test of that name
        ("n/a.test.mjs::outer > s", False),
        ("n/a.test.mjs::ss > x", False),
    ],
)
def test_a_node_suite_holds_the_tests_below_it(test_id: str, holds: bool) -> None:
    assert traces.of_node_suites(HOOKS)[0].holds(test_id) is holds


def test_a_failed_node_hook_hides_its_message_in_the_cause() -> None:
    details = "{\n  code: 'ERR_TEST_FAILURE',\n  cause: TypeError [Error]: f is not a function\n}"
    told = ("TypeError", "TypeError: f is not a function")
    assert traces.of_node("failed running before hook", details) == told
    assert traces.of_node("failed running beforeEach hook", details) == told
    assert traces.of_node("no", details) == ("TypeError", "TypeError: no")
