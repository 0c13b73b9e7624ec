"""Test cases of JUnit XML in the dialects of the tools that write it.

Ids: `classname::name`; without a class name the file, else the suite, stands for it. A module
that skips itself under pytest is told as one skipped test, as pytest counts it: its name alone.
`node --test` nests suites and says `classname="test"` everywhere: `file::suite > suite > name`
(Node before 24 writes no file; its ids begin with the first suite or name).

A failure that belongs to no test is a suite error: pytest's collection errors (no class name),
gotestsum's `TestMain` of a package that does not build, Surefire's nameless cases of a class
whose setup failed, Vitest's and jest-junit's files that do not load.
"""

import math
import re
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from junitparser import Error, Skipped, TestCase
from junitparser import Failure as FailureElement

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.model.text import clean
from nanobench.verify import traces
from nanobench.verify.panics import of_go_test, of_rust_test, without_thread_numbers
from nanobench.verify.results import (
    DETAILS_LIMIT,
    Failure,
    ParsedResult,
    SuiteError,
    bounded,
    check_number,
    numbered,
    outcome,
    relative,
)

_NODE_PROCESS = re.compile(r"\bexitCode: ")
_NODE_CANCELLED = "cancelledByParent"
_EXCEPTION_NAME = re.compile(r"[A-Za-z_][\w.$\\]*")
_JEST_FILE = "Test suite failed to run"
_GO_PACKAGE = "TestMain"
_GO_FAILED = "Failed"
_PYTEST_COLLECTION = "collection failure"
_PYTEST_SKIPPED = "collection skipped"
_RUST_PANIC = "panicked at "
_NOT_RUN = ("notrun", "disabled")
_SKIPPED_BY_CTEST = ("SKIP_", "Disabled", "disabled")


@dataclass(frozen=True)
class Place:
    """Where a case stands: the names of the suites around it, and whether Node wrote it."""

    suites: tuple[str, ...]
    is_node: bool


@dataclass(frozen=True)
class _Result:
    status: TestStatus
    message: str = ""
    details: str = ""
    type: str | None = None


