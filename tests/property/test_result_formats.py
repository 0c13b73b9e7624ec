"""What a runner writes can come from hostile code: it is refused, or a record can hold it."""

import io
import json

import pytest

from nanobench.scoring.symptoms import find_symptoms
from nanobench.verify.formats import parser_for
from nanobench.verify.results import ParseError

MOCHA_TEST = {"file": "/ws/a.js", "fullTitle": "a", "duration": 1}
MOCHA_FAILURE = {**MOCHA_TEST, "err": {"name": "E", "message": "m", "stack": "E: m\n at a.js"}}
DOCUMENTS = {
    "jest-json": {
        "testResults": [
            {
                "name": "/ws/a.js",
                "status": "failed",
                "message": "TypeError: m",
                "assertionResults": [
                    {
                        "status": "failed",
                        "fullName": "a",
                        "duration": 1,
                        "failureMessages": ["TypeError: m"],
                    }
                ],
            },
            {"name": "/ws/b.js", "status": "failed", "message": "m", "assertionResults": []},
        ]
    },
    "mocha-json": {
        "tests": [MOCHA_TEST, MOCHA_FAILURE],
        "failures": [MOCHA_FAILURE, {**MOCHA_FAILURE, "fullTitle": "hook"}],
        "pending": [],
    },
    "go-json": [
        {"Action": "build-output", "ImportPath": "p", "Output": "x.go:1:1: m\n"},
        {"Action": "run", "Package": "p", "Test": "T"},
        {"Action": "output", "Package": "p", "Test": "T", "Output": "panic: m\n"},
        {"Action": "fail", "Package": "p", "Test": "T", "Elapsed": 1},
        {"Action": "fail", "Package": "p", "FailedBuild": "p"},
    ],
    "libtest-json": [
        {"type": "suite", "event": "started"},
        {"type": "test", "event": "started", "name": "t"},
        {"type": "test", "event": "failed", "name": "t", "exec_time": 1, "stdout": "m"},
        {"type": "test", "event": "ignored", "name": "p$u", "reason": "m"},
    ],
}


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_any_result_file_is_refused_or_can_be_recorded(name, spoiled):
    for document in spoiled(DOCUMENTS[name]):
        lines = document if isinstance(document, list) else [document]
        stream = io.BytesIO("\n".join(map(json.dumps, lines)).encode())
        try:
            parsed = parser_for(name)(stream, "/ws").without("/ws")
        except ParseError:
            continue
        for error in parsed.suite_errors:
            f"{error.type}{error.line()}".encode()
        for test in parsed.tests:
            type(test).model_validate(test.model_dump()).to_json()
        for language in ("javascript", "go", "rust"):
            find_symptoms(language, "suite", parsed.tests)
