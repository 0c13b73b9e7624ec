"""How a suite ended, from exit code and result file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from nanobench.errors import EnvironmentSetupError, InvalidInputError
from nanobench.model.task import Task
from nanobench.verify.outputs import OutputStore
from nanobench.verify.suites import Purpose, SuiteRun, run_suites

PASSED = '<testsuite name="pytest" timestamp="x"><testcase classname="t" name="a"/></testsuite>'
FAILED = PASSED.replace("/></testsuite>", '><failure message="m"/></testcase></testsuite>')
ERRED = PASSED.replace('classname="t"', 'classname=""').replace(
    "/></testsuite>", '><error message="collection failure"/></testcase></testsuite>'
)
SKIPPED = PASSED.replace('classname="t"', 'classname=""').replace(
    "/></testsuite>", '><skipped message="collection skipped"/></testcase></testsuite>'
)
EMPTY = '<testsuite name="pytest" timestamp="x"></testsuite>'


@dataclass(frozen=True)
class Ended:
    exit_code: int | None
    timed_out: bool = False
    duration_seconds: float = 1.0
    launched: bool = True


@dataclass
class FakeRoom:
    """Writes what it is told instead of running anything."""

    run_dir: Path
    ended: Ended
    result: str | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    workspace: str = "/ws"
    run_path: str = "/run/nb"
    calls: list[dict[str, Any]] = field(default_factory=list)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] = {},
        timeout_seconds: float,
        stdout: Path,
        stderr: Path,
        network: Literal["host", "none"],
    ) -> Ended:
        self.calls.append({"argv": argv, "cwd": cwd, "env": env, "network": network})
        stdout.write_bytes(self.stdout)
        stderr.write_bytes(self.stderr)
        if self.result is not None:
            (self.run_dir / "results-tests").write_text(self.result)
        return self.ended


@pytest.fixture
def run_one(tmp_path: Path, task: Callable[..., Task]) -> Callable[..., SuiteRun]:
    def run(ended: Ended, result: str | None, command: str = "pytest", **said: bytes) -> SuiteRun:
        room = FakeRoom(tmp_path, ended, result, **said)  # type: ignore[arg-type]
        document = task(test_command=command)
        [found] = run_suites(room, document, tmp_path, OutputStore(tmp_path / "outputs"))
        return found

    return run


@pytest.mark.parametrize(
    ("ended", "result", "state"),
    [
        (Ended(0), PASSED, "ok"),
        (Ended(1), FAILED, "ok"),
        (Ended(2), ERRED, "ok"),
        (Ended(0), FAILED, "inconsistent"),
        (Ended(1), PASSED, "inconsistent"),
        (Ended(0), ERRED, "inconsistent"),
        (Ended(-11), PASSED, "crashed"),
        (Ended(139), None, "crashed"),
        (Ended(3), None, "crashed"),
        (Ended(3), PASSED, "crashed"),
        (Ended(1), FAILED[:-15], "crashed"),
        (Ended(1), "", "crashed"),
        (Ended(1), "<a></b>", "malformed_result"),
        (Ended(0), FAILED[:-15], "malformed_result"),
        (Ended(0), None, "no_result"),
        (Ended(5), EMPTY, "nothing_collected"),
        (Ended(0), EMPTY, "nothing_collected"),
        (Ended(5), SKIPPED, "nothing_collected"),
        (Ended(None, timed_out=True), None, "timed_out"),
        (Ended(-9, timed_out=True), PASSED, "timed_out"),
    ],
)
def test_exit_code_and_result_file_give_the_state(
    run_one: Callable[..., SuiteRun], ended: Ended, result: str | None, state: str
) -> None:
    run = run_one(ended, result)
    assert run.state == state
    if state not in ("ok", "inconsistent"):
        assert run.errors


def test_a_crash_names_its_signal_and_the_last_words(run_one: Callable[..., SuiteRun]) -> None:
    [error] = run_one(Ended(-11), None, stdout=b"last words\n").errors
    assert error.message == "the suite was killed by SIGSEGV"
    assert error.details == "last words"


def test_a_suite_without_results_is_explained_by_its_last_exception(
    run_one: Callable[..., SuiteRun],
) -> None:
    said = b"ImportError while loading conftest '/ws/conftest.py'.\nE   ImportError: no 'x'\n"
    [error] = run_one(Ended(4), None, stderr=said).errors
    assert (error.type, error.message) == ("ImportError", "ImportError: no 'x'")
    assert error.details is not None
    assert "'conftest.py'" in error.details


def test_texts_do_not_tell_where_the_run_directory_was(run_one: Callable[..., SuiteRun]) -> None:
    run = run_one(Ended(1), FAILED.replace('"m"', '"OSError: /run/nb/tmp/x missing"'))
    assert run.tests[0].message == "OSError: tmp/x missing"


def test_a_node_file_that_does_not_load_gets_its_exception_from_the_output(
    run_one: Callable[..., SuiteRun],
) -> None:
    result = (
        '<testsuites><testcase name="b.mjs" classname="test" file="/ws/b.mjs"><failure '
        'message="test failed">{ exitCode: 1, signal: null }</failure></testcase></testsuites>'
    )
    said = "SyntaxError: no export named 'x'\n    at /ws/b.mjs\n\n✖ b.mjs (1.5ms)\n".encode()
    run = run_one(Ended(1), result, command="node --test", stdout=said)
    [error] = run.errors
    assert (run.state, error.file, error.type) == ("ok", "b.mjs", "SyntaxError")
    assert error.details == "SyntaxError: no export named 'x'\n    at b.mjs"


def test_tests_that_a_failed_node_hook_cancelled_get_its_exception(
    run_one: Callable[..., SuiteRun],
) -> None:
    cancelled = '<failure type="cancelledByParent" message="test did not finish">{}</failure>'
    result = (
        '<testsuites><testsuite name="s" disabled="0"><testcase name="x" classname="test"'
        f' time="1.5">{cancelled}</testcase><testcase name="y" classname="test"/></testsuite>'
        f'<testcase name="z" classname="test">{cancelled}</testcase></testsuites>'
    )
    said = "✖ failing tests:\n\ntest at a.mjs:3:1\n✖ s (0.9ms)\n  TypeError: no f\n      at /ws/a\n"
    run = run_one(Ended(1), result, command="node --test", stdout=said.encode())
    first, second, third = run.tests
    assert (first.status, first.error_type) == ("error", "TypeError")
    assert (first.message, first.details) == ("TypeError: no f", "TypeError: no f\n    at a")
    assert first.duration_seconds == 1.5
    assert (second.status, second.error_type) == ("passed", None)
    assert (third.status, third.error_type) == ("error", None)


def test_a_result_that_lay_there_before_is_not_believed(
    tmp_path: Path, run_one: Callable[..., SuiteRun]
) -> None:
    (tmp_path / "results-tests").write_text(PASSED)
    assert run_one(Ended(0), None).state == "no_result"


def test_whole_output_and_summary_are_kept(
    tmp_path: Path, run_one: Callable[..., SuiteRun]
) -> None:
    run = run_one(Ended(0), PASSED, stdout=b"x\xff\n")
    assert run.summary.output_id == "suite-tests"
    assert (run.summary.command, run.exit_code, run.duration_seconds) == ("pytest", 0, 1.0)
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["suite-tests.log.gz"]


def test_environment_directory_network_and_choice(
    tmp_path: Path, task: Callable[..., Task]
) -> None:
    suites = [
        {"name": "py", "language": "Python", "command": "pytest"},
        {
            "name": "ui",
            "language": "TypeScript",
            "command": "npx vitest run",
            "cwd": "ui",
            "env": {"B": "suite"},
        },
    ]
    environment = {"env": {"A": "task", "B": "task"}, "network": {"verify": "host"}}
    room = FakeRoom(tmp_path, Ended(1))
    purpose = Purpose("control", {"ui"})
    document = task(suites=suites, environment=environment)
    [run] = run_suites(room, document, tmp_path, OutputStore(tmp_path / "o"), purpose)
    [call] = room.calls
    assert (call["cwd"], call["network"]) == ("ui", "host")
    assert call["env"] == {"A": "task", "B": "suite"}
    assert call["argv"][:2] == ("/bin/sh", "-c")
    assert "--outputFile=/run/nb/results-ui" in call["argv"][2]
    assert run.summary.output_id == "control-ui"


def test_a_sandbox_that_fails_is_no_test_failure(run_one: Callable[..., SuiteRun]) -> None:
    with pytest.raises(EnvironmentSetupError, match="'tests'") as caught:
        run_one(Ended(None, launched=False), None, stderr=b"bwrap: no")
    assert "bwrap: no" in caught.value.where


def test_no_suite_runs_when_one_of_them_is_opaque(
    tmp_path: Path, task: Callable[..., Task]
) -> None:
    suites = [
        {"name": "py", "language": "Python", "command": "pytest"},
        {"name": "ui", "language": "TypeScript", "command": "npm test"},
    ]
    room = FakeRoom(tmp_path, Ended(0), PASSED)
    with pytest.raises(InvalidInputError, match="'ui'"):
        run_suites(room, task(suites=suites), tmp_path, OutputStore(tmp_path / "o"))
    assert room.calls == []
