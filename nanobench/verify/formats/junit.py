"""JUnit XML, read as a stream: memory does not grow with the file.

The dialects of its writers are told apart in `junit_cases`.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, TreeBuilder, XMLParser
from xml.etree.ElementTree import ParseError as XmlError
from xml.parsers.expat import errors

from nanobench.verify.formats.junit_cases import Collector, Place
from nanobench.verify.results import ParsedResult, ParseError

_CHUNK = 1 << 20
_DEPTH_LIMIT = 100
_TEXT_LIMIT = 64 * 1024  # characters kept at either end of one text
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


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read JUnit XML.

    Raises:
        ParseError: it is truncated, malformed, or declares a document type (entity bombs do).
    """
    collector = Collector(root)
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

    def __init__(self, found: Callable[[Element, Place], None]) -> None:
        super().__init__()
        self._found = found
        self._open: list[Element] = []
        self._room = _TEXT_LIMIT
        self._tail: deque[str] = deque()
        self._tail_size = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise ParseError("the XML declares a document type, which no test runner does")

    def data(self, data: str, /) -> None:
        if self._room > 0:
            super().data(data)
            self._room -= len(data)
            return
        self._tail.append(data[-_TEXT_LIMIT:])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= _TEXT_LIMIT:
            self._tail_size -= len(self._tail.popleft())

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> Element:
        self._end_text()
        element: Element = super().start(tag, attrs)
        self._open.append(element)
        if len(self._open) > _DEPTH_LIMIT:
            raise ParseError(f"the XML nests deeper than {_DEPTH_LIMIT} elements")
        return element

    def end(self, tag: str, /) -> Element:
        self._end_text()
        element: Element = super().end(tag)
        self._open.pop()
        inside_case = any(parent.tag == "testcase" for parent in self._open)
        if tag == "testcase" and not inside_case:
            suites = [parent for parent in self._open if parent.tag == "testsuite"]
            names = tuple(suite.get("name", "") for suite in suites)
            node = all("disabled" in suite.attrib for suite in suites)
            is_node = node and element.get("classname") == "test"
            self._found(element, Place(names, is_node))
        if self._open and not inside_case:
            self._open[-1].remove(element)
            self._open[-1].text = None
        return element

    def _end_text(self) -> None:
        if self._tail:
            super().data("".join(self._tail))
            self._tail.clear()
            self._tail_size = 0
        self._room = _TEXT_LIMIT
