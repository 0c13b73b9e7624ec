"""The texts are what pytest 9, node 20 and 24, unittest and Vitest write, shortened."""

import pytest

from nanobench.scoring.raised import Raised, raised

NAME_ERROR = Raised("NameError", "name 'x' is not defined")

NODE_24 = """[Error [ERR_TEST_FAILURE]: m.bar is not a function] {
  code: 'ERR_TEST_FAILURE',
  failureType: 'testCodeFailure',
  cause: TypeError: m.bar is not a function
      at TestContext.<anonymous> (file:///w/a.test.mjs:4:26)
}"""

NODE_20 = """Error [ERR_TEST_FAILURE]: foo is not defined
    at AsyncResource.runInAsyncScope (node:async_hooks:206:9) {
  code: 'ERR_TEST_FAILURE',
  failureType: 'testCodeFailure',
  cause: ReferenceError [Error]: foo is not defined
      at TestContext.<anonymous> (file:///w/a.test.mjs:3:21)
}"""

NODE_ASSERTION = """[Error [ERR_TEST_FAILURE]: The input did not match /nope/. Input:

'ReferenceError: foo is not defined'
] {
  code: 'ERR_TEST_FAILURE',
  failureType: 'testCodeFailure',
  cause: AssertionError [ERR_ASSERTION]: The input did not match /nope/. Input:

  'ReferenceError: foo is not defined'

      at TestContext.<anonymous> (file:///w/a.test.mjs:9:31) {
    code: 'ERR_ASSERTION',
    actual: ReferenceError: foo is not defined
        at file:///w/a.test.mjs:9:44,
    operator: 'throws'
  }
}"""

COLLECTION = """ImportError while importing test module 'test_b.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
test_b.py:1: in <module>
    from enum import nope
E   ImportError: cannot import name 'nope' from 'enum' (enum.py)"""

CHAIN = """def test_chain():
>       try: nosuch
E       NameError: name 'nosuch' is not defined

test_a.py:17: NameError

The above exception was the direct cause of the following exception:

    def test_chain():
>       except NameError as e: raise ValueError("no") from e
E       ValueError: no

test_a.py:18: ValueError"""

PLAIN = """Traceback (most recent call last):
  File "a.py", line 1, in f
    raise KeyError(1)
KeyError: 1

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in test
    f()
AssertionError: 'a' != 'b'
NameError: name 'x' is not defined
"""


