"""Progress: plain lines where there is no terminal, and never on standard output."""

import sys
from collections.abc import Callable

import pytest

from nanobench.cli.progress import LiveProgress, PlainProgress, progress
from nanobench.model.record import Record

Make = Callable[..., Record]


def test_plain_lines_count_the_cells(make_record: Make, capsys: pytest.CaptureFixture[str]) -> None:
    graded = make_record(0.5, verdict={"category": "partial_fix_only"})
    trouble = make_record(None, verdict={"reason": "quota"})
    with progress(3) as shown:
        assert isinstance(shown, PlainProgress)
        shown.kept(graded.cell, graded)
        shown.phase(graded.cell, "agent")
        shown.done(trouble.cell, trouble)
        shown.done(graded.cell, make_record(1.0))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "[1/3] acme/one t1 hinted #1: 0.5  partial_fix_only (kept)",
        "[2/3] acme/one t1 hinted #1: -  quota",
        "[3/3] acme/one t1 hinted #1: 1.0  Complete Resolution",
    ]


def test_a_terminal_gets_a_live_display(
    make_record: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    record = make_record(1.0, "acme/[red]x t1 1")
    with progress(1) as shown:
        assert isinstance(shown, LiveProgress)
        shown.phase(record.cell, "agent")
        shown.done(record.cell, record)
    out, err = capsys.readouterr()
    assert out == ""
    assert "acme/[red]x t1 hinted #1: 1.0  Complete Resolution" in err
