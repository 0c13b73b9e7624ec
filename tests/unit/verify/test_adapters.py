"""Commands that write their results, with nothing else changed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import InvalidInputError
from nanobench.model.task import Suite
from nanobench.verify.adapters import Adapted, adapt

PYTEST = "--junitxml=/run/nb/o --maxfail=0"
VITEST = "--reporter=json --outputFile=/run/nb/o"
JEST = "--json --outputFile=/run/nb/o"
NODE = (
    "--test-reporter=junit --test-reporter-destination=/run/nb/o"
    " --test-reporter=spec --test-reporter-destination=stdout"
)


def _adapt(command: str, **fields: Any) -> Adapted:
    suite = Suite(name="tests", language="python", command=command, **fields)
    return adapt(suite, "/run/nb/o")


@pytest.mark.parametrize(
    ("command", "adapted", "runner"),
    [
        ("pytest", f"pytest {PYTEST}", "pytest"),
        ("python3.11 -m pytest t", f"python3.11 -m pytest t {PYTEST}", "pytest"),
        (
            "cd ui && A=$PWD/x .venv/bin/python -m pytest -k 'a or b'",
            f"cd ui && A=$PWD/x .venv/bin/python -m pytest -k 'a or b' {PYTEST}",
            "pytest",
        ),
        ("uv run --frozen pytest t", f"uv run --frozen pytest t {PYTEST}", "pytest"),
        ("pytest t > log 2>&1", f"pytest t > log 2>&1 {PYTEST}", "pytest"),
        ("pytest a -- b", f"pytest a {PYTEST} -- b", "pytest"),
        ("npx vitest run 'a b'", f"npx vitest run 'a b' {VITEST}", "vitest"),
        ("pnpm exec vitest run", f"pnpm exec vitest run {VITEST}", "vitest"),
        ("npm exec -- vitest run", f"npm exec -- vitest run {VITEST}", "vitest"),
        ("node_modules/.bin/jest x;", f"node_modules/.bin/jest x {JEST};", "jest"),
        ("node --test test/*.mjs", f"node --test {NODE} test/*.mjs", "node"),
        ("(cd a; pytest b)", f"(cd a; pytest b {PYTEST})", "pytest"),
    ],
)
def test_result_options_go_where_the_runner_reads_them(
    command: str, adapted: str, runner: str
) -> None:
    found = _adapt(command)
    assert (found.command, found.runner, found.removed_options) == (adapted, runner, ())


@pytest.mark.parametrize(
    ("command", "adapted", "removed"),
    [
        ("pytest -x t", f"pytest t {PYTEST}", ("-x",)),
        ("pytest -qx t", f"pytest -q t {PYTEST}", ("-qx",)),
        ("pytest --maxfail 2 t", f"pytest t {PYTEST}", ("--maxfail 2",)),
        (
            "pytest --exitfirst --maxfail=1 --sw t",
            f"pytest t {PYTEST}",
            ("--exitfirst", "--maxfail=1", "--sw"),
        ),
        ("npx vitest run --bail 1 a", f"npx vitest run a {VITEST}", ("--bail 1",)),
        ("npx vitest run --bail=1", f"npx vitest run {VITEST}", ("--bail=1",)),
        ("jest -b a", f"jest a {JEST}", ("-b",)),
        ("pytest -x --junitxml={OUT}", "pytest --junitxml=/run/nb/o", ("-x",)),
        ("pytest -k 'x -x' t", f"pytest -k 'x -x' t {PYTEST}", ()),
    ],
)
def test_options_that_stop_early_are_removed_and_recorded(
    command: str, adapted: str, removed: tuple[str, ...]
) -> None:
    found = _adapt(command)
    assert (found.command, found.removed_options) == (adapted, removed)


@pytest.mark.parametrize(
    "command",
    ["make test", "npm test", "npm run vitest", "pytest | tee log", "python run.py", "node x.js"],
)
def test_an_opaque_command_is_refused_politely(command: str) -> None:
    with pytest.raises(InvalidInputError, match="'tests'") as caught:
        _adapt(command)
    assert command in caught.value.where
    assert "result_path" in caught.value.remedy


def test_an_opaque_command_with_result_path_and_format_runs_unchanged() -> None:
    found = _adapt("make test", result_path="build/out.xml", format="junit")
    assert (found.command, found.format, found.runner) == ("make test", "junit", None)


def test_a_result_without_a_format_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="format"):
        _adapt("make test OUT={OUT}")


def test_the_result_path_is_quoted_for_the_shell(tmp_path: Path) -> None:
    suite = Suite(name="t", language="x", command="printf %s {OUT}", format="junit")
    command = adapt(suite, "/a b/'c").command
    shell = shutil.which("sh")
    assert shell
    done = subprocess.run([shell, "-c", command], capture_output=True, check=True, timeout=20)
    assert done.stdout == b"/a b/'c"


@pytest.mark.parametrize("text", ["pytest 'unclosed", "&&", ";;", '"', "pytest \\"])
def test_odd_shell_text_gives_an_answer_or_an_error_of_ours(text: str) -> None:
    try:
        found = _adapt(text)
    except InvalidInputError:
        return
    json.dumps(found.command)
    assert found.command.startswith("pytest")
