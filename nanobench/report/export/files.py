"""The files of each format: their names, and what stands in them."""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import groupby

from nanobench.report.attempts import Attempt, Attempts
from nanobench.report.document import Row
from nanobench.report.export.atif import trajectory
from nanobench.report.export.inspect_log import inspect_log
from nanobench.report.export.predictions import prediction
from nanobench.report.export.story import story
from nanobench.report.pairing import Results

File = tuple[str, str]
_NAME_LENGTH = 100


class Export:
    """Results and the files of their attempts.

    Attributes:
        problems: runs that could not be exported, by cell id; it grows while files are made.
    """

    def __init__(self, results: Results, attempts: Attempts) -> None:
        self.problems: list[str] = []
        self._results = results
        self._attempts = attempts

    def inspect(self) -> Iterator[File]:
        """A log per model and mode that has a run."""
        for section in self._results.report.sections:
            for summary in section.summaries:
                own = [
                    row
                    for row in self._rows()
                    if row.section == section.kind
                    and (row.cell.model, row.cell.mode) == (summary.model, summary.mode)
                ]
                stories = [story(attempt) for _, attempt in self._of(own)]
                if stories:
                    name = file_name(section.kind, str(summary.model), summary.mode)
                    yield f"{name}.json", inspect_log(summary, stories)

    def atif(self) -> Iterator[File]:
        """A trajectory per run."""
        for row, attempt in self._of(self._rows()):
            yield f"{row.cell_id}.json", trajectory(story(attempt))

    def predictions(self) -> Iterator[File]:
        """A file per model, mode and run number, with a line per task.

        Of graded runs: a patch that a broken machine cut short is no prediction.
        """
        graded = [row for row in self._rows() if row.state == "present"]
        rows = sorted(graded, key=lambda row: (*_group(row), row.cell.task_id))
        for (model, mode, run), own in groupby(rows, key=_group):
            lines = [self._line(row, attempt) for row, attempt in self._of(list(own))]
            if any(lines):
                yield f"{file_name(model, mode, f'r{run}')}.jsonl", "".join(lines)

    def _rows(self) -> list[Row]:
        return [row for row in self._results.report.cells if row.state != "missing"]

    def _of(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Attempt]]:
        for row in rows:
            attempt = self._attempts.of(row.cell_id)
            if attempt is None:
                self.problems.append(f"{row.cell_id}: its record is gone")
            else:
                yield row, attempt

    def _line(self, row: Row, attempt: Attempt) -> str:
        line = prediction(attempt)
        if line is None:
            self.problems.append(f"{row.cell_id}: agent.patch is not the one that the record names")
        return line or ""


def _group(row: Row) -> tuple[str, str, int]:
    return str(row.cell.model), row.cell.mode, row.cell.run


def file_name(*parts: str) -> str:
    """A file name that is safe and unique."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", "--".join(parts))[:_NAME_LENGTH].strip("-.")
    return f"{slug}-{sha256(chr(0).join(parts).encode()).hexdigest()[:8]}"
