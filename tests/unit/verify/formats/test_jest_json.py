"""The JSON of Jest and Vitest."""

import json
from pathlib import Path
from typing import Any

import pytest

from nanobench.verify.formats import parse
from nanobench.verify.results import ParsedResult, ParseError


def _parse(tmp_path: Path, document: Any) -> ParsedResult:
    path = tmp_path / "result.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return parse("vitest-json", path, "/ws")


def _file(name: str, *results: dict[str, Any], status: str = "passed", message: str = "") -> Any:
    return {"name": name, "assertionResults": list(results), "status": status, "message": message}


def test_ids_are_relative_file_and_full_name(tmp_path: Path) -> None:
    result = _parse(
        tmp_path,
        {
            "testResults": [
                _file(
                    "/ws/src/b.test.ts",
                    {"fullName": "outer works", "status": "passed", "duration": 12.5},
                    {"fullName": "outer works", "status": "todo"},
                    {"title": "untitled", "status": "pending"},
                ),
                _file("/ws/src/a.test.ts", {"fullName": "x", "status": "disabled"}),
            ]
        },
    )
    assert [(t.id, t.status) for t in result.tests] == [
        ("src/a.test.ts::x", "skipped"),
        ("src/b.test.ts::outer works", "passed"),
        ("src/b.test.ts::outer works #2", "skipped"),
        ("src/b.test.ts::untitled", "skipped"),
    ]
    assert result.tests[1].duration_seconds == 0.0125


def test_a_failure_names_its_exception(tmp_path: Path) -> None:
    stack = "ReferenceError: nope is not defined\n    at /ws/src/a.test.ts:2:117"
    failed = {"fullName": "x", "status": "failed", "failureMessages": [stack]}
    [test] = _parse(tmp_path, {"testResults": [_file("/ws/a.test.ts", failed)]}).tests
    assert test.error_type == "ReferenceError"
    assert test.message == "ReferenceError: nope is not defined"
    assert test.details is not None
    assert test.details.endswith("at src/a.test.ts:2:117")


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        ("(0 , nothing) is not a function", "TypeError", "(0 , nothing) is not a function"),
        ("nope is not defined", "ReferenceError", "nope is not defined"),
        (
            "  ● Test suite failed to run\n\n    TypeError: a.b is not a function\n\n > 1 | x",
            "TypeError",
            "a.b is not a function",
        ),
    ],
)
def test_a_file_that_does_not_load_is_a_suite_error_with_its_exception(
    tmp_path: Path, message: str, kind: str, text: str
) -> None:
    result = _parse(
        tmp_path, {"testResults": [_file("/ws/c.test.ts", status="failed", message=message)]}
    )
    [error] = result.suite_errors
    assert result.tests == ()
    assert (error.file, error.type, error.message) == ("c.test.ts", kind, f"{kind}: {text}")
    assert error.concerns("c.test.ts::any test")


def test_a_failing_file_with_a_failing_test_is_no_suite_error(tmp_path: Path) -> None:
    failed = {"fullName": "x", "status": "failed", "failureMessages": ["Error: y"]}
    result = _parse(tmp_path, {"testResults": [_file("/ws/a.ts", failed, status="failed")]})
    assert result.suite_errors == ()
    assert result.tests[0].error_type == "Error"


def test_a_file_that_fails_beside_passing_tests_is_a_suite_error(tmp_path: Path) -> None:
    passed = {"fullName": "x", "status": "passed"}
    result = _parse(tmp_path, {"testResults": [_file("/ws/a.ts", passed, status="failed")]})
    assert [error.line() for error in result.suite_errors] == [
        "a.ts: the file failed outside its tests"
    ]


def test_no_machine_path_enters_an_id(tmp_path: Path) -> None:
    outside = _file("/home/someone/x.test.ts", {"fullName": "y", "status": "passed"})
    assert _parse(tmp_path, {"testResults": [outside]}).tests[0].id == "x.test.ts::y"


@pytest.mark.parametrize(
    ("document", "truncated"),
    [
        ('{"testResults": [{"name": "/ws/a', True),
        ('{"testResults": [', True),
        ("{}", False),
        ("[]", False),
        ("hello", False),
        ("[" * 100_000, False),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, document: str, truncated: bool) -> None:
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path, document)
    assert caught.value.truncated == truncated


def test_values_of_wrong_types_do_no_harm(tmp_path: Path) -> None:
    strange = {"fullName": 7, "title": "t", "status": [], "duration": "x", "failureMessages": 3}
    result = _parse(
        tmp_path,
        {"testResults": [3, None, _file("/ws/a", strange), {"name": [], "assertionResults": 9}]},
    )
    assert [(t.id, t.status) for t in result.tests] == [("a::t", "error")]


def test_lone_surrogates_do_not_reach_the_record(tmp_path: Path) -> None:
    text = '{"testResults": [{"name": "/ws/a", "assertionResults": [{"fullName": "\\ud800", '
    text += '"status": "failed", "failureMessages": ["Error: \\udfff"]}]}]}'
    [test] = _parse(tmp_path, text).tests
    assert test.id == "a::?"
    test.model_dump_json()
