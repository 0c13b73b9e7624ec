"""Suites held against what the gate expects."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nanobench.errors import InvalidInputError
from nanobench.model.task import Task
from nanobench.verify.assess import Assessment, assess, verification_signals
from nanobench.verify.results import SuiteError
from nanobench.verify.suites import SuiteRun
from nanobench.verify.symbols import SymbolContext

Build = Callable[..., SuiteRun]
BuildTask = Callable[..., Task]
EXPECTED = {"fail_to_pass": {"tests": ["f1", "f2"]}, "pass_to_pass": {"tests": ["p1", "p2"]}}


def _never(name: str) -> SuiteRun:
    raise AssertionError(f"no control needed for {name}")


def _assess(task: Task, run: SuiteRun, control: Any = _never) -> Assessment:
    return assess(task, [run], control)


def test_targets_regressions_and_counts(task: BuildTask, suite_run: Build) -> None:
    run = suite_run(
        {"f1": "passed", "f2": "skipped", "p1": "failed", "extra": "passed"}, exit_code=1
    )
    [suite] = _assess(task(expected=EXPECTED), run).suites
    assert [(t.id, t.status) for t in suite.targets] == [("f1", "passed"), ("f2", "skipped")]
    assert [(t.id, t.status) for t in suite.regressions] == [("p1", "failed"), ("p2", "missing")]
    assert suite.counts == {"failed": 1, "passed": 2, "skipped": 1}
    assert (suite.removed_options, suite.output_id) == (("-x",), "suite-tests")
    assert suite.targets_passed == 1


def test_a_task_without_expected_is_sent_to_its_gate(task: BuildTask, suite_run: Build) -> None:
    empty: dict[str, Any] = {"fail_to_pass": {"tests": []}, "pass_to_pass": {}}
    for expected in (None, empty):
        with pytest.raises(InvalidInputError) as caught:
            _assess(task(expected=expected), suite_run({}))
        assert "task gate t-1" in caught.value.remedy


def test_a_missing_target_carries_the_error_of_its_own_file(
    task: BuildTask, suite_run: Build
) -> None:
    expected = {
        "fail_to_pass": {"tests": ["t.test_a::x", "t.test_b.TestC::y", "t.test_c::z"]},
        "pass_to_pass": {},
    }
    errors = (
        SuiteError("t.test_a", "ImportError", "ImportError: a", "trace a"),
        SuiteError("t.test_b", "NameError", "NameError: b"),
    )
    run = suite_run({}, exit_code=2, errors=errors)
    first, second, third = _assess(task(expected=expected), run).suites[0].targets
    assert (first.status, first.error_type, first.message, first.details) == (
        "missing",
        "ImportError",
        "ImportError: a",
        "trace a",
    )
    assert second.error_type == "NameError"
    assert (third.status, third.error_type) == ("missing", None)


def test_a_test_that_a_failed_hook_kept_from_running_carries_its_error(
    task: BuildTask, suite_run: Build
) -> None:
    """As Vitest tells it: the tests of the file are skipped, without a reason."""
    targets = ["a.test.js::x", "b.test.js::x", "a.test.js::ran"]
    expected = {"fail_to_pass": {"tests": targets}, "pass_to_pass": {}}
    statuses = dict.fromkeys(targets, "skipped") | {"a.test.js::ran": "passed"}
    hook = SuiteError("a.test.js", "TypeError", "TypeError: f is not a function")
    whole = SuiteError(None, "Error", "Error: elsewhere")
    run = suite_run(statuses, exit_code=1, errors=(whole, hook))
    first, second, third = _assess(task(expected=expected), run).suites[0].targets
    assert (first.status, first.message) == ("missing", "TypeError: f is not a function")
    assert (second.status, second.message) == ("skipped", None)
    assert third.status == "passed"


def test_a_test_that_says_why_it_is_skipped_is_skipped(task: BuildTask, suite_run: Build) -> None:
    expected = {"fail_to_pass": {"tests": ["a.test.js::x"]}, "pass_to_pass": {}}
    run = suite_run({"a.test.js::x": "skipped"}, errors=(SuiteError("a.test.js", None, "no"),))
    reason = {"message": "only on Windows"}
    run = replace(run, tests=tuple(test.model_copy(update=reason) for test in run.tests))
    assert _assess(task(expected=expected), run).suites[0].targets[0].status == "skipped"


@pytest.mark.parametrize(
    "state", ["crashed", "timed_out", "no_result", "nothing_collected", "malformed_result"]
)
def test_a_suite_that_ends_badly_is_the_agents_if_the_golden_state_passes(
    task: BuildTask, suite_run: Build, state: str
) -> None:
    asked: list[str] = []

    def control(name: str) -> SuiteRun:
        asked.append(name)
        return suite_run({"f1": "passed", "f2": "passed", "p1": "passed", "p2": "passed"})

    error = SuiteError(None, "ImportError", "ImportError: conftest")
    run = suite_run({"f1": "passed"}, state=state, exit_code=4, errors=(error,))
    assessment = _assess(task(expected=EXPECTED), run, control)
    [suite] = assessment.suites
    assert asked == ["tests"]
    assert suite.control == "passed"
    assert {(t.status, t.error_type) for t in suite.targets} == {("error", "ImportError")}
    assert assessment.infrastructure == ()


@pytest.mark.parametrize("golden", [{"f1": "passed", "f2": "passed"}, {}])
def test_a_suite_that_ends_badly_on_the_golden_state_too_is_infrastructure(
    task: BuildTask, suite_run: Build, golden: dict[str, str]
) -> None:
    run = suite_run({}, state="timed_out", errors=(SuiteError(None, None, "too long"),))
    assessment = _assess(task(expected=EXPECTED), run, lambda name: suite_run(golden))
    assert assessment.suites[0].control == "failed"
    assert assessment.infrastructure == ("suite tests: timed_out, golden state as well",)


@pytest.mark.parametrize("state", ["ok", "inconsistent"])
def test_a_suite_with_results_needs_no_control(
    task: BuildTask, suite_run: Build, state: str
) -> None:
    run = suite_run({"f1": "passed", "f2": "passed"}, state=state, exit_code=1)
    [suite] = _assess(task(expected=EXPECTED), run).suites
    assert (suite.control, suite.targets_passed) == (None, 2)


def test_symptoms_of_failed_targets_are_found_and_completed(
    task: BuildTask, suite_run: Build, snapshot: Any
) -> None:
    error = SuiteError("t", "ImportError", "ImportError: cannot import name 'gone' from 'pkg'")
    document = task(expected={"fail_to_pass": {"tests": ["t::x"]}, "pass_to_pass": {}})
    assessment = _assess(document, suite_run({}, exit_code=2, errors=(error,)))
    context = SymbolContext(snapshot({b"src/a.py": b"def here(): pass\n"}), ("src/a.py",), (), ())
    [symptom] = verification_signals(assessment, context).symptoms
    assert (symptom.kind, symptom.code, symptom.symbol) == (
        "missing_symbol",
        "ImportError",
        "gone",
    )
    assert symptom.test_ids == ("t::x",)
    assert symptom.in_required_files_at_base is False
    assert symptom.in_repository_at_base is False


def test_very_many_suite_errors_do_not_swell_the_record(task: BuildTask, suite_run: Build) -> None:
    errors = tuple(SuiteError(f"t{n}", None, "long " * 9999) for n in range(60))
    [suite] = _assess(task(expected=EXPECTED), suite_run({}, exit_code=2, errors=errors)).suites
    assert len(suite.suite_errors) == 51
    assert suite.suite_errors[-1] == "and 10 more"
    assert len(suite.suite_errors[0]) < 600