class TestPython:
    @pytest.mark.parametrize(
        "message",
        [
            "NameError: name 'x' is not defined",
            "builtins.NameError: name 'x' is not defined",
            "failed on setup with \"NameError: name 'x' is not defined\"",
            "failed on teardown with \"NameError: name 'x' is not defined\"",
            "\x1b[31mNameError: name 'x' is not defined\x1b[0m",
            "  NameError: name 'x' is not defined\n",
        ],
    )
    def test_the_head_of_the_message(self, outcome, message):
        assert raised("python", outcome(message)) == NAME_ERROR

    @pytest.mark.parametrize("error_type", ["NameError", "builtins.NameError"])
    @pytest.mark.parametrize("prefix", ["", "NameError: "])
    def test_a_type_given_apart(self, outcome, error_type, prefix):
        test = outcome(prefix + "name 'x' is not defined", error_type=error_type)
        assert raised("python", test) == NAME_ERROR

    def test_a_type_given_apart_beats_what_the_message_quotes(self, outcome):
        message = "NameError: name 'x' is not defined"
        found = raised("python", outcome(message, error_type="AssertionError"))
        assert found == Raised("AssertionError", message)

    def test_a_type_without_a_message(self, outcome):
        assert raised("python", outcome(error_type="KeyError")) == Raised("KeyError", "")
        assert raised("python", outcome("KeyError")) == Raised("KeyError", "")

    def test_a_runners_own_word_is_no_type(self, outcome):
        test = outcome("NameError: name 'x' is not defined", error_type="failure")
        assert raised("python", test) == NAME_ERROR

    def test_a_bare_assertion_that_quotes_an_error(self, outcome):
        message = "assert \"NameError: name 'x' is not defined\" == 'b'"
        details = f"E   {message}\n\ntest_a.py:11: NameError"
        found = raised("python", outcome(message, details=details))
        assert found == Raised("AssertionError", message)

    def test_a_name_that_only_begins_like_an_assertion(self, outcome):
        details = "E   NameError: name 'x' is not defined"
        assert raised("python", outcome("assertion helper failed", details=details)) == NAME_ERROR

    def test_a_message_of_several_lines_is_kept(self, outcome):
        found = raised("python", outcome("m.ValidationError: 1 validation error for M\nx\n  bad"))
        assert found == Raised("ValidationError", "1 validation error for M\nx\n  bad")

    def test_a_collection_error_stands_in_the_details(self, outcome):
        found = raised("python", outcome("collection failure", details=COLLECTION))
        assert found == Raised("ImportError", "cannot import name 'nope' from 'enum' (enum.py)")

    def test_the_last_of_a_chain_counts(self, outcome):
        assert raised("python", outcome(details=CHAIN)) == Raised("ValueError", "no")

    @pytest.mark.parametrize("rest", ["", "\n\n/ws/a.py:3: AttributeError"])
    def test_the_place_of_an_error_is_no_part_of_its_message(self, outcome, rest):
        test = outcome(
            "AttributeError: BLUE",
            error_type="AttributeError",
            details=f"E   AttributeError: BLUE{rest}",
        )
        assert raised("python", test) == Raised("AttributeError", "BLUE")

    def test_the_rest_of_a_message_stands_in_the_details(self, outcome):
        details = "E   a.Odd: first\nE     second\n\na.py:3: Odd"
        test = outcome("Odd: first", error_type="Odd", details=details.replace("a.Odd", "Odd"))
        assert raised("python", test) == Raised("Odd", "first\n  second")

    def test_lines_of_one_block_belong_to_its_first(self, outcome):
        details = (
            ">   f()\n"
            "E   AssertionError: Regex pattern did not match.\n"
            'E     Actual message: "x"\n'
            "E\n"
            "E   NameError: name 'x' is not defined\n"
            "\n"
            "a.py:1: AssertionError"
        )
        found = raised("python", outcome(details=details))
        assert found is not None
        assert found.name == "AssertionError"
        assert "NameError" in found.text

    def test_a_syntax_error_has_no_head(self, outcome):
        details = 'E     File "test_c.py", line 1\nE       def f(:\nE   SyntaxError: invalid syntax'
        assert raised("python", outcome("collection failure", details=details)) is None

    def test_a_plain_traceback(self, outcome):
        found = raised("python", outcome(details=PLAIN))
        assert found is not None
        assert found.name == "AssertionError"
        assert found.text.startswith("'a' != 'b'\nNameError")

    @pytest.mark.parametrize(
        "head", ["a.b.OddError: no", "KeyboardInterrupt", "StopIteration", "SystemExit: 2"]
    )
    def test_heads_after_a_traceback(self, outcome, head):
        details = f"Traceback (most recent call last):\n  File 'a'\n{head}"
        name, _, text = head.rpartition(".")[2].partition(": ")
        assert raised("python", outcome(details=details)) == Raised(name, text)

    def test_indented_text_is_no_head(self, outcome):
        assert raised("python", outcome(details="    NameError: name 'x' is not defined")) is None
        assert raised("python", outcome(details="Errors: 3")) is None

    def test_nothing_to_read(self, outcome):
        assert raised("python", outcome()) is None


class TestJavaScript:
    @pytest.mark.parametrize("language", ["JavaScript", "TypeScript", "Svelte", "Vue"])
    def test_node_wraps_what_the_test_threw(self, outcome, language):
        test = outcome("m.bar is not a function", error_type="testCodeFailure", details=NODE_24)
        assert raised(language, test) == Raised("TypeError", "m.bar is not a function")

    def test_node_20(self, outcome):
        test = outcome("foo is not defined", error_type="testCodeFailure", details=NODE_20)
        assert raised("javascript", test) == Raised("ReferenceError", "foo is not defined")

    def test_an_assertion_that_quotes_an_error(self, outcome):
        test = outcome("The input did", error_type="testCodeFailure", details=NODE_ASSERTION)
        found = raised("javascript", test)
        assert found is not None
        assert found.name == "AssertionError"

    def test_a_parser_that_takes_the_wrapper_for_the_type(self, outcome):
        test = outcome("m.bar is not a function", error_type="Error", details=NODE_24)
        assert raised("javascript", test) == Raised("TypeError", "m.bar is not a function")
        wrapped = outcome("Error [ERR_TEST_FAILURE]: m.bar is not a function", details=NODE_24)
        assert raised("javascript", wrapped) == Raised("TypeError", "m.bar is not a function")

    @pytest.mark.parametrize(
        "message",
        [
            "TypeError: foo is not a function",
            "TypeError [ERR_X]: foo is not a function",
            "Uncaught TypeError: foo is not a function",
        ],
    )
    def test_the_head_of_the_message(self, outcome, message):
        found = raised("javascript", outcome(message))
        assert found == Raised("TypeError", "foo is not a function")

    def test_a_type_given_apart(self, outcome):
        test = outcome("TypeError: foo is not a function", error_type="TypeError")
        assert raised("typescript", test) == Raised("TypeError", "foo is not a function")
        other = outcome("TypeError: quoted", error_type="AssertionError")
        assert raised("typescript", other) == Raised("AssertionError", "TypeError: quoted")

    def test_a_stack_in_the_details(self, outcome):
        details = "  at first\nReferenceError: foo is not defined\n    at x.test.ts:3:1"
        assert raised("typescript", outcome(details=details)) == Raised(
            "ReferenceError", "foo is not defined"
        )

    def test_a_plain_error(self, outcome):
        assert raised("javascript", outcome("Error: no")) == Raised("Error", "no")
        assert raised("javascript", outcome("no", error_type="Error")) is None

    @pytest.mark.parametrize(
        "hook",
        [
            's "before all" hook for "x"',
            's "before all" hook in "s"',
            '"after each" hook',
            'a "b" "before each" hook: named for "x: y"',
        ],
    )
    def test_mocha_puts_the_hook_before_the_error(self, outcome, hook):
        test = outcome(f"{hook}: TypeError: f is not a function", error_type="TypeError")
        assert raised("javascript", test) == Raised("TypeError", "f is not a function")

    def test_a_message_about_hooks_is_kept(self, outcome):
        message = 'line\n"before all" hook: TypeError: f is not a function'
        test = outcome(message, error_type="TypeError")
        assert raised("javascript", test) == Raised("TypeError", message)

    def test_nothing_to_read(self, outcome):
        assert raised("javascript", outcome("no type here", details="nor here")) is None


