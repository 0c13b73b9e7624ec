"""Results divided by what tasks are, effort, and the mark for possible contamination."""

import random
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.breakdown_document import Group
from nanobench.report.breakdowns import token_density
from nanobench.report.document import Report
from nanobench.report.markdown import render_markdown

Make = Callable[..., Record]
GO = {"languages": ["Go"], "domain": "net", "token_estimate": 60_000}
BOTH = {"languages": ["Go", "Python"], "domain": "web", "token_estimate": 5_000}


def plan_of(cells: list[str], cutoffs: dict[str, date] | None = None, **facts: Any) -> Plan:
    parts = [cell.split(" ") for cell in cells]
    common = {
        "task_type": "bug fix",
        "reasoning_category": "cause",
        "merged_at": "2026-05-10T23:30:00Z",
    }
    return Plan.model_validate(
        {
            "tasks": [
                PlanTask.model_validate(
                    {
                        "task_id": task,
                        "origin": "dataset",
                        "sha256": "a" * 64,
                        "tier": 3,
                        "facts": {**common, **facts[task]} if facts.get(task) else None,
                    }
                )
                for task in sorted({task for _, task, _ in parts})
            ],
            "cells": [
                Cell(model=ModelRef.parse(model), task_id=task, mode="hinted", run=int(run))
                for model, task, run in parts
            ],
            "model_cutoffs": cutoffs or {},
        }
    )


def groups(report: Report, dimension: str, model: str | None = None) -> dict[str, Group]:
    return {
        group.value: group
        for group in report.sections[0].groups
        if group.dimension == dimension and (str(group.model) if group.model else None) == model
    }


@pytest.mark.parametrize(
    ("tokens", "bucket"),
    [
        (1, "under 20k"),
        (19_999, "under 20k"),
        (20_000, "20k to 50k"),
        (50_000, "50k to 80k"),
        (80_000, "50k to 80k"),
        (80_001, "over 80k"),
    ],
)
def test_buckets_have_the_edges_of_the_repository_matrix(tokens: int, bucket: str) -> None:
    assert token_density(tokens) == bucket


def test_a_task_of_two_languages_stands_in_both_and_missing_runs_are_counted(
    make_record: Make,
) -> None:
    cells = ["acme/one t1 1", "acme/one t1 2", "acme/one t2 1", "acme/one t2 2"]
    plan = plan_of(cells, t1=GO, t2=BOTH)
    records = [
        make_record(1.0, cells[0]),
        make_record(0.0, cells[1]),
        make_record(1.0, cells[2]),
    ]
    report = build_report(plan, records)
    found = groups(report, "language")
    assert {v: (g.tasks, g.solved, g.valid_runs, g.missing) for v, g in found.items()} == {
        "Go": (2, 2, 3, 1),
        "Python": (1, 1, 1, 1),
    }
    assert found["Go"].mean_score == 0.75  # of tasks, not of runs
    assert list(groups(report, "token_density")) == ["under 20k", "50k to 80k"]


def test_groups_are_told_of_each_model_only_if_there_are_several(make_record: Make) -> None:
    cells = ["acme/one t1 1", "acme/two t1 1"]
    several = build_report(plan_of(cells, t1=GO), [make_record(1.0, c) for c in cells])
    assert groups(several, "domain", "acme/two")["net"].valid_runs == 1
    assert groups(several, "domain")["net"].valid_runs == 2
    one = build_report(plan_of(cells[:1], t1=GO), [make_record(1.0, cells[0])])
    assert all(group.model is None for group in one.sections[0].groups)


def test_what_is_not_known_of_a_task_is_a_group_of_its_own_and_comes_last(
    make_record: Make,
) -> None:
    cells = ["acme/one t1 1", "acme/one zz 1"]
    report = build_report(plan_of(cells, zz=GO), [make_record(1.0, c) for c in cells])
    assert list(groups(report, "domain")) == ["net", "unknown"]
    assert report.tasks[0].facts is None


def test_effort_is_of_graded_runs_that_tell_it(make_record: Make) -> None:
    def told(tokens: int | None, turns: int | None) -> dict[str, Any]:
        usage = {"input_tokens": tokens, "cost": 0.5 if tokens else None}
        return {
            "agent": {
                "ending": "completed",
                "exit_code": 0,
                "report": "complete",
                "report_bytes": 1,
                "usage": usage,
                "model_responses": turns,
            }
        }

    records = [
        make_record(1.0, "acme/one t1 1", signals=told(100, 4)),
        make_record(0.0, "acme/one t1 2", signals=told(None, 6)),
        make_record(None, "acme/one t1 3", signals=told(900, 90)),
    ]
    effort = build_report(None, records).sections[0].summaries[0].effort
    assert effort.input_tokens is not None
    assert (effort.input_tokens.total, effort.input_tokens.mean, effort.input_tokens.runs) == (
        100,
        100,
        1,
    )
    assert effort.turns is not None
    assert (effort.turns.mean, effort.turns.runs) == (5, 2)
    assert effort.cost is not None
    assert effort.cost.total == 0.5
    assert effort.agent_seconds is not None
    assert effort.agent_seconds.mean == 2.0
    assert effort.output_tokens is None
    assert effort.files_read is None, "there was no report of the calls"


