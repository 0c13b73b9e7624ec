"""Results that real runners wrote of projects with every kind of outcome.

`scripts/generate-result-fixtures` captured them; the projects stand beside them.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from nanobench.verify.formats import parse
from nanobench.verify.results import ParsedResult

RESULTS = Path(__file__).parents[3] / "fixtures" / "results"
INDEX = json.loads((RESULTS / "index.json").read_text())
CASES = sorted(name for name, entry in INDEX.items() if entry["format"] != "output")

# Passed, failed, errors, skipped; the files or suites that failed outside their tests. The counts
# are those of the runner's own summary, where it prints one; exceptions are named.
COUNTS: dict[str, tuple[int, int, int, int, tuple[str | None, ...]]] = {
    "pytest/outcomes.xml": (9, 5, 2, 2, ("test_broken",)),
    "pytest/empty.xml": (0, 0, 0, 0, ()),
    "jest/outcomes.json": (10, 7, 0, 2, ("broken.test.js", "empty.test.js")),
    # jest-junit tells a todo as passed, and, if not asked to, no files that do not load.
    "jest/outcomes.xml": (11, 7, 0, 1, ()),
    "jest/outcomes-errors.xml": (11, 7, 0, 1, ("broken.test.js", "empty.test.js")),
    "vitest/outcomes.json": (10, 7, 0, 2, ("broken.test.js", "empty.test.js")),
    "vitest/outcomes.xml": (10, 7, 0, 2, ("broken.test.js", "empty.test.js")),
    # Mocha counts its two failed hooks as failures: 8.
    "mocha/outcomes.json": (10, 6, 0, 3, ("test/outcomes.js", "test/outcomes.js")),
    "node/outcomes.xml": (10, 10, 0, 2, ("broken.test.mjs", "crash.test.mjs")),
    # Without its JUnit's file names, an empty file looks like a test that passed.
    "node/outcomes.tap": (11, 10, 0, 2, ("broken.test.mjs", "crash.test.mjs")),
    "go/outcomes.jsonl": (16, 6, 0, 2, ("example.org/demo/broken", "example.org/demo/missing")),
    "go/gotestsum.xml": (16, 6, 0, 2, ("example.org/demo/broken", "example.org/demo/missing")),
    "go/timeout.jsonl": (13, 0, 1, 1, ("example.org/demo/slow",)),
    "go/exit.jsonl": (1, 0, 1, 0, ("example.org/demo/slow",)),
    "go/empty.jsonl": (0, 0, 0, 0, ()),
    "cargo/outcomes.txt": (7, 5, 0, 2, ()),
    "cargo/outcomes.jsonl": (5, 4, 0, 1, ()),  # without documentation tests
    "cargo/nextest.xml": (5, 4, 0, 0, ()),  # which tells no ignored tests
    "cargo/nextest.jsonl": (5, 4, 0, 1, ()),
    "cargo/abort.txt": (1, 0, 0, 0, ("dies/tests/dies.rs",)),
    "cargo/broken.txt": (0, 0, 0, 0, (None,)),
    # Surefire counts the two classes whose setup or teardown failed as errors: 5.
    "maven/outcomes": (11, 2, 3, 2, ("demo.SetupTest", "demo.TeardownTest")),
    "ctest/outcomes.xml": (4, 3, 1, 2, ()),
    "perl/outcomes.tap": (7, 3, 0, 3, ()),
    "perl/plan.tap": (1, 0, 0, 0, (None,)),
    "perl/bail.tap": (1, 0, 0, 0, (None,)),
}


def captured(name: str) -> ParsedResult:
    return parse(INDEX[name]["format"], RESULTS / name, "/ws")


def statuses(name: str) -> dict[str, str]:
    return {test.id: test.status for test in captured(name).tests}


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_the_runner(name: str) -> None:
    result = captured(name)
    found = Counter(test.status for test in result.tests)
    files = tuple(sorted((error.file for error in result.suite_errors), key=str))
    counts = (found["passed"], found["failed"], found["error"], found["skipped"], files)
    assert counts == COUNTS[name]


@pytest.mark.parametrize("name", CASES)
def test_ids_are_different_and_tell_no_place_of_a_machine(name: str) -> None:
    ids = [test.id for test in captured(name).tests]
    assert len(ids) == len(set(ids))
    assert not [test_id for test_id in ids if "/ws" in test_id or "\x1b" in test_id[:1]]


@pytest.mark.parametrize("name", CASES)
def test_the_exit_code_agrees_with_the_result(name: str) -> None:
    result = captured(name)
    failed = any(test.status in ("failed", "error") for test in result.tests)
    if result.tests or result.suite_errors:
        assert (failed or bool(result.suite_errors)) == (INDEX[name]["exit_code"] != 0)


@pytest.mark.parametrize("name", CASES)
def test_reading_twice_gives_the_same(name: str) -> None:
    assert captured(name) == captured(name)


def test_parametrised_ids_stay_whole() -> None:
    names = {
        "pytest/outcomes.xml": "test_outcomes::test_odd[x::y]",
        "jest/outcomes.json": 'outcomes.test.js::odd "x > y"',
        "vitest/outcomes.xml": 'outcomes.test.js::odd "[1]"',
        "mocha/outcomes.json": "test/outcomes.js::odd ü/\\",
        "node/outcomes.xml": "outcomes.test.mjs::odd #2",
        "node/outcomes.tap": "odd #2",
        "go/outcomes.jsonl": "example.org/demo/ok::TestParallel/x/y",
        "maven/outcomes": "demo.OutcomesTest::parameters(String)[6]",
    }
    for name, test_id in names.items():
        assert statuses(name)[test_id] == "passed", name


@pytest.mark.parametrize(
    ("name", "test_id"),
    [
        ("jest/outcomes.json", "outcomes.test.js::same"),
        ("vitest/outcomes.xml", "outcomes.test.js::same"),
        ("mocha/outcomes.json", "test/outcomes.js::same"),
        ("node/outcomes.xml", "outcomes.test.mjs::same"),
        ("node/outcomes.tap", "same"),
        ("perl/outcomes.tap", "same"),
    ],
)
def test_of_two_tests_of_one_name_the_second_failed(name: str, test_id: str) -> None:
    found = statuses(name)
    assert (found[test_id], found[f"{test_id} #2"]) == ("passed", "failed")


@pytest.mark.parametrize(
    ("name", "test_id", "kind", "message"),
    [
        ("pytest/outcomes.xml", "test_outcomes::test_setup", "RuntimeError", "RuntimeError: down"),
        (
            "mocha/outcomes.json",
            "test/outcomes.js::throws",
            "TypeError",
            "TypeError: {}.missing is not a function",
        ),
        (
            "node/outcomes.tap",
            "throws",
            "TypeError",
            "TypeError: {}.missing is not a function",
        ),
        (
            "vitest/outcomes.xml",
            "outcomes.test.js::throws",
            "TypeError",
            "{}.missing is not a function",
        ),
        (
            "go/outcomes.jsonl",
            "example.org/demo/fails::TestFail",
            None,
            "fails_test.go:9: got 1, want 2",
        ),
        (
            "go/gotestsum.xml",
            "example.org/demo/fails::TestFail",
            None,
            "fails_test.go:9: got 1, want 2",
        ),
        (
            "go/outcomes.jsonl",
            "example.org/demo/panics::TestPanic",
            "panic",
            "panic: assignment to entry in nil map [recovered, repanicked]",
        ),
        (
            "cargo/outcomes.txt",
            "outside/tests/outside.rs::unwraps_none",
            "panic",
            "called `Option::unwrap()` on a `None` value",
        ),
        (
            "cargo/nextest.xml",
            "demo::tests::fails",
            "panic",
            "assertion `left == right` failed\n  left: 3\n right: 4",
        ),
        (
            "maven/outcomes",
            "demo.OutcomesTest::throwsAnException",
            "java.lang.IllegalStateException",
            "down",
        ),
    ],
)
def test_a_failure_names_its_exception(
    name: str, test_id: str, kind: str | None, message: str
) -> None:
    [test] = [test for test in captured(name).tests if test.id == test_id]
    assert (test.error_type, test.message) == (kind, message)


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("pytest/outcomes.xml", "test_broken", "ImportError: cannot import name 'gone'"),
        ("vitest/outcomes.xml", "broken.test.js", "Cannot find module './gone.js'"),
        ("mocha/outcomes.json", "test/outcomes.js", 'setup "before each" hook for "never"'),
        ("go/outcomes.jsonl", "example.org/demo/broken", "broken/broken_test.go:6:2: undefined"),
        ("go/timeout.jsonl", "example.org/demo/slow", "panic: test timed out after 1s"),
        ("go/exit.jsonl", "example.org/demo/slow", "the package failed outside its tests"),
        ("cargo/broken.txt", None, "error[E0425]: cannot find function `missing`"),
        ("cargo/abort.txt", "dies/tests/dies.rs", "the test program ended early: signal: 6"),
        ("maven/outcomes", "demo.SetupTest", "setup is down"),
        ("perl/plan.tap", None, "the TAP plans 3 tests and tells 1"),
        ("perl/bail.tap", None, "Bail out! no database"),
    ],
)
def test_what_kept_tests_from_running_is_told(name: str, file: str | None, message: str) -> None:
    error = captured(name).suite_errors[0]
    assert error.file == file
    assert error.message.startswith(message)


def test_what_a_test_prints_is_no_result() -> None:
    assert statuses("go/outcomes.jsonl")["example.org/demo/ok::TestPass"] == "passed"
    assert not [test_id for test_id in statuses("cargo/outcomes.txt") if "spoofed" in test_id]


def test_the_line_of_a_documentation_test_is_no_part_of_its_id() -> None:
    found = statuses("cargo/outcomes.txt")
    documented = {k: v for k, v in found.items() if k.startswith("demo documentation::")}
    place = "demo documentation::src/lib.rs - add"
    assert documented == {
        place: "passed",
        f"{place} #2": "failed",
        f"{place} #3": "skipped",
        f"{place} - compile fail": "passed",
    }


def test_every_captured_file_is_looked_at() -> None:
    assert set(COUNTS) == set(CASES)
