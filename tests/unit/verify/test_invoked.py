"""What test commands start beside the runner."""

from collections.abc import Callable

import pytest

from nanobench.model.task import Task
from nanobench.verify.invoked import invoked
from nanobench.verify.shell import commands


@pytest.mark.parametrize(
    ("command", "cwd", "files"),
    [
        ("./run_tests.sh -v", ".", {"run_tests.sh"}),
        ("A=1 ../gradlew test", "java", {"gradlew"}),
        ("cd x && sh scripts/test.sh --fast", ".", {"scripts/test.sh"}),
        ("python tools/run.py", "pkg", {"pkg/tools/run.py"}),
        ("python -m pytest t", ".", set()),
        ("bash -c 'pytest t'", ".", set()),
        ("npx vitest run src/a.test.ts", ".", set()),
        ("", ".", set()),
    ],
)
def test_programs_and_scripts_by_path(
    task: Callable[..., Task], command: str, cwd: str, files: set[str]
) -> None:
    suite = {"name": "t", "language": "x", "command": command or "true", "cwd": cwd}
    assert invoked(task(suites=[suite], test_command=None)).files == files


@pytest.mark.parametrize(
    ("command", "make"), [("make test", True), ("cd a; gmake", True), ("cmake .", False)]
)
def test_make(task: Callable[..., Task], command: str, make: bool) -> None:
    assert invoked(task(test_command=command)).make is make


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("npm t", {"test", "pretest", "posttest", "lint", "prelint", "postlint"}),
        ("pnpm --filter a run lint", {"lint", "prelint", "postlint"}),
        ("yarn loop", {"loop", "preloop", "postloop"}),
        ("npx vitest", set()),
        ("vitest lint", set()),
    ],
)
def test_scripts_and_those_that_they_run(
    task: Callable[..., Task], command: str, scripts: set[str]
) -> None:
    table = {"test": "npm run lint && vitest", "lint": "eslint", "loop": "yarn loop", "odd": 3}
    assert invoked(task(test_command=command)).scripts(table) == scripts


@pytest.mark.parametrize("part", ["1", "<", "1>", "\\'", '\\"', "&"])
def test_the_work_on_a_script_stays_linear(part: str) -> None:
    assert commands("npm test;" + part * 100_000)[0][1].value == "test"
