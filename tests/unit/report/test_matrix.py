"""The matrix for other programs, and CSV that no spreadsheet runs."""

import csv
import io
from collections.abc import Callable

import pytest

from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.matrix import Matrix, matrix, matrix_csv
from nanobench.report.sheets import csv_text

Make = Callable[..., Record]


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_the_matrix_leads_from_provider_to_failure_mode(make_record: Make) -> None:
    records = [
        make_record(1.0, "acme/a/b t1 1"),
        make_record(0.5, "acme/a/b t1 2", verdict={"category": "partial_fix_only", "rule": 5}),
        make_record(None, "acme/a/b t1 3"),
        make_record(0.0, "acme/a/b t1 1", mode="navigation", verdict={"rule": 2}),
    ]
    report = build_report(None, records)
    found = matrix(report)
    assert Matrix.from_json(found.to_json()) == found
    entry = found.providers["acme"]["a/b"]["t1"]["hinted"]
    assert (entry.solved, entry.valid_runs, entry.infrastructure) == (1, 2, 1)
    assert entry.failure_modes == {"partial_fix_only": 1}
    assert found.providers["acme"]["a/b"]["t1"]["navigation"].failure_modes == {"zero_signal": 1}
    head, *lines = rows(matrix_csv(report))
    assert [dict(zip(head, line, strict=True))["failure_modes"] for line in lines] == [
        "partial_fix_only: 1",
        "zero_signal: 1",
    ]
    first = dict(zip(head, lines[0], strict=True))
    assert (first["model"], first["runs"], first["pass_rate"]) == ("a/b", "2", "0.5")
    assert (first["pass_at_1"], first["tier"]) == ("true", "")


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "\ufeff=1"]
)
def test_no_cell_begins_a_formula(text: str) -> None:
    ((_,), (cell,)) = rows(csv_text(["x"], [[text]]))
    assert cell.startswith(("'", "\\"))


def test_a_hostile_text_stays_one_cell_on_one_line() -> None:
    text = csv_text(["a", "b"], [['x",\n"=cmd|"\x1b[31m\u202e', "y" * 10_000]])
    assert text.count("\n") == 2
    ((_, _), (first, second)) = rows(text)
    assert "\x1b" not in first
    assert "\u202e" not in first
    assert len(second) < 2100


def test_numbers_and_truth_are_written_plainly() -> None:
    assert csv_text(["a", "b", "c", "d"], [[-1.5, 2, True, None]]).splitlines()[1] == "-1.5,2,true,"
