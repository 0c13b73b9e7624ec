"""The test that must fail beside the real ones."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.task import Suite
from nanobench.verify.canary import Canary, canary_of, trusted, without_trust
from nanobench.verify.suites import SuiteRun
from nanobench.workspace.changes import Change


def golden(path: str, content: bytes | None = b"import x\n") -> Change:
    return Change(path.encode(), None if content is None else 0o100644, content, None)


def of_suite(suite_run: Callable[..., SuiteRun], command: str) -> SuiteRun:
    return replace(suite_run({}), suite=Suite(name="s", language="Python", command=command))


@pytest.mark.parametrize(
    ("command", "path", "said"),
    [
        ("python -m pytest", "tests/test_a.py", b"assert 1 == 2"),
        ("node --test a.test.js", "a.test.js", b'from "node:assert/strict"'),
        ("node --test a.test.cjs", "a.test.cjs", b'require("node:test")'),
        ("npx vitest run", "a.test.ts", b'from "vitest"'),
        ("npx jest", "a.test.tsx", b"expect(1).toBe(2)"),
    ],
)
def test_a_runner_gets_a_test_of_its_own_kind(
    suite_run: Callable[..., SuiteRun], command: str, path: str, said: bytes
) -> None:
    canary = canary_of(of_suite(suite_run, command), [golden(path), golden("README.md")])
    assert canary is not None
    (changed,) = canary.tests
    assert (changed.content or b"").startswith(b"import x\n")
    assert said in (changed.content or b"")
    assert canary.name.encode() in (changed.content or b"")


@pytest.mark.parametrize("command", ["go test ./...", "python -m pytest"])
def test_without_a_fitting_file_there_is_none(
    suite_run: Callable[..., SuiteRun], command: str
) -> None:
    assert canary_of(of_suite(suite_run, command), [golden("a_test.go")]) is None
    assert canary_of(of_suite(suite_run, command), [golden("tests/test_a.py", None)]) is None


def test_its_name_is_that_of_the_golden_tests(suite_run: Callable[..., SuiteRun]) -> None:
    suite = of_suite(suite_run, "pytest")
    one, same = (canary_of(suite, [golden("t.py", b"1\n")]) for _ in range(2))
    other = canary_of(suite, [golden("t.py", b"2\n")])
    assert one is not None
    assert other is not None
    assert one == same
    assert one.name != other.name


def test_the_python_one_fails(suite_run: Callable[..., SuiteRun], tmp_path: Path) -> None:
    canary = canary_of(of_suite(suite_run, "pytest"), [golden("test_a.py", b"x = 1")])
    assert canary is not None
    (tmp_path / "test_a.py").write_bytes(canary.tests[0].content or b"")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a.py"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"FAILED test_a.py::test_{canary.name}" in done.stdout


@pytest.mark.parametrize(
    ("statuses", "state", "exit_code", "sings"),
    [
        (("failed",), "ok", 1, True),
        (("failed", "error"), "ok", 1, True),
        (("failed",), "inconsistent", 0, False),
        (("failed",), "ok", 0, False),
        (("passed",), "ok", 1, False),
        (("failed", "passed"), "ok", 1, False),
        ((), "ok", 1, False),
    ],
)
def test_it_sings_only_where_results_and_exit_code_say_so(
    suite_run: Callable[..., SuiteRun], statuses: Any, state: Any, exit_code: int, sings: bool
) -> None:
    tests = {f"a::test_canary_1 #{number}": status for number, status in enumerate(statuses)}
    seen = suite_run({**tests, "a::test_b": "passed"}, state=state, exit_code=exit_code)
    assert Canary("canary_1", ()).sings(seen) is sings


def test_without_trust_nothing_passes(suite_run: Callable[..., SuiteRun]) -> None:
    doubted = without_trust(suite_run({"t": "passed"}))
    assert (doubted.state, doubted.tests) == ("inconsistent", ())
    assert "changes what its runner says" in doubted.errors[0].line()


TESTS = (golden("tests/test_a.py"),)


@pytest.mark.parametrize(
    ("on_agent", "on_golden", "labels", "is_trusted"),
    [
        (True, None, ["canary"], True),
        (False, True, ["canary", "canary-golden"], False),
        (False, False, ["canary", "canary-golden"], True),
    ],
)
def test_results_are_dropped_only_if_the_golden_state_would_tell(
    suite_run: Callable[..., SuiteRun],
    on_agent: bool,
    on_golden: bool | None,
    labels: list[str],
    is_trusted: bool,
) -> None:
    asked: list[str] = []

    def again(label: str, tests: tuple[Change, ...]) -> SuiteRun:
        asked.append(label)
        (name,) = {word for word in str(tests[0].content).split() if "test_canary" in word}
        sings = on_agent if label == "canary" else on_golden
        return suite_run({name: "failed" if sings else "passed"}, exit_code=1 if sings else 0)

    run = suite_run({"t": "passed"})
    assert (trusted(run, TESTS, again) == run) is is_trusted
    assert asked == labels


@pytest.mark.parametrize(
    ("statuses", "state"), [({"t": "failed"}, "ok"), ({}, "ok"), ({"t": "passed"}, "crashed")]
)
def test_where_nothing_is_to_be_doubted_nothing_is_run_again(
    suite_run: Callable[..., SuiteRun], statuses: dict[str, str], state: Any
) -> None:
    def again(label: str, tests: tuple[Change, ...]) -> SuiteRun:
        raise AssertionError(label)

    run = suite_run(statuses, state=state)
    assert trusted(run, TESTS, again) == run
