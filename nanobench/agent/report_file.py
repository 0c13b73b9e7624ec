"""Reading what Nanocoder left on stdout: one JSON object, or anything else."""

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nanobench.model.report import AgentReport
from nanobench.model.signals import ReportState
from nanobench.model.text import clean_json

MAX_REPORT_BYTES = 32 * 1024 * 1024
PIPE_BYTES = 65_536  # Nanocoder exits without draining a pipe: a cut report is k of these long
_MAX_CANDIDATES = 100
_MAX_DEPTH = 200  # beyond it whoever walks a report later could fail on it
_LINE_START = re.compile(r"^\{", re.MULTILINE)
_KIND = re.compile(r'^\{\s*"kind":\s*"([a-z-]+)"', re.MULTILINE)


@dataclass(frozen=True)
class StdoutReport:
    """What stdout held.

    Attributes:
        state: `complete` exactly when `report` is set.
        size: bytes on stdout.
        trailing: bytes beside the report object and its line end; 0 without a report.
        claimed_kind: the report's `kind`, also of one that is cut or unreadable otherwise.
    """

    state: ReportState
    size: int
    trailing: int = 0
    report: AgentReport | None = None
    claimed_kind: str | None = None


def read_report(path: Path) -> StdoutReport:
    """Parse stdout defensively; never raises for its content.

    A file beyond `MAX_REPORT_BYTES` is not read whole and counts as truncated.
    """
    size, data = read_bounded(path, MAX_REPORT_BYTES)
    if not data.strip():
        return StdoutReport("missing", size)
    # surrogateescape keeps a byte a byte, so that lengths can be counted back
    text = data.decode("utf-8", "surrogateescape")
    claimed = _KIND.search(text)
    kind = claimed[1] if claimed else None
    if size > MAX_REPORT_BYTES:
        return StdoutReport("truncated", size, claimed_kind=kind)
    found = first_object(text)
    if found is None:
        state: ReportState = "truncated" if size % PIPE_BYTES == 0 else "malformed"
        return StdoutReport(state, size, claimed_kind=kind)
    document, start, end = found
    report = agent_report(document)
    if report is None:
        return StdoutReport("malformed", size, claimed_kind=kind)
    end += text.startswith("\n", end)
    length = len(text[start:end].encode("utf-8", "surrogateescape"))
    return StdoutReport("complete", size, size - length, report, report.kind)


def read_bounded(path: Path, limit: int) -> tuple[int, bytes]:
    """Size of a regular file and at most `limit` of its first bytes; (0, b"") if there is none.

    The agent may have been able to put a link or a pipe in its place: neither is followed.
    """
    try:
        with open(path, "rb", opener=_open_itself) as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode):
                return status.st_size, stream.read(limit)
    except OSError:
        pass
    return 0, b""


def _open_itself(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def first_object(text: str) -> tuple[dict[str, Any], int, int] | None:
    """The first complete object at a line start that has a `kind`, with its span."""
    decoder = json.JSONDecoder()
    for _, match in zip(range(_MAX_CANDIDATES), _LINE_START.finditer(text), strict=False):
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if "kind" in value:
            return value, match.start(), end
    return None


def agent_report(document: Any) -> AgentReport | None:
    """The report in plain data, without halves of characters.

    Null if the data is none, or nests too deep for whoever looks at it later.
    """
    if _nests_too_deep(document):
        return None
    try:
        return AgentReport.model_validate(clean_json(document))
    except ValidationError:
        return None


def _nests_too_deep(document: Any) -> bool:
    level, depth = [document], 0
    while level and depth <= _MAX_DEPTH:
        depth += 1
        holders = [value.values() if isinstance(value, dict) else value for value in level]
        level = [item for held in holders for item in held if isinstance(item, dict | list)]
    return bool(level)
