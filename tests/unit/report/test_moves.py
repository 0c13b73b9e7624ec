"""The table of moved labels: counted by kind, each with its evidence, harmless to a terminal."""

from collections.abc import Callable
from typing import Any

import pytest

from nanobench.model.record import Record
from nanobench.model.verdict import Verdict
from nanobench.pipeline.regrading import Move, Regrading
from nanobench.report.moves import name_verdict, render_moves


def verdict(**other: Any) -> Verdict:
    fields = {
        "ruleset": "1.1",
        "outcome": "graded",
        "score": 0.0,
        "label": "Zero Signal",
        "solved": False,
        **other,
    }
    return Verdict.model_validate(fields)


HALLUCINATED = {"category": "hallucinated_api", "rule": 3, "level": "4 content"}
UNCLASSIFIED = {"category": "unclassified", "reason": "symbol_exists"}


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (verdict(**HALLUCINATED), "0.0 hallucinated_api (rule 3)"),
        (verdict(**UNCLASSIFIED), "0.0 unclassified (symbol_exists)"),
        (verdict(rule=2), "0.0 Zero Signal (rule 2)"),
        (verdict(score=1.0, label="Complete Resolution"), "1.0 Complete Resolution"),
        (
            verdict(rule=1, reason="rate_limit", category="context_window_exceeded"),
            "0.0 context_window_exceeded (rule 1, rate_limit)",
        ),
        (
            verdict(outcome="infrastructure_error", score=None, label=None, reason="quota"),
            "infrastructure: quota",
        ),
    ],
)
def test_a_verdict_in_a_few_words(found: Verdict, name: str) -> None:
    assert name_verdict(found) == name


def move(record: Record, **after: Any) -> Move:
    return Move(
        path="p",
        cell=record.cell,
        cell_id=record.cell.cell_id,
        attempt=record.attempt,
        changed=("category",),
        before=verdict(**UNCLASSIFIED),
        after=verdict(ruleset="1.0", **after),
    )


def test_moves_are_counted_by_kind_and_listed(make_record: Callable[..., Record]) -> None:
    three = [make_record(0.0, f"acme/one t1 {run}") for run in (1, 2, 3)]
    moved = (
        move(three[0], **HALLUCINATED, evidence=("NameError on a\x1b[31m", "in 2 tests")),
        move(three[1], **HALLUCINATED),
        move(three[2], rule=2),
    )
    text = render_moves(Regrading(ruleset="1.0", records=9, moved=moved, problems=()), width=200)
    lines = text.splitlines()
    assert lines[0] == "ruleset 1.0: 9 records, 3 labels moved"
    assert [line.split("  ")[0] for line in lines[2:5]] == ["runs", "2", "1"]
    assert "0.0 unclassified (symbol_exists)" in lines[3]
    assert "0.0 hallucinated_api (rule 3)" in lines[3]
    listed = {line.split()[0]: line for line in lines[7:]}
    assert set(listed) == {record.cell.cell_id for record in three}
    first = listed[three[0].cell.cell_id]
    assert "1.1: 0.0 unclassified (symbol_exists)" in first
    assert first.endswith("NameError on a; in 2 tests")
    assert "\x1b" not in text


def test_no_table_where_nothing_moved() -> None:
    text = render_moves(Regrading(ruleset="1.1", records=2, moved=(), problems=()))
    assert text == "ruleset 1.1: 2 records, 0 labels moved\n"
