"""Events out of a stream whose chunks end anywhere: server-sent events, and lines of JSON."""

import re
from dataclasses import dataclass, field
from typing import Protocol

LONGEST_LINE = 1 << 25  # bytes; a longer line is skipped, so that memory stays bounded
_BOM = b"\xef\xbb\xbf"
_COMMENT = b":"
Patterns = tuple[re.Pattern[bytes], ...]
BLANK = b"\n\n"
"""Ends an event, as nearly every provider sends it."""


class Parser(Protocol):
    """Takes chunks, gives the data of the events that they complete."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that this chunk completes."""

    def end(self) -> list[bytes]:
        """What is left when the stream has ended, a last event without its blank line included."""

    def trimmed(self, chunk: bytes, telling: Patterns) -> bytes:
        """The chunk to feed, without most of the whole events that hold nothing telling."""


@dataclass
class _Lines:
    """Whole lines, ended by LF, CRLF or CR; each byte is looked at once."""

    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0
    _skips_feed: bool = False  # the last chunk ended in CR: a LF that follows belongs to it

    @property
    def partial(self) -> bool:
        return bool(self._parts) or self._skips_feed

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._skips_feed and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skips_feed = False
        if not chunk:
            return []
        lines = chunk.splitlines()  # of bytes: at LF, CR and CRLF only
        rest = b"" if chunk.endswith((b"\n", b"\r")) else lines.pop()
        self._skips_feed = chunk.endswith(b"\r")
        if lines:
            lines[0] = self._take() + lines[0]
        self._keep(rest)
        return lines

    def end(self) -> list[bytes]:
        rest = self._take()
        return [rest] if rest else []

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > LONGEST_LINE:
            self._parts = []
        elif part:
            self._parts.append(part)

    def _take(self) -> bytes:
        overlong = self._size > LONGEST_LINE
        line = _COMMENT if overlong else b"".join(self._parts)
        self._parts, self._size = [], 0
        return line


class ServerSentEvents:
    """The `data` of server-sent events, as the HTML standard frames them."""

    def __init__(self) -> None:
        self._lines = _Lines()
        self._data: list[bytes] = []
        self._begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that this chunk completes."""
        return self._events(self._lines.feed(chunk))

    def end(self) -> list[bytes]:
        """The last event, also without the blank line after it."""
        return self._events([*self._lines.end(), b""])

    def trimmed(self, chunk: bytes, telling: Patterns) -> bytes:
        """The chunk to feed, without most of the whole events that hold nothing telling.

        Events are cut out where a blank line follows a LF, as nearly every provider has it.
        """
        start = 0
        if self._lines.partial or self._data or not self._begun:
            start = chunk.find(BLANK) + len(BLANK)
            if start < len(BLANK):
                return chunk
        return chunk[:start] + _rest(chunk, start, telling, BLANK)

    def _events(self, lines: list[bytes]) -> list[bytes]:
        if lines and not self._begun:
            lines[0] = lines[0].removeprefix(_BOM)
            self._begun = True
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events


class JsonLines:
    """One document a line; blank lines say nothing."""

    def __init__(self) -> None:
        self._lines = _Lines()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes."""
        return [line for line in self._lines.feed(chunk) if line.strip()]

    def trimmed(self, chunk: bytes, telling: Patterns) -> bytes:
        """The chunk to feed, without most of the whole lines that hold nothing telling."""
        start = chunk.find(b"\n") + 1 if self._lines.partial else 0
        if self._lines.partial and not start:
            return chunk
        return chunk[:start] + _rest(chunk, start, telling, b"\n")

    def end(self) -> list[bytes]:
        """The last line, also without its end."""
        return [line for line in self._lines.end() if line.strip()]


def _rest(chunk: bytes, start: int, telling: Patterns, end: bytes) -> bytes:
    """From `start`, where an event begins: from the first telling event on."""
    first = len(chunk)
    for pattern in telling:
        found = pattern.search(chunk, start, first)
        first = found.start() if found else first
    cut = chunk.rfind(end, start, first)
    return chunk[start:] if cut < 0 else chunk[cut + len(end) :]
