"""The runners' own summaries, which the counts of real tasks are held against."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "runner_summaries.py"


@pytest.fixture
def summaries(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("runner_summaries", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


PYTEST = """\
FAILED tests/test_a.py::test_b - 3 passed in 1.0s is what it says
= 2 failed, 3 passed, 1 skipped, 4 deselected, 1 xfailed, 1 xpassed, 1 error in 61.20s (0:01:01) =
"""
VITEST = """\
 Test Files  1 failed | 2 passed (3)
      Tests  \x1b[31m1 failed\x1b[39m | 5 passed | 2 skipped | 1 todo (9)
   Start at  12:00:00
"""
JEST = """\
--- stderr ---
Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 2 skipped, 1 todo, 4 passed, 8 total
"""
CARGO = """\
test result: ok. 4 passed; 0 failed; 1 ignored; 2 measured; 9 filtered out; finished in 0.05s

     Running tests/outside.rs (target/debug/deps/outside-0123456789abcdef)
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
MAVEN = """\
[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in a.B
[INFO] Results:
[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0
[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1
"""
GO = r"""
{"Action":"output","Package":"p","Test":"TestA/x","Output":"    --- PASS: TestA/x (0.00s)\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"x --- PASS: in its own words\n"}
{"Action":"pass","Package":"p","Test":"TestB"}
--- PASS: outside of events
"""


@pytest.mark.parametrize(
    ("runner", "output", "counts"),
    [
        ("pytest", PYTEST, (4, 2, 1, 2)),
        ("pytest", "208 passed, 2 warnings in 74.50s\n", (208, 0, 0, 0)),
        ("vitest", VITEST, (5, 1, 0, 3)),
        ("jest", JEST, (4, 1, 0, 3)),
        ("cargo", CARGO, (7, 2, 0, 1)),
        ("maven", MAVEN, (2, 1, 1, 1)),
        ("go", GO, (1, 1, 0, 1)),
    ],
)
def test_counts_of_a_runner_are_read_from_its_own_summary(
    summaries: ModuleType, runner: str, output: str, counts: tuple[int, ...]
) -> None:
    said = summaries.said(runner, output)
    assert (said.passed, said.failed, said.errors, said.skipped) == counts


@pytest.mark.parametrize("runner", ["pytest", "vitest", "jest", "cargo", "maven", "go"])
def test_output_without_a_summary_says_nothing(summaries: ModuleType, runner: str) -> None:
    assert summaries.said(runner, "error: could not compile `demo`\n") is None
