from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.markdown import render_markdown

Make = Callable[..., Record]
EVIL = "<script>alert(1)</script>\n| x | `y` \x1b[31m\u202e **b** [l](http://e.org) @all"


@pytest.fixture
def plan() -> Plan:
    cells = [
        Cell(model=ModelRef(provider="acme", model="one"), task_id="t1", mode="hinted", run=run)
        for run in (1, 2, 3)
    ]
    return Plan(
        tasks=(PlanTask(task_id="t1", origin="dataset", sha256="a" * 64),), cells=tuple(cells)
    )


def test_the_page_answers_score_category_rule_level_evidence_and_counts(make_record: Make) -> None:
    verdict = {
        "category": "partial_fix_only",
        "rule": 5,
        "level": "1 + 2",
        "evidence": ["1 of 2 target tests pass"],
    }
    page = render_markdown(build_report(None, [make_record(0.5, verdict=verdict)]))
    row = next(line for line in page.splitlines() if "t1</code> hinted run 1" in line)
    for part in ("0.5", "Partial Resolution", "partial_fix_only", "| 5 |", "1 + 2", "| 1/2 |"):
        assert part in row
    assert "1 of 2 target tests pass" in row
    assert "Coverage: 100.0 % of 1 failed runs" in page


def test_missing_and_infrastructure_cells_are_listed_by_name_with_their_cause(
    plan: Plan, make_record: Make
) -> None:
    trouble = make_record(
        None,
        "acme/one t1 2",
        attempt=3,
        verdict={"reason": "quota", "observed_score": 1.0},
        signals={"infrastructure": ["quota: HTTP 429 at acme"]},
    )
    page = render_markdown(build_report(plan, [make_record(1.0), trouble]))
    assert "**1 of 1 graded runs solved** · **1 missing** · **1 ended in infrastructure" in page
    missing = page.split("## Missing runs")[1]
    assert plan.cells[2].cell_id in missing
    named = page.split("## Infrastructure trouble")[1]
    assert plan.cells[1].cell_id in named
    assert "attempt 3: <code>quota</code>; observed score 1.0" in named
    assert "quota: HTTP 429 at acme" in named


def test_unreadable_files_are_named_before_all_else(make_record: Make) -> None:
    page = render_markdown(build_report(None, [make_record(1.0)], ["x/record.json: not JSON"]))
    assert page.index("x/record.json: not JSON") < page.index("## Models")


def test_scripted_models_are_marked_as_such(make_record: Make) -> None:
    record = make_record(1.0, "scripted/gold t1 1", provenance={"scripted": True})
    page = render_markdown(build_report(None, [record, make_record(0.0)]))
    models, scripted = page.split("## Scripted models")
    assert "scripted/gold" not in models
    assert "not compared with real models" in scripted


def test_foreign_text_is_inert_wherever_it_stands(make_record: Make) -> None:
    graded = make_record(
        0.0,
        f"acme/{EVIL.replace(' ', '_')} t1 1",
        verdict={"reason": EVIL, "evidence": [EVIL]},
        provenance={"platform": EVIL, "dataset": EVIL},
    )
    trouble = make_record(
        None,
        "acme/one t1 2",
        verdict={"reason": EVIL},
        signals={"infrastructure": [EVIL]},
        provenance={"platform": EVIL, "dataset": EVIL},
    )
    page = render_markdown(build_report(None, [graded, trouble], [EVIL]))
    assert "\x1b" not in page
    assert "\u202e" not in page
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    assert not any(token.type == "html_block" for token in tokens)
    inline = [child for token in tokens for child in token.children or ()]
    html = {child.content for child in inline if child.type == "html_inline"}
    assert html <= {"<code>", "</code>", "<br>"}
    assert not any(child.type in ("link_open", "image", "em_open") for child in inline)


def test_every_table_row_has_as_many_cells_as_its_head(plan: Plan, make_record: Make) -> None:
    records = [make_record(None, "acme/one t1 2"), make_record(0.0, verdict={"rule": 2})]
    page = render_markdown(build_report(plan, records))
    widths = []
    for block in page.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1
        widths += lines[:1]
    assert len(widths) == 8


def test_a_report_of_nothing_can_be_read() -> None:
    page = render_markdown(build_report(None, []))
    assert "**0 of 0 graded runs solved**" in page
