"""Trajectories in the report: counts, and signs sorted by whom they point at."""

from collections.abc import Callable
from typing import Any

import pytest

from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.markdown import render_markdown
from nanobench.report.trajectory import trajectory

Make = Callable[..., Record]


def with_signals(record: Record, **changes: Any) -> Record:
    document = record.model_dump(mode="json", by_alias=True)
    for part, fields in changes.items():
        document["signals"][part] |= fields
    return Record.model_validate(document)


@pytest.fixture
def rich(make_record: Make) -> Record:
    return with_signals(
        make_record(0.5),
        tools={"files_read": ["src/a.py", "b.py"], "required_files_read": ["src/a.py"]},
        trajectory={
            "known": True,
            "calls": 9,
            "rereads": 2,
            "loops": 1,
            "longest_repeat": 4,
            "unverified_claim": True,
            "ocr": True,
            "shell_only": True,
            "network_attempts": ["curl <script>"],
            "history_attempts": ["git log --all"],
            "harness": {"rejected_calls": 3, "unreported_calls": 1, "turn_limit": True},
        },
        edits={"pollution": [".nanocoder/tasks.json"], "observed_only": ["b.py"]},
    )


def test_counts_are_those_of_the_record(rich: Record) -> None:
    seen = trajectory(rich)
    assert (seen.calls, seen.files_read, seen.required_read, seen.required_files) == (9, 2, 1, 1)
    assert (seen.network_attempts, seen.history_attempts, seen.pollution) == (1, 1, 1)
    assert (seen.unreported_edits, seen.unobserved_edits) == (1, 0)
    assert seen.used == ("ocr", "shell only")


def test_signs_of_harness_and_model_stand_apart(rich: Record) -> None:
    seen = trajectory(rich)
    assert seen.harness == (
        "3 calls refused by Nanocoder's checks",
        "1 calls at least that the report leaves out",
        "ended by the turn limit",
    )
    assert seen.model == (
        "1 loops, the longest of 4 calls",
        "2 calls that show again what was shown",
        "success claimed, nothing run after the last edit",
        "1 looks for other states of the repository",
    )


def test_without_a_report_the_disagreement_is_unknown(make_record: Make) -> None:
    record = with_signals(
        make_record(0.0),
        edits={"reported": None},
        agent={"report": "missing", "ending": "aborted"},
    )
    seen = trajectory(record)
    assert (seen.known, seen.unreported_edits, seen.unobserved_edits) == (False, None, None)
    assert seen.harness == ("ending: aborted", "report: missing")


def test_the_page_shows_both_tables_and_no_foreign_text(rich: Record) -> None:
    page = render_markdown(build_report(None, [rich]))
    assert "### Trajectories" in page
    assert "| 9 | 2 | 1/1 | 2 | 1 | yes | ocr, shell only | 1 | 1 | 1 | 1 / 0 |" in page
    assert "### Model or harness?" in page
    assert "success claimed, nothing run after the last edit" in page
    assert "<script>" not in page


def test_a_run_without_signs_says_so(make_record: Make) -> None:
    page = render_markdown(build_report(None, [make_record(1.0)]))
    assert "No run shows signs of either." in page


def test_a_reach_for_the_harness_is_a_sign(make_record: Make) -> None:
    found = with_signals(
        make_record(1.0), trajectory={"harness_attempts": ["cat /run/nb/x", "kill 1"]}
    )
    assert trajectory(found).model == ("2 reaches for files or processes of the harness",)
