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
MOCHA = "--reporter json --reporter-option output=/run/nb/o"
JEST = "--json --outputFile=/run/nb/o"
NODE = (
    "--test-reporter=junit --test-reporter-destination=/run/nb/o"
    " --test-reporter=spec --test-reporter-destination=stdout"
)
NODE_ENDS = (
    '\'data:text/javascript,import{after}from"node:test";process.env.NODE_TEST_CONTEXT'
    "&&after(()=>{setTimeout(()=>process.exit(),1e3).unref()})'"
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
        (
            "npx mocha --exit 'test/**/*.js'",
            "npx mocha --exit 'test/**/*.js' --reporter json --reporter-option output=/run/nb/o",
            "mocha",
        ),
        ("npx nyc mocha", f"npx nyc mocha {MOCHA}", "mocha"),
        (
            "cd m && go test -race ./... -args -x",
            "cd m && go test -json -count=1 -race ./... -args -x > /run/nb/o 2>&1",
            "go",
        ),
        ("go test -count=3 .", "go test -json -count=3 . > /run/nb/o 2>&1", "go"),
        ("(go test .)", "(go test -json -count=1 . > /run/nb/o 2>&1)", "go"),
        ("gotestsum -- ./...", "gotestsum --junitfile=/run/nb/o -- ./...", "gotestsum"),
        (
            "cargo +1.90 test -p a -- --skip b",
            "cargo +1.90 test --no-fail-fast -p a -- --skip b > /run/nb/o 2>&1",
            "cargo",
        ),
        (
            "cargo test --no-fail-fast",
            "cargo test --no-fail-fast > /run/nb/o 2>&1",
            "cargo",
        ),
        (
            "cargo nextest run --lib -E 'test(x)'",
            "cargo nextest run --no-fail-fast --tool-config-file nanobench:/run/nb/o.toml"
            " --lib -E 'test(x)'",
            "cargo-nextest",
        ),
        ("./mvnw -q test", "./mvnw -q test --fail-at-end", "maven"),
        ("mvn -fae verify", "mvn -fae verify", "maven"),
        (
            "./gradlew :a:test --tests X",
            "./gradlew :a:test --tests X --continue --no-build-cache",
            "gradle",
        ),
        ("ctest -R x", "ctest -R x --output-junit /run/nb/o", "ctest"),
        ("vendor/bin/phpunit t", "vendor/bin/phpunit t --log-junit /run/nb/o", "phpunit"),
        ("npx tape test/*.js", "npx tape test/*.js > /run/nb/o", "tap"),
        ("npx ava", "npx ava --tap > /run/nb/o", "ava"),
        ("bats -r test", "bats --formatter tap -r test > /run/nb/o", "bats"),
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
        ("mocha -b --bail", f"mocha {MOCHA}", ("-b", "--bail")),
        (
            "go test -failfast -v .",
            "go test -json -count=1 -v . > /run/nb/o 2>&1",
            ("-failfast",),
        ),
        (
            "node --test --test-force-exit --test-timeout=9 a",
            f"node --test {NODE} --import {NODE_ENDS} --test-timeout=9 a",
            ("--test-force-exit",),
        ),
        (
            "node --test --test-force-exit --test-reporter=tap --test-reporter-destination={OUT}",
            f"node --test --import {NODE_ENDS} --test-reporter=tap"
            " --test-reporter-destination=/run/nb/o",
            ("--test-force-exit",),
        ),
        (
            "node --test --test-isolation=none --test-force-exit a",
            f"node --test {NODE} --test-isolation=none --test-force-exit a",
            (),
        ),
        ("cargo test -q", "cargo test --no-fail-fast > /run/nb/o 2>&1", ("-q",)),
        ("mvn -ff test", "mvn test --fail-at-end", ("-ff",)),
        ("ctest --stop-on-failure", "ctest --output-junit /run/nb/o", ("--stop-on-failure",)),
        (
            "phpunit --stop-on-defect",
            "phpunit --log-junit /run/nb/o",
            ("--stop-on-defect",),
        ),
    ],
)
def test_options_that_stop_early_are_removed_and_recorded(
    command: str, adapted: str, removed: tuple[str, ...]
) -> None:
    found = _adapt(command)
    assert (found.command, found.removed_options) == (adapted, removed)


@pytest.mark.parametrize(
    "command",
    [
        "make test",
        "npm test",
        "npm run vitest",
        "pytest | tee log",
        "python run.py",
        "node x.js",
        "go vet ./...",
        "go run ./cmd test",
        "cargo build",
        "cargo run -- test",
        "prove -r t",
    ],
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


def test_formats_are_those_of_the_runners() -> None:
    formats = {
        "npx mocha": "mocha-json",
        "go test .": "go-json",
        "cargo test": "cargo-text",
        "cargo test -- -Zunstable-options --format json": "libtest-json",
        "cargo nextest run": "junit",
        "mvn test": "junit",
        "npx tape a.js": "tap",
    }
    assert {command: _adapt(command).format for command in formats} == formats


def _run(script: str, cwd: Path) -> int:
    done = subprocess.run(["/bin/sh", "-c", script], cwd=cwd, capture_output=True, timeout=20)
    return done.returncode


def test_reports_of_modules_are_collected_and_old_ones_are_not_believed(tmp_path: Path) -> None:
    tree, out = tmp_path / "w s", tmp_path / "o ut"
    stale = tree / "a/target/surefire-reports/TEST-old.xml"
    stale.parent.mkdir(parents=True)
    stale.write_text("planted")
    (tree / "TEST-x.xml").write_text("elsewhere")
    suite = Suite(name="t", language="java", command="mvn test")
    script = adapt(suite, str(out)).script()
    for name in ("a", "b b"):
        write = f"mkdir -p '{name}/target/surefire-reports'; echo {name[0]} > "
        write += f"'{name}/target/surefire-reports/TEST-{name[0]}.xml'; "
        script = script.replace("mvn test", write + "mvn test")
    assert _run(script.replace("mvn test --fail-at-end", "(exit 3)"), tree) == 3
    found = {str(path.relative_to(out)): path.read_text() for path in out.rglob("*.xml")}
    assert found == {
        "a/target/surefire-reports/TEST-a.xml": "a\n",
        "b b/target/surefire-reports/TEST-b.xml": "b\n",
    }


def test_tests_that_testng_reports_beside_surefire_are_collected_once(tmp_path: Path) -> None:
    reports = "target/surefire-reports"
    own = f"{reports}/junitreports"  # TestNG's listener writes the same tests there
    script = adapt(
        Suite(name="t", language="java", command="mvn test"), str(tmp_path / "o")
    ).script()
    write = f"mkdir -p {own}; touch {reports}/TEST-TestSuite.xml {own}/TEST-demo.ATest.xml"
    assert _run(script.replace("mvn test --fail-at-end", write), tmp_path) == 0
    found = [str(path.relative_to(tmp_path / "o")) for path in (tmp_path / "o").rglob("*.xml")]
    assert found == [f"{reports}/TEST-TestSuite.xml"]


def test_output_that_is_a_result_is_shown_as_well(tmp_path: Path) -> None:
    suite = Suite(name="t", language="go", command="go test .")
    script = adapt(suite, str(tmp_path / "o")).script()
    script = script.replace("go test -json -count=1 .", "sh -c 'echo out; echo err >&2; exit 1'")
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (1, "out\nerr\n", "")
    assert (tmp_path / "o").read_text() == "out\nerr\n"


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
