"""The JSON of Jest (`--json`) and of Vitest's `json` reporter, which follows it.

Ids: `file::full name`. A file that could not be loaded has no assertion results, only a message.
"""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.verify import traces
from nanobench.verify.results import (
    DETAILS_LIMIT,
    Failure,
    ParsedResult,
    ParseError,
    SuiteError,
    bounded,
    clean,
    numbered,
    outcome,
    relative,
)

_STATUS: dict[str, TestStatus] = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "skipped",
    "pending": "skipped",
    "todo": "skipped",
    "disabled": "skipped",
}


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read Jest's or Vitest's JSON.

    Raises:
        ParseError: it is truncated, malformed, or no such report.
    """
    files = _load(stream).get("testResults")
    if not isinstance(files, list):
        raise ParseError("the JSON has no list 'testResults'")
    # Files run in parallel and are listed as they end; the order must not decide over ids.
    reports = sorted(
        ((relative(_text(file.get("name")), root), file) for file in files if _is_object(file)),
        key=lambda report: report[0],
    )
    tests = (test for place, file in reports for test in _tests(place, file))
    errors = tuple(error for place, file in reports if (error := _load_error(place, file)))
    return ParsedResult(tuple(numbered(tests)), errors)


def _load(stream: BinaryIO) -> dict[str, Any]:
    text = stream.read().decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        ended = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise ParseError(f"malformed JSON: {error}", truncated=ended) from None
    except RecursionError:
        raise ParseError("malformed JSON: it nests too deep") from None
    if not isinstance(document, dict):
        raise ParseError("the JSON is no object")
    return document


def _tests(place: str, file: dict[str, Any]) -> Iterator[TestOutcome]:
    results = file.get("assertionResults")
    for result in results if isinstance(results, list) else ():
        if not _is_object(result):
            continue
        status = _STATUS.get(_text(result.get("status")), "error")
        messages = result.get("failureMessages")
        text = "\n".join(_text(part) for part in messages) if isinstance(messages, list) else ""
        failure = Failure(*traces.of_javascript(text), text) if text else None
        name = _text(result.get("fullName")) or _text(result.get("title"))
        yield outcome(f"{place}::{name}", status, _seconds(result.get("duration")), failure)


def _load_error(place: str, file: dict[str, Any]) -> SuiteError | None:
    """The error of a file that failed although none of its tests did."""
    if file.get("status") != "failed":
        return None
    results = file.get("assertionResults")
    statuses = [r.get("status") for r in results if _is_object(r)] if results else []
    if "failed" in statuses:
        return None
    text = clean(_text(file.get("message")))
    kind, message = traces.of_load(text.replace("Test suite failed to run", ""))
    fallback = "the file failed outside its tests"
    return SuiteError(clean(place), kind, message or fallback, bounded(text, DETAILS_LIMIT))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _seconds(milliseconds: Any) -> float | None:
    is_number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return milliseconds / 1000 if is_number else None
