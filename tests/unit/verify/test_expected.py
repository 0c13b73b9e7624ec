"""Fail-to-pass and pass-to-pass from the base and the golden state."""

from collections.abc import Callable

import pytest

from nanobench.errors import GateError
from nanobench.verify.expected import compute_expected
from nanobench.verify.results import SuiteError
from nanobench.verify.suites import SuiteRun

Build = Callable[..., SuiteRun]


def test_the_states_are_compared_test_by_test(suite_run: Build) -> None:
    base = suite_run(
        {
            "kept": "passed",
            "fixed": "failed",
            "broke": "error",
            "skip": "skipped",
            "gone": "passed",
        },
        exit_code=1,
    )
    golden = suite_run(
        {
            "new": "passed",
            "kept": "passed",
            "fixed": "passed",
            "broke": "passed",
            "skip": "passed",
            "unskipped": "skipped",
        }
    )
    expected = compute_expected([base], [golden])
    assert expected.fail_to_pass == {"tests": ("broke", "fixed", "new", "skip")}
    assert expected.pass_to_pass == {"tests": ("kept",)}


def test_suites_are_kept_apart(suite_run: Build) -> None:
    base = [suite_run({"a": "failed"}, exit_code=1), suite_run({"a": "passed"}, name="ui")]
    golden = [suite_run({"a": "passed"}), suite_run({"a": "passed"}, name="ui")]
    expected = compute_expected(base, golden)
    assert expected.fail_to_pass == {"tests": ("a",), "ui": ()}
    assert expected.pass_to_pass == {"tests": (), "ui": ("a",)}


def test_no_difference_fails_the_gate(suite_run: Build) -> None:
    run = suite_run({"a": "passed"})
    with pytest.raises(GateError) as caught:
        compute_expected([run], [run])
    assert "no test fails at base" in caught.value.where


def test_a_golden_state_with_failures_fails_the_gate_and_lists_some(suite_run: Build) -> None:
    names = {f"t{number}": "failed" for number in range(9)}
    with pytest.raises(GateError) as caught:
        compute_expected(
            [suite_run({"a": "failed"}, exit_code=1)],
            [suite_run({"a": "passed", **names}, exit_code=1)],
        )
    assert "9 fail: t0, t1, t2, t3, t4 and 4 more" in caught.value.where


@pytest.mark.parametrize("state", ["crashed", "timed_out", "no_result", "inconsistent"])
def test_a_suite_without_trustworthy_results_fails_the_gate(suite_run: Build, state: str) -> None:
    good, bad = suite_run({"a": "failed"}, exit_code=1), suite_run({}, state=state, exit_code=1)
    with pytest.raises(GateError) as caught:
        compute_expected([bad], [suite_run({"a": "passed"})])
    assert f"base: suite tests: {state}" in caught.value.where
    with pytest.raises(GateError) as caught:
        compute_expected([good], [bad])
    assert f"golden: suite tests: {state}" in caught.value.where


def test_an_exit_code_that_says_something_else_than_the_tests_is_told(suite_run: Build) -> None:
    good = suite_run({"a": "failed"}, exit_code=1)
    for tests, exit_code, told in (
        ({"a": "passed", "b": "passed"}, 1, "exit code 1 although none of 2 tests failed"),
        ({"a": "failed", "b": "passed"}, 0, "exit code 0 although 1 of 2 tests failed"),
    ):
        odd = suite_run(tests, state="inconsistent", exit_code=exit_code)
        with pytest.raises(GateError) as caught:
            compute_expected([good], [odd])
        assert f"golden: suite tests: inconsistent, {told}" in caught.value.where


def test_a_golden_file_that_does_not_load_fails_the_gate(suite_run: Build) -> None:
    error = SuiteError("t.test_b", "ImportError", "ImportError: x")
    with pytest.raises(GateError) as caught:
        compute_expected(
            [suite_run({"a": "failed"}, exit_code=1)],
            [suite_run({"a": "passed"}, exit_code=1, errors=(error,))],
        )
    assert "t.test_b: ImportError: x" in caught.value.where
