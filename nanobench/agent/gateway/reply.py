"""A copy of a reply is read while the reply itself goes on to the agent."""

import json
from contextlib import suppress
from typing import Any

import orjson

from nanobench.agent.gateway.dialects.base import Dialect, Reading
from nanobench.agent.gateway.framing import BLANK, JsonLines, ServerSentEvents
from nanobench.model.text import clean_json

_DONE = b"[DONE]"
_TAIL = 200  # bytes
_BATCH = 1 << 16  # bytes of pieces that are read together, once there was output
LONGEST_DOCUMENT = 1 << 25  # bytes; of a longer one nothing is read


class StreamTap:
    """Reads a stream. Until the first output each chunk is read at once, later ones in batches."""

    def __init__(self, dialect: Dialect) -> None:
        self.reading = Reading()
        self.events = 0
        self._dialect = dialect
        self._parser = ServerSentEvents() if dialect.framing == "sse" else JsonLines()
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Take note of a chunk."""
        self._pending.append(chunk)
        self._size += len(chunk)
        if not self.reading.output:
            self._look_for_output()
        elif self._size > _BATCH:
            self.settle()

    def _look_for_output(self) -> None:
        """Read event by event; what follows the first output is put off."""
        rest = self._taken()
        while rest and not self.reading.output:
            event, blank, rest = rest.partition(BLANK)
            self._read(self._parser.feed(event + blank))
        if rest:
            self._pending, self._size = [rest], len(rest)

    def _taken(self) -> bytes:
        chunk = b"".join(self._pending)
        self._pending, self._size = [], 0
        return chunk

    @property
    def complete(self) -> bool:
        """Whether the stream surely ended as it should; a cheap look at its last bytes."""
        last = self._dialect.last
        tail = b"".join(self._pending[-2:])[-_TAIL:]
        return last is not None and last.search(tail) is not None

    def settle(self) -> None:
        """Read what has been put off."""
        chunk = self._taken()
        if self.reading.output:
            chunk = self._parser.trimmed(chunk, self._dialect.telling)
        self._read(self._parser.feed(chunk))

    def end(self) -> None:
        """Read the rest; nothing follows."""
        self.settle()
        self._read(self._parser.end())

    def _read(self, events: list[bytes]) -> None:
        reading, telling = self.reading, self._dialect.telling
        self.events += len(events)
        for event in events:
            if event.strip() == _DONE:
                reading.finished = True
            elif not reading.output or any(pattern.search(event) for pattern in telling):
                document = decode(event)
                if isinstance(document, dict):
                    _keeping_errors(self._dialect, document, reading)


class DocumentTap:
    """Reads a reply that is one document: when it is complete."""

    def __init__(self, dialect: Dialect) -> None:
        self.reading = Reading()
        self.events = 0
        self._dialect = dialect
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Take note of a chunk."""
        self._size += len(chunk)
        if self._size <= LONGEST_DOCUMENT:
            self._parts.append(chunk)
        else:
            self._parts = []

    complete = False

    def settle(self) -> None:
        """Nothing can be read before the end."""

    def end(self) -> None:
        """Read the document."""
        document = decode(b"".join(self._parts))
        # Google wraps errors, and streams that are not framed as events, in a list.
        for part in document if isinstance(document, list) else [document]:
            if isinstance(part, dict):
                self.events += 1
                self._dialect.read_document(part, self.reading)


Tap = StreamTap | DocumentTap


def decode(data: bytes) -> Any:
    """Decoded JSON; null for what is none."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(data)
    try:
        # Halves of surrogate pairs, where an agent cut a text short, and NaN are replaced.
        return clean_json(json.loads(data, parse_constant=lambda _: None))
    except (ValueError, RecursionError):
        return None


def _keeping_errors(dialect: Dialect, document: dict[str, Any], reading: Reading) -> None:
    """An error stays, whatever events follow it."""
    error = reading.error
    dialect.read_event(document, reading)
    reading.error = error or reading.error
