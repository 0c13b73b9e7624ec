"""Suites of Go, Rust, Java, C and JavaScript, run by their real runners where they are installed.

The projects are those of `tests/fixtures/results`, whose captured results say what comes out.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from nanobench.environment.plain import Plain
from nanobench.environment.sandbox import Command, CommandResult
from nanobench.model.task import Suite, Task
from nanobench.verify.formats import parse
from nanobench.verify.outputs import OutputStore
from nanobench.verify.suites import SuiteRun, run_suites

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "tests" / "fixtures" / "results"
INDEX = json.loads((RESULTS / "index.json").read_text())


@dataclass
class PlainRoom:
    """Commands as plain processes on this machine, with its own toolchains."""

    workspace: str
    run_path: str

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
    ) -> CommandResult:
        place = str(Path(self.workspace, cwd))
        variables = {**os.environ, "LC_ALL": "C.UTF-8", **env}
        variables.pop("CARGO_TARGET_DIR", None)
        command = Command(tuple(argv), place, variables, timeout_seconds, stdout, stderr, network)
        return Plain().run(command, ())


Run = Callable[..., SuiteRun]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def in_project(project: str, language: str, command: str) -> SuiteRun:
        tree, run_dir = tmp_path / "ws", tmp_path / "run"
        shutil.copytree(RESULTS / project, tree)
        run_dir.mkdir()
        suite = Suite(name="tests", language=language, command=command, timeout_seconds=300)
        # The rest of a task plays no part in how its suites are run.
        task = Task.model_construct(suites=(suite,), test_command=None)
        task = task.model_copy(update={"environment": Task.model_fields["environment"].default})
        room = PlainRoom(str(tree), str(run_dir))
        [found] = run_suites(room, task, run_dir, OutputStore(tmp_path / "out"))
        return found

    return in_project


def statuses(found: SuiteRun) -> dict[str, str]:
    return {test.id: test.status for test in found.tests}


def captured(name: str) -> dict[str, str]:
    result = parse(INDEX[name]["format"], RESULTS / name, "/ws")
    return {test.id: test.status for test in result.tests}


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("project", "language", "command", "result"),
    [
        pytest.param(
            "go/project", "Go", "go test ./...", "go/outcomes.jsonl", marks=needs("go"), id="go"
        ),
        pytest.param(
            "cargo/project",
            "Rust",
            "cargo test",
            "cargo/outcomes.txt",
            marks=needs("cargo"),
            id="cargo",
        ),
        pytest.param(
            "cargo/project",
            "Rust",
            "cargo nextest run",
            "cargo/nextest.xml",
            marks=needs("cargo-nextest"),
            id="nextest",
        ),
        pytest.param(
            "maven/project",
            "Java",
            "mvn -q -B test",
            "maven/outcomes",
            marks=needs("mvn"),
            id="maven",
        ),
        pytest.param(
            "ctest/project",
            "C",
            "cmake . && ctest --stop-on-failure",
            "ctest/outcomes.xml",
            marks=needs("cmake", "ctest"),
            id="ctest",
        ),
    ],
)
def test_an_adapted_command_tells_every_outcome(
    run: Run, project: str, language: str, command: str, result: str
) -> None:
    found = run(project, language, command)
    assert found.state == "ok"
    assert statuses(found) == captured(result)
    assert found.exit_code == INDEX[result]["exit_code"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("project", "language", "command", "state", "message"),
    [
        pytest.param(
            "go/project",
            "Go",
            "go test ./broken",
            "ok",
            "example.org/demo/broken: broken/broken_test.go:6:2: undefined: Missing",
            marks=needs("go"),
            id="go",
        ),
        pytest.param(
            "cargo/broken",
            "Rust",
            "cargo test",
            "ok",
            "error[E0425]: cannot find function `missing` in this scope",
            marks=needs("cargo"),
            id="cargo",
        ),
        pytest.param(
            "maven/broken",
            "Java",
            "mvn -q -B test",
            "crashed",
            "[ERROR] src/test/java/demo/BrokenTest.java:[8,22] incompatible types:"
            " java.lang.String cannot be converted to int",
            marks=needs("mvn"),
            id="maven",
        ),
    ],
)
def test_what_does_not_compile_names_the_compilers_error(
    run: Run, project: str, language: str, command: str, state: str, message: str
) -> None:
    found = run(project, language, command)
    assert found.tests == ()
    assert (found.state, found.errors[0].line(), found.errors[0].type) == (
        state,
        message,
        "CompileError",
    )


@needs("go")
def test_a_package_without_tests_collects_nothing(run: Run) -> None:
    assert run("go/project", "Go", "go test ./empty").state == "nothing_collected"


@pytest.mark.slow
def test_captured_results_are_what_the_runners_still_write(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "generate-result-fixtures"
    command = [sys.executable, str(script), "--out", str(tmp_path)]
    subprocess.run(command, check=True, timeout=1500, capture_output=True)
    index = json.loads((tmp_path / "index.json").read_text())
    assert index
    for name, entry in index.items():
        assert entry == INDEX[name]
        if entry["format"] != "output":
            result = parse(entry["format"], tmp_path / name, "/ws")
            found, wanted = {test.id: test.status for test in result.tests}, captured(name)
            if name == "node/outcomes.xml" and not any("::" in test_id for test_id in found):
                # Node before 24 names no files.
                wanted = {test_id.partition("::")[2]: status for test_id, status in wanted.items()}
            assert found == wanted, name
