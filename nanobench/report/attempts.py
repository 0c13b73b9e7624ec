"""What lies beside a record, read in bounded pieces: a hostile or huge file costs no more."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanobench.agent.report_file import agent_report, first_object, read_bounded
from nanobench.model.migrations import UnreadableRecordError
from nanobench.model.record import Record
from nanobench.model.report import AgentReport
from nanobench.pipeline.artifacts import AGENT_PATCH, AGENT_REPORT, GATEWAY_LOG, PROMPT
from nanobench.pipeline.records import RECORD, find, load_record
from nanobench.pipeline.store import OUTPUTS
from nanobench.verify.outputs import OUTPUT_SUFFIX

_REPORT_BYTES = 4 * 1024 * 1024
_LOG_BYTES = 256 * 1024
_GZIP = 31  # what zlib calls a stream with gzip's header


@dataclass(frozen=True)
class Read:
    """The beginning of a file, and its whole size in bytes if known; null: it is not there."""

    text: str
    size: int | None


@dataclass(frozen=True)
class Attempt:
    """A record and the directory of its files; null if none of those directories holds it."""

    record: Record
    directory: Path | None = None

    def prompt(self, limit: int) -> Read | None:
        """The prompt."""
        return self._text(PROMPT, limit)

    def patch(self, limit: int) -> Read | None:
        """The agent's patch."""
        return self._text(AGENT_PATCH, limit)

    def gateway(self) -> list[dict[str, Any]]:
        """The requests in the gateway's log, of its first 256 KiB."""
        found = self._text(GATEWAY_LOG, _LOG_BYTES)
        return [] if found is None else list(_objects(found.text.splitlines()))

    def output(self, output_id: str, limit: int) -> Read | None:
        """The output of a command; its size is null if that is not all of it."""
        if self.directory is None or "/" in output_id:
            return None
        path = self.directory / OUTPUTS / f"{output_id}{OUTPUT_SUFFIX}"
        size, packed = read_bounded(path, 2 * limit + _LOG_BYTES)
        if not size:
            return None
        unpacker = zlib.decompressobj(_GZIP)
        try:
            data = unpacker.decompress(packed, limit + 1)
        except zlib.error:
            return None
        whole = len(data) if unpacker.eof and len(data) <= limit else None
        return Read(data[:limit].decode("utf-8", "replace"), whole)

    def report(self) -> AgentReport | None:
        """Nanocoder's report; null without one, or if it is beyond 4 MiB."""
        found = self.output(AGENT_REPORT, _REPORT_BYTES)
        document = first_object(found.text) if found else None
        return agent_report(document[0]) if document else None

    def _text(self, name: str, limit: int) -> Read | None:
        if self.directory is None:
            return None
        size, data = read_bounded(self.directory / name, limit)
        return Read(data.decode("utf-8", "replace"), size) if size else None


class Attempts:
    """The attempts that stand, with their places below the directories of results.

    Args:
        records: by cell id; each is asked for when its attempt is.
        directories: that hold the results.
    """

    def __init__(self, records: Mapping[str, Record], directories: Iterable[Path]) -> None:
        self._records = records
        self._places: dict[tuple[str, str], list[Path]] = {}
        for directory in directories:
            for place in find(directory).attempts:
                self._places.setdefault((place.parent.name, place.name), []).append(place)

    def of(self, cell_id: str) -> Attempt | None:
        """The attempt at a cell; null if its record is no longer there."""
        try:
            record = self._records[cell_id]
        except UnreadableRecordError:
            return None
        places = self._places.get((cell_id, f"attempt-{record.attempt}"), [])
        if len(places) > 1:  # copies: one that holds this very record
            places = [place for place in places if _holds(place, record)]
        return Attempt(record, places[0] if places else None)


def _holds(place: Path, record: Record) -> bool:
    try:
        return load_record(place / RECORD) == record
    except UnreadableRecordError:
        return False


def _objects(lines: Iterable[str]) -> Iterable[dict[str, Any]]:
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