@pytest.mark.parametrize(
    ("cutoff", "marked"), [(date(2026, 5, 9), False), (date(2026, 5, 10), True), (None, None)]
)
def test_a_run_is_marked_if_its_task_was_merged_until_the_models_cutoff(
    make_record: Make, cutoff: date | None, marked: bool | None
) -> None:
    cell = "acme/one t1 1"
    cutoffs = {"acme/one": cutoff} if cutoff else {"acme/other": date(2030, 1, 1)}
    report = build_report(plan_of([cell], cutoffs, t1=GO), [make_record(1.0, cell)])
    assert report.cells[0].possibly_contaminated is marked
    assert report.sections[0].summaries[0].possibly_contaminated == int(marked is True)
    run = next(line for line in render_markdown(report).split("### Runs")[1].splitlines()[4:])
    assert ("possibly contaminated" in run) is (marked is True)


def test_a_task_of_unknown_date_is_not_called_clean(make_record: Make) -> None:
    cell = "acme/one t1 1"
    plan = plan_of([cell], {"acme/one": date(2026, 1, 1)})
    report = build_report(plan, [make_record(1.0, cell)])
    assert report.cells[0].possibly_contaminated is None
    assert report.sections[0].summaries[0].dated_runs == 0
    effort = render_markdown(report).split("### Effort")[1].split("### Runs")[0]
    assert "| – |" in effort.splitlines()[4][-6:]  # noqa: RUF001 - the sign of an empty cell


def test_the_page_divides_only_where_runs_differ(make_record: Make) -> None:
    cells = ["acme/one t1 1", "acme/one t2 1"]
    page = render_markdown(
        build_report(plan_of(cells, t1=GO, t2=BOTH), [make_record(1.0, c) for c in cells])
    )
    assert "| language | mode |" in page
    assert "| type of task | mode |" not in page
    assert "type of task <code>bug fix</code>" in page


def test_hostile_names_of_groups_and_models_are_inert(make_record: Make) -> None:
    hostile = "x|<script>`@a`\u202e"
    cells = ["acme/a|b<i> t1 1", "acme/two t2 1"]
    plan = plan_of(cells, t1={**GO, "domain": hostile}, t2={**BOTH, "domain": hostile + "y"})
    page = render_markdown(build_report(plan, [make_record(1.0, c) for c in cells]))
    divided = page.split("### Divided")[1].split("### Effort")[0]
    for sign in ("<script>", "<i>", "@a", "\u202e", "x|"):
        assert sign not in divided
    for block in divided.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1


def test_the_order_of_plan_and_records_changes_no_byte(make_record: Make) -> None:
    cells = [f"acme/{m} {t} {r}" for m in ("one", "two") for t in ("t1", "t2") for r in (1, 2)]
    records = [make_record(random.Random(c).choice([0.0, 1.0]), c) for c in cells]
    plan = plan_of(cells, {"acme/one": date(2026, 6, 1)}, t1=GO, t2=BOTH)
    expected = build_report(plan, records).to_json()
    shuffler = random.Random(3)
    for _ in range(20):
        shuffler.shuffle(records)
        shuffler.shuffle(cells)
        again = plan_of(cells, {"acme/one": date(2026, 6, 1)}, t1=GO, t2=BOTH)
        assert build_report(again, records).to_json() == expected


def test_a_page_of_many_runs_stays_readable_and_says_what_it_leaves_out(
    make_record: Make,
) -> None:
    records = [make_record(1.0, f"acme/one t{n} 1") for n in range(450)]
    records.append(make_record(0.0, "acme/one zz 1"))
    page = render_markdown(build_report(None, records))
    assert len(page) < 400_000
    runs = page.split("### Runs")[1].split("### Trajectories")[0]
    assert "251 more are in report.json" in runs
    assert "<code>zz</code>" in runs, "what went wrong comes first"
    assert "151 more are in matrix.csv" in page


def test_providers_are_not_divided_by_models_again(make_record: Make) -> None:
    cells = ["acme/one t1 1", "beta/two t1 1"]
    page = render_markdown(
        build_report(plan_of(cells, t1=GO), [make_record(1.0, c) for c in cells])
    )
    assert "| provider | mode | tasks | solved | pass rate | mean score |\n" in page
