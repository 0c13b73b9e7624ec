"""The JSON of Mocha's `json` reporter.

Ids: `file::full title`. The report lists its tests without their state: a test failed if it
stands among the failures, and was skipped if it stands among the pending. A failed hook stands
among the failures only; the tests that it kept from running are nowhere.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.model.text import clean
from nanobench.verify import traces
from nanobench.verify.formats.documents import load_object, objects, seconds_of, text_of
from nanobench.verify.results import (
    DETAILS_LIMIT,
    Failure,
    ParsedResult,
    ParseError,
    SuiteError,
    bounded,
    numbered,
    outcome,
    relative,
)


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read Mocha's JSON.

    Raises:
        ParseError: it is truncated, malformed, or no such report.
    """
    document = load_object(stream)
    if not isinstance(document.get("tests"), list):
        raise ParseError("the JSON has no list 'tests'")
    failures, pending = (Counter(map(_key, objects(document, k))) for k in ("failures", "pending"))
    tests = sorted(objects(document, "tests"), key=lambda test: text_of(test, "file"))
    outcomes = tuple(numbered(_outcomes(tests, failures, pending, root)))
    ran = Counter(map(_key, tests))
    hooks = (hook for hook in objects(document, "failures") if not ran[_key(hook)])
    return ParsedResult(outcomes, tuple(_hook(hook, root) for hook in hooks))


def _key(test: dict[str, Any]) -> str:
    return json.dumps(test, sort_keys=True)


def _outcomes(
    tests: list[dict[str, Any]], failures: Counter[str], pending: Counter[str], root: str
) -> Iterator[TestOutcome]:
    for test in tests:
        key = _key(test)
        status: TestStatus = "failed" if failures[key] else "skipped" if pending[key] else "passed"
        yield outcome(
            _id(test, root),
            status,
            seconds_of(test, "duration"),
            _failure(test) if status == "failed" else None,
        )


def _id(test: dict[str, Any], root: str) -> str:
    title = text_of(test, "fullTitle") or text_of(test, "title")
    file = text_of(test, "file")
    return f"{relative(file, root)}::{title}" if file else title


def _failure(test: dict[str, Any]) -> Failure:
    error = test.get("err")
    error = error if isinstance(error, dict) else {}
    stack, message = text_of(error, "stack"), text_of(error, "message")
    kind, line = traces.of_javascript(stack)
    kind = kind or text_of(error, "name") or None
    text = f"{kind}: {message}" if kind and message else message or line
    return Failure(kind, text, stack or message)


def _hook(hook: dict[str, Any], root: str) -> SuiteError:
    failure = _failure(hook)
    file = text_of(hook, "file")
    return SuiteError(
        clean(relative(file, root)) if file else None,
        failure.type,
        f"{clean(text_of(hook, 'fullTitle'))}: {clean(failure.message or '')}",
        bounded(failure.details, DETAILS_LIMIT),
    )