class Collector:
    """Turns test cases into outcomes and suite errors."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._tests: list[TestOutcome] = []
        self._errors: list[SuiteError] = []

    def result(self) -> ParsedResult:
        """What was added so far."""
        return ParsedResult(tuple(numbered(self._tests)), tuple(self._errors))

    def add(self, element: Element, place: Place) -> None:
        """Add one `testcase` element."""
        case = TestCase.fromelem(element)  # type: ignore[no-untyped-call]
        result = _result(case)
        check_number(len(self._tests))
        if place.is_node:
            self._add_node(case, place.suites, result)
            return
        name, classname = (case.name or "").strip(), (case.classname or "").strip()
        lost = _lost_file(name, classname, place.suites, result)
        if lost is not None:
            self._add_error(lost or None, result)
        elif name:
            module_skips_itself = not classname and result.message == _PYTEST_SKIPPED
            named = name if module_skips_itself else self._id(case, name, classname, place.suites)
            self._add_test(case, named, result)

    def _id(self, case: TestCase, name: str, classname: str, suites: tuple[str, ...]) -> str:
        file = case._elem.get("file") or ""
        origin = classname or file or next(iter(suites[-1:]), "")
        origin = relative(origin, self._root) if origin.startswith("/") else origin
        return f"{origin}::{name}" if origin else name

    def _add_error(self, file: str | None, result: _Result) -> None:
        file = clean(relative(file, self._root)) if file else None
        failure = _failure(result, collection=True)
        if self._errors and self._errors[-1].file == file and file is not None:
            return  # jest-junit tells such a file twice
        details = bounded(result.details, DETAILS_LIMIT)
        self._errors.append(SuiteError(file, failure.type, failure.message or "", details))

    def _add_test(self, case: TestCase, test_id: str, result: _Result) -> None:
        failure = None
        if result.status in ("failed", "error"):
            failure = _failure(result)
        elif result.status == "skipped":
            failure = Failure(result.type, result.message, None)
        test = outcome(test_id, result.status, _time(case), failure)
        if not self._repeats_teardown(case, test):
            self._tests.append(test)

    def _repeats_teardown(self, case: TestCase, test: TestOutcome) -> bool:
        """Pytest writes a failed test whose teardown fails too as two test cases."""
        if test.status != "error" or not self._tests or self._tests[-1].id != test.id:
            return False
        return any(
            isinstance(part, Error) and (part.message or "").startswith("failed on teardown")
            for part in case.result
        )

    def _add_node(self, case: TestCase, suites: tuple[str, ...], result: _Result) -> None:
        file = case._elem.get("file")
        place = relative(file, self._root) if file else None
        # Node escapes a quotation mark twice.
        names = [name.replace("&quot;", '"') for name in (*suites, case.name or "")]
        status, message, details = result.status, result.message, result.details
        is_file = not suites and _names_file(names[-1], file, self._root)
        if status == "failed" and not suites and _NODE_PROCESS.search(details):
            name = place or relative(names[-1], self._root)
            self._errors.append(SuiteError(name, None, message, bounded(details, DETAILS_LIMIT)))
            return
        if is_file:  # a file without a test
            return
        failure = None
        if status == "failed":
            status = "error" if result.type == _NODE_CANCELLED else "failed"
            failure = Failure(*traces.of_node(message, details), details)
        title = " > ".join(names)
        self._tests.append(
            outcome(f"{place}::{title}" if place else title, status, _time(case), failure)
        )


def _lost_file(name: str, classname: str, suites: tuple[str, ...], result: _Result) -> str | None:
    """What a failed case stands for that is no test; empty for the whole suite, null for a test."""
    if result.status not in ("failed", "error"):
        return None
    if (classname, name) == ("pytest", "internal"):
        return ""
    if classname == _JEST_FILE:
        return name
    if not name or (name == classname and suites[-1:] == (name,)):
        return classname or next(iter(suites[-1:]), "")
    if not classname and name == _GO_PACKAGE:
        return next(iter(suites[-1:]), "")
    return name if not classname and result.message == _PYTEST_COLLECTION else None


def _names_file(name: str, file: str | None, root: str) -> bool:
    """Whether a case is called by its own file; Node before 24 tells the file by the name alone."""
    if file is None:
        return root != "/" and name.startswith(f"{root}/")
    return name in (file, relative(file, root)) or file.endswith("/" + name.removeprefix("./"))


def _failure(result: _Result, *, collection: bool = False) -> Failure:
    """Type, message and text, by what the runtime of the test prints."""
    message, details, kind = result.message, result.details, result.type
    if _RUST_PANIC in details:
        details = without_thread_numbers(details)
        return Failure(*of_rust_test(details), details)
    if message == _GO_FAILED and not kind:
        named, text = of_go_test(details)
        return Failure(named, text or details, details)
    if kind and _EXCEPTION_NAME.fullmatch(kind):
        return Failure(kind, message or details.strip().partition("\n")[0], details)
    named, text = (traces.of_collection if collection else traces.of_pytest)(message, details)
    if named is None and not message:
        named, text = traces.of_javascript(details.replace(_JEST_FILE, ""))
    return Failure(named, text, details)


def _result(case: TestCase) -> _Result:
    """Status and texts; `skipped` wins, as a failing todo of Node is no failure."""
    ranked: tuple[tuple[type, TestStatus], ...] = (
        (Skipped, "skipped"),
        (FailureElement, "failed"),
        (Error, "error"),
    )
    parts = case.result
    not_run = case._elem.get("status") in _NOT_RUN
    for kind, status in ranked:
        for part in parts:
            if isinstance(part, kind):
                message, details = part.message or "", part.text or ""
                if not_run and status == "skipped" and not message.startswith(_SKIPPED_BY_CTEST):
                    status = "error"  # CTest could not start it
                if status != "skipped" and not details.strip():
                    details = _printed(case)
                return _Result(status, message, details, part.type or None)
    return _Result("skipped") if not_run else _Result("passed")


def _printed(case: TestCase) -> str:
    return f"{case.system_out or ''}\n{case.system_err or ''}".strip()


def _time(case: TestCase) -> float | None:
    try:
        seconds: float | None = case.time
    except ValueError:
        return None
    return seconds if seconds is not None and math.isfinite(seconds) else None
