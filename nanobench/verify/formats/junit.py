"""JUnit XML as pytest and `node --test` write it.

Ids: `classname::name` (pytest); `file::suite > suite > name` (`node --test`, which nests suites
and says `classname="test"` everywhere; Node before 24 writes no file, its ids begin with the
first suite or name). The file is read as a stream: memory does not grow with it.
"""

import math
import re
from collections.abc import Callable
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, TreeBuilder, XMLParser
from xml.etree.ElementTree import ParseError as XmlError
from xml.parsers.expat import errors

from junitparser import Error, Skipped, TestCase
from junitparser import Failure as FailureElement

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.verify import traces
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

_CHUNK = 1 << 20
_DEPTH_LIMIT = 100
_ENDS_EARLY = {
    errors.codes[message]
    for message in (
        errors.XML_ERROR_NO_ELEMENTS,
        errors.XML_ERROR_UNCLOSED_TOKEN,
        errors.XML_ERROR_PARTIAL_CHAR,
        errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
_DECLARED_ENCODING = re.compile(rb"""^<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)["']""")
_FORBIDDEN = bytes(byte if byte in b"\t\n\r" or byte >= 32 else 0x3F for byte in range(256))
_NODE_PROCESS = re.compile(r"\bexitCode: ")
_NODE_CANCELLED = "cancelledByParent"


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read JUnit XML.

    Raises:
        ParseError: it is truncated, malformed, or declares a document type (entity bombs do).
    """
    collector = _Collector(root)
    parser = XMLParser(target=_CaseBuilder(collector.add))  # noqa: S314 - it refuses DOCTYPE
    chunk = stream.read(_CHUNK)
    repair = _is_utf8(chunk)
    try:
        while chunk:
            parser.feed(chunk.translate(_FORBIDDEN) if repair else chunk)
            chunk = stream.read(_CHUNK)
        parser.close()
    except XmlError as error:
        raise ParseError(f"malformed XML: {error}", truncated=error.code in _ENDS_EARLY) from None
    except (ValueError, LookupError) as error:
        raise ParseError(f"malformed XML: {error}") from None
    return collector.result()


def _is_utf8(head: bytes) -> bool:
    """Whether control characters, which `node --test` leaves in, can be replaced bytewise."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    declared = _DECLARED_ENCODING.match(head.removeprefix(b"\xef\xbb\xbf"))
    return declared is None or declared[1].lower() in (b"utf-8", b"us-ascii", b"iso-8859-1")


class _CaseBuilder(TreeBuilder):
    """Hands over each finished `testcase` and drops it from the tree."""

    def __init__(self, found: Callable[[Element, tuple[str, ...], bool], None]) -> None:
        super().__init__()
        self._found = found
        self._open: list[Element] = []

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise ParseError("the XML declares a document type, which no test runner does")

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> Element:
        element: Element = super().start(tag, attrs)
        self._open.append(element)
        if len(self._open) > _DEPTH_LIMIT:
            raise ParseError(f"the XML nests deeper than {_DEPTH_LIMIT} elements")
        return element

    def end(self, tag: str, /) -> Element:
        element: Element = super().end(tag)
        self._open.pop()
        inside_case = any(parent.tag == "testcase" for parent in self._open)
        if tag == "testcase" and not inside_case:
            suites = [parent for parent in self._open if parent.tag == "testsuite"]
            names = tuple(suite.get("name", "") for suite in suites)
            node = all("disabled" in suite.attrib for suite in suites)
            self._found(element, names, node and element.get("classname") == "test")
        if self._open and not inside_case:
            self._open[-1].remove(element)
        return element


class _Collector:
    """Turns test cases into outcomes and suite errors."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._tests: list[TestOutcome] = []
        self._errors: list[SuiteError] = []

    def result(self) -> ParsedResult:
        return ParsedResult(tuple(numbered(self._tests)), tuple(self._errors))

    def add(self, element: Element, suites: tuple[str, ...], is_node: bool) -> None:
        case = TestCase.fromelem(element)  # type: ignore[no-untyped-call]
        if is_node:
            self._add_node(case, suites)
        else:
            self._add_classic(case)

    def _add_classic(self, case: TestCase) -> None:
        name, classname = case.name or "", case.classname or ""
        status, message, details, kind = _result(case)
        if (not classname or (classname, name) == ("pytest", "internal")) and status == "error":
            kind, message = traces.of_collection(message, details)
            file = name if not classname else None
            self._errors.append(
                SuiteError(file or None, kind, message, bounded(details, DETAILS_LIMIT))
            )
            return
        if not classname and status == "skipped":  # a module that skips itself has no tests
            return
        failure = None
        if status in ("failed", "error"):
            named, message = traces.of_pytest(message, details)
            failure = Failure(named or kind, message, details)
        elif status == "skipped":
            failure = Failure(kind, message, None)
        test = outcome(f"{classname}::{name}" if classname else name, status, _time(case), failure)
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

    def _add_node(self, case: TestCase, suites: tuple[str, ...]) -> None:
        file = case._elem.get("file")
        place = relative(file, self._root) if file else None
        # Node escapes a quotation mark twice.
        names = [name.replace("&quot;", '"') for name in (*suites, case.name or "")]
        status, message, details, kind = _result(case)
        is_file = file is not None and not suites and _names_file(names[-1], file, place or "")
        if status == "failed" and not suites and _NODE_PROCESS.search(details):
            self._errors.append(
                SuiteError(place or relative(names[-1], self._root), None, message, details)
            )
            return
        if is_file:  # a file without a test
            return
        failure = None
        if status == "failed":
            status = "error" if kind == _NODE_CANCELLED else "failed"
            failure = Failure(*traces.of_node(message, details), details)
        title = " > ".join(names)
        self._tests.append(
            outcome(f"{place}::{title}" if place else title, status, _time(case), failure)
        )


def _names_file(name: str, file: str, place: str) -> bool:
    return name in (file, place) or file.endswith("/" + name.removeprefix("./"))


def _result(case: TestCase) -> tuple[TestStatus, str, str, str | None]:
    """Status, message, text and type; `skipped` wins, as a failing todo of Node is no failure."""
    ranked: tuple[tuple[type, TestStatus], ...] = (
        (Skipped, "skipped"),
        (FailureElement, "failed"),
        (Error, "error"),
    )
    parts = case.result
    for kind, status in ranked:
        for part in parts:
            if isinstance(part, kind):
                return status, part.message or "", part.text or "", part.type or None
    return "passed", "", "", None


def _time(case: TestCase) -> float | None:
    try:
        seconds: float | None = case.time
    except ValueError:
        return None
    return seconds if seconds is not None and math.isfinite(seconds) else None
