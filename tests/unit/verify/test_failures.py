"""Builds that fail: no tests ran, or only those of another part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.task import Task
from nanobench.verify.assess import assess
from nanobench.verify.failures import COMPILE_ERROR, of_build
from nanobench.verify.outputs import OutputStore
from nanobench.verify.results import DETAILS_LIMIT
from nanobench.verify.suites import SuiteRun, run_suites

PASSED = '<testsuite name="a"><testcase classname="a" name="t"/></testsuite>'
FAILED = (
    '<testsuite><testcase classname="a" name="t"><failure message="no"/></testcase></testsuite>'
)
JAVAC = b"""[INFO] Building b
[ERROR] /ws/b/src/B.java:[4,12] cannot find symbol
[ERROR]   symbol:   method nope()
[ERROR]   location: class B
"""
SUITE = {"name": "tests", "language": "Java", "format": "junit", "command": "check --out {OUT}"}


@dataclass(frozen=True)
class Ended:
    exit_code: int
    timed_out: bool = False
    duration_seconds: float = 1.0
    launched: bool = True


@dataclass(frozen=True)
class FakeRoom:
    """Writes what it is told instead of running anything."""

    run_dir: Path
    exit_code: int
    result: str | None
    said: bytes
    workspace: str = "/ws"
    run_path: str = "/run/nb"

    def run(self, argv: Sequence[str], *, stdout: Path, stderr: Path, **_: Any) -> Ended:
        stdout.write_bytes(self.said)
        stderr.write_bytes(b"")
        if self.result is not None:
            (self.run_dir / "results-tests").write_text(self.result)
        return Ended(self.exit_code)


Run = Callable[..., SuiteRun]


@pytest.fixture
def run_suite(tmp_path: Path, task: Callable[..., Task]) -> Run:
    def run(exit_code: int, result: str | None, said: bytes = JAVAC) -> SuiteRun:
        room = FakeRoom(tmp_path, exit_code, result, said)
        [found] = run_suites(
            room,  # type: ignore[arg-type]
            task(suites=[SUITE]),
            tmp_path,
            OutputStore(tmp_path / "outputs"),
        )
        return found

    return run


def test_a_build_that_failed_wholly_says_why(run_suite: Run) -> None:
    run = run_suite(1, None)
    assert run.state == "crashed"
    [error] = run.errors
    assert (error.file, error.type) == (None, COMPILE_ERROR)
    assert error.message == "[ERROR] b/src/B.java:[4,12] cannot find symbol"
    assert error.details is not None
    assert "symbol:   method nope()" in error.details
    assert "Building" not in error.details


def test_a_part_that_was_not_built_does_not_make_a_suite_inconsistent(run_suite: Run) -> None:
    run = run_suite(1, PASSED)
    assert run.state == "ok"
    assert [error.type for error in run.errors] == [COMPILE_ERROR]
    assert run_suite(1, PASSED, b"nothing").state == "inconsistent"


def test_a_part_that_was_not_built_is_told_beside_failed_tests(run_suite: Run) -> None:
    run = run_suite(1, FAILED)
    assert run.state == "ok"
    assert [error.type for error in run.errors] == [COMPILE_ERROR]


def test_a_suite_that_ends_well_has_no_build_error_whatever_it_printed(run_suite: Run) -> None:
    run = run_suite(0, PASSED)
    assert (run.state, run.errors) == ("ok", ())


def test_a_failed_build_is_the_agents_when_the_golden_state_builds(
    run_suite: Run, task: Callable[..., Task]
) -> None:
    expected = {"fail_to_pass": {"tests": ["a::t"]}, "pass_to_pass": {}}
    golden = run_suite(0, PASSED)
    assessment = assess(
        task(suites=[SUITE], expected=expected), [run_suite(1, None)], lambda _: golden
    )
    [suite] = assessment.suites
    assert assessment.infrastructure == ()
    assert (suite.state, suite.control) == ("crashed", "passed")
    [target] = suite.targets
    assert (target.status, target.error_type) == ("error", COMPILE_ERROR)


def test_errors_are_kept_whole_as_many_as_fit() -> None:
    output = "".join(f"./a.go:{n}:1: undefined: {'x' * 90}{n}\n" for n in range(100))
    error = of_build("Go", output)
    assert error is not None
    assert error.details is not None
    assert len(error.details) <= DETAILS_LIMIT
    assert all(line.startswith("./a.go") for line in error.details.split("\n\n"))
    assert of_build("Go", "FAIL\tp [build failed]\n") is None
