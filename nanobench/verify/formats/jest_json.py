"""The JSON of Jest (`--json`) and of Vitest's `json` reporter, which follows it.

Ids: `file::full name`. A file that could not be loaded has no assertion results, only a message.
"""

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
    document = load_object(stream)
    if not isinstance(document.get("testResults"), list):
        raise ParseError("the JSON has no list 'testResults'")
    # Files run in parallel and are listed as they end; the order must not decide over ids.
    reports = sorted(
        ((relative(text_of(f, "name"), root), f) for f in objects(document, "testResults")),
        key=lambda report: report[0],
    )
    tests = (test for place, file in reports for test in _tests(place, file))
    errors = tuple(error for place, file in reports if (error := _load_error(place, file)))
    return ParsedResult(tuple(numbered(tests)), errors)


def _tests(place: str, file: dict[str, Any]) -> Iterator[TestOutcome]:
    for result in objects(file, "assertionResults"):
        status = _STATUS.get(text_of(result, "status"), "error")
        messages = result.get("failureMessages")
        parts = messages if isinstance(messages, list) else ()
        text = "\n".join(part for part in parts if isinstance(part, str))
        failure = Failure(*traces.of_javascript(text), text) if text else None
        name = text_of(result, "fullName") or text_of(result, "title")
        yield outcome(f"{place}::{name}", status, seconds_of(result, "duration"), failure)


def _load_error(place: str, file: dict[str, Any]) -> SuiteError | None:
    """The error of a file that failed although none of its tests did."""
    if file.get("status") != "failed":
        return None
    if any(result.get("status") == "failed" for result in objects(file, "assertionResults")):
        return None
    text = clean(text_of(file, "message"))
    kind, message = traces.of_load(text.replace("Test suite failed to run", ""))
    fallback = "the file failed outside its tests"
    return SuiteError(clean(place), kind, message or fallback, bounded(text, DETAILS_LIMIT))
