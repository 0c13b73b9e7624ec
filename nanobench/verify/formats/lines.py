"""Lines of a result file that hostile code may have written; memory does not grow with it."""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from nanobench.verify.results import ParseError

LINE_LIMIT = 4 * 1024 * 1024  # bytes; the rest of a longer line is dropped
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0", b"{\0", b"T\0", b"o\0", b"1\0")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def text_lines(stream: BinaryIO) -> Iterator[str]:
    """Lines without their ends; invalid UTF-8 is replaced.

    Raises:
        ParseError: the file is in UTF-16 or UTF-32, or binary.
    """
    first = True
    while line := stream.readline(LINE_LIMIT):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(LINE_LIMIT)
        if first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            if line.startswith(_WIDE):
                raise ParseError("the result file is not in UTF-8")
            first = False
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def without_colours(line: str) -> str:
    """The line as a terminal without colours shows it."""
    return _COLOUR.sub("", line) if "\x1b" in line else line


def json_lines(stream: BinaryIO) -> Iterator[dict[str, Any] | str]:
    """Objects of a file with one JSON object a line; other lines as they are.

    A line that begins an object and is none is given as text as well: what a test prints may
    come in between.
    """
    for line in text_lines(stream):
        yield _object(line) if line.lstrip().startswith("{") else line


def _object(line: str) -> dict[str, Any] | str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return value if isinstance(value, dict) else line


class Excerpt:
    """The beginning and the end of a long text, joined when asked for."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = ""
        self._tail = ""

    def add(self, text: str) -> None:
        """Append; of what is over the limit the middle goes."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            self._tail = (self._tail + text)[-2 * self._half :]

    def text(self) -> str:
        """At most one and a half times the limit; `bounded` marks the gap."""
        return self._head + self._tail
