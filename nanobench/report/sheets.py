"""Tables for spreadsheets: CSV whose cells can only be read, never run."""

import csv
import io
from collections.abc import Iterable, Sequence

from nanobench.report.escape import plain

Value = str | int | float | bool | None
_LONGEST = 2000
# What makes a spreadsheet take a cell for a formula (OWASP, "CSV injection"), in full width too.
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """CSV with a head, comma, `\\n`, and quotes where needed (RFC 4180 but for the line end).

    Null is an empty cell, truth `true` or `false`. Text is one visible line of at most 2,000
    characters; where it would begin a formula an apostrophe stands before it.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return stream.getvalue()


def _cell(value: Value) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = plain(value, _LONGEST)
    return f"'{text}" if text.startswith(_FORMULA) else text
