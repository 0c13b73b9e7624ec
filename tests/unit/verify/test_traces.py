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
