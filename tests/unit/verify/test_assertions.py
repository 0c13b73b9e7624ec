"""A failed assertion is one in the results of every runner, and no other failure is."""

import json
from pathlib import Path

import pytest

from nanobench.model.signals import TestOutcome as Outcome
from nanobench.scoring.raised import raised
from nanobench.verify.formats import parse

RESULTS = Path(__file__).resolve().parents[2] / "fixtures" / "results"
INDEX = json.loads((RESULTS / "index.json").read_text())


def _is_assertion(language: str, test: Outcome) -> bool:
    exception = raised(language, test)
    return exception is not None and exception.is_assertion


@pytest.mark.parametrize(
    ("name", "language", "assertions"),
    [
        (
            "pytest/outcomes.xml",
            "Python",
            {"test_fail", "test_both", "test_unexpected_pass", "test_output"},
        ),
        ("jest/outcomes.json", "JavaScript", {"fails"}),
        ("vitest/outcomes.json", "TypeScript", {"fails"}),
        ("vitest/outcomes.xml", "TypeScript", {"fails"}),
        ("mocha/outcomes.json", "JavaScript", {"fails"}),
        ("node/outcomes.xml", "JavaScript", {"fails"}),
        ("node/outcomes.tap", "JavaScript", {"fails"}),
        ("maven/outcomes", "Java", {"fails", "output"}),
        ("cargo/outcomes.txt", "Rust", {"fails", "does_not_panic", "add #2"}),
        ("cargo/nextest.xml", "Rust", {"fails", "does_not_panic"}),
        (
            "go/outcomes.jsonl",
            "Go",
            {"TestFail", "TestSubtests", "TestSubtests/bad", "TestOutput", "Example_wrong"},
        ),
    ],
)
def test_every_runners_assertions_are_told_from_other_failures(
    name: str, language: str, assertions: set[str]
) -> None:
    failed = [
        test
        for test in parse(INDEX[name]["format"], RESULTS / name, "/ws").tests
        if test.status in ("failed", "error")
    ]
    found = {test.id for test in failed if _is_assertion(language, test)}
    named = {test_id.rpartition("::")[2].rpartition(" - ")[2] for test_id in found}
    assert named == assertions
    assert len(failed) > len(found)


@pytest.mark.parametrize(
    ("language", "error_type", "message"),
    [
        ("python", "Failed", "Failed: DID NOT RAISE ValueError"),
        ("java", "junit.framework.AssertionFailedError", "no"),
        ("java", "org.junit.ComparisonFailure", "expected:<[a]> but was:<[b]>"),
        ("java", "org.junit.internal.ArrayComparisonFailure", "arrays first differed at [0]"),
        ("java", "org.opentest4j.MultipleFailuresError", "Multiple Failures (2 failures)"),
        ("java", "org.mockito.exceptions.verification.WantedButNotInvoked", "Wanted but not"),
        ("javascript", "Error", "Error: expect(jest.fn()).toHaveBeenCalled()"),
        ("javascript", "Error", "Error: expect.assertions(1)"),
        ("typescript", "Error", "Error: Snapshot `u > snap 1` mismatched"),
        ("typescript", "Error", "Error: expected number of assertions to be 1, but got 0"),
        ("typescript", "Error", 'Error: promise resolved "1" instead of rejecting'),
    ],
)
def test_assertions_by_other_names(language: str, error_type: str, message: str) -> None:
    test = Outcome(id="t", status="failed", error_type=error_type, message=message)
    assert _is_assertion(language, test)


@pytest.mark.parametrize(
    ("language", "error_type", "message"),
    [
        ("python", "FailedLogin", "FailedLogin: no"),
        ("java", "app.VerificationFailure", "no"),
        ("javascript", "Error", "Error: unexpected (end) of input"),
        ("javascript", "TypeError", "TypeError: expect(...).toBeOdd is not a function"),
        ("rust", None, "note: nobody panicked"),
    ],
)
def test_what_only_sounds_like_an_assertion(
    language: str, error_type: str | None, message: str
) -> None:
    test = Outcome(id="t", status="failed", error_type=error_type, message=message)
    assert not _is_assertion(language, test)