STACK = """{head}
\tat p.A.<clinit>(A.java:3)
Caused by: {cause}
\tat p.B.f(B.java:7)
\t... 9 more
Caused by: java.lang.IllegalStateException: deepest
"""
LINKING = Raised("NoSuchMethodError", "'void p.C.m(int)'")


class TestJava:
    @pytest.mark.parametrize(
        "carrier",
        [
            "java.lang.ExceptionInInitializerError",
            "java.lang.reflect.InvocationTargetException",
            "java.lang.reflect.UndeclaredThrowableException",
            "java.util.concurrent.CompletionException: java.lang.NoSuchMethodError: 'void'",
            "java.util.concurrent.ExecutionException: java.lang.NoSuchMethodError: 'void'",
        ],
    )
    @pytest.mark.parametrize("typed", [True, False])
    def test_what_only_carries_another_is_looked_through(self, outcome, carrier, typed):
        details = STACK.format(head=carrier, cause=f"java.lang.{LINKING.name}: {LINKING.text}")
        kind, _, message = carrier.partition(": ")
        test = outcome(message if typed else None, error_type=kind if typed else None)
        assert raised("java", test.model_copy(update={"details": details})) == LINKING

    def test_carriers_stand_in_one_another(self, outcome):
        details = STACK.format(
            head="java.lang.ExceptionInInitializerError",
            cause="java.lang.reflect.InvocationTargetException",
        )
        assert raised("java", outcome(details=details)) == Raised(
            "IllegalStateException", "deepest"
        )

    def test_a_carrier_without_a_cause_is_itself(self, outcome):
        test = outcome("no", error_type="java.util.concurrent.ExecutionException")
        assert raised("java", test) == Raised("ExecutionException", "no")
        odd = test.model_copy(update={"details": "Caused by: something else"})
        assert raised("java", odd) == Raised("ExecutionException", "no")

    def test_the_cause_of_any_other_exception_is_only_told(self, outcome):
        cause = f"java.lang.{LINKING.name}: {LINKING.text}"
        details = STACK.format(head="java.lang.IllegalStateException: no", cause=cause)
        assert raised("java", outcome(details=details)) == Raised("IllegalStateException", "no")
        assert raised("java", outcome(details=f"odd\nCaused by: {cause}")) is None


def test_other_languages_are_not_read(outcome):
    assert raised("ruby", outcome("NameError: name 'x' is not defined")) is None


def test_a_message_that_begins_with_another_exception_stays_a_message(outcome):
    """Names sort before and after each other; only the same one is a repetition."""
    for named, told in (("ValueError", "KeyError: 'x'"), ("KeyError", "ValueError: x")):
        assert raised("Python", outcome(told, error_type=named)) == Raised(named, told)


@pytest.mark.parametrize("name", ["AbortError", "TypeError"])
def test_the_message_tells_a_script_error_before_its_trace_does(outcome, name):
    """Names that sort before and after the plain `Error`."""
    test = outcome(f"{name}: told", details="RangeError: later\n    at f (a.js:1:1)")
    assert raised("JavaScript", test) == Raised(name, "told")


def test_only_a_plain_error_can_be_an_assertion_of_jest(outcome):
    told = "expect(received).toBe(expected)"
    assert raised("JavaScript", outcome(told, error_type="ApiError")) == Raised("ApiError", told)
    plain = outcome(f"Error: {told}")
    assert raised("JavaScript", plain) == Raised("AssertionError", told)


def test_of_two_panics_the_first_is_the_cause(outcome):
    details = "panic: first\n\ngoroutine 1 [running]:\npanic: second\n"
    assert raised("Go", outcome("", details=details)) == Raised("panic", "first")


@pytest.mark.parametrize("status", ["passed", "skipped", "missing", "error"])
def test_a_go_test_that_did_not_fail_asserted_nothing(outcome, status):
    assert raised("Go", outcome("a_test.go:3: got 1", status=status)) is None
