"""What the first screen concludes."""

from collections.abc import Callable

import pytest

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.comparison import compare_results
from nanobench.report.document import Section
from nanobench.report.html import answers
from nanobench.report.pairing import Results

Make = Callable[..., Record]
TASKS = ("t1", "t2", "t3", "t4", "t5", "t6")
RUNS = range(1, 6)


def plan(*models: str) -> Plan:
    return Plan(
        tasks=tuple(
            PlanTask(task_id=task, origin="dataset", sha256="a" * 64, tier=3) for task in TASKS
        ),
        cells=tuple(
            Cell(model=ModelRef.parse(model), task_id=task, mode="hinted", run=run)
            for model in models
            for task in TASKS
            for run in RUNS
        ),
    )


def runs(make: Make, model: str, solved: int, category: str = "partial_fix_only") -> list[Record]:
    """Thirty runs, the first `solved` of them solved, task by task."""
    names = [f"{model} {task} {run}" for task in TASKS for run in RUNS]
    failed = {"category": category, "rule": 5, "level": "1 + 2"}
    return [
        make(1.0, name) if number < solved else make(0.5, name, verdict=failed)
        for number, name in enumerate(names)
    ]


def section(make: Make, **solved: int) -> Section:
    records = [one for name, count in solved.items() for one in runs(make, f"acme/{name}", count)]
    models = [f"acme/{name}" for name in solved]
    (found,) = build_report(plan(*models), records).sections
    return found


def names(summaries: tuple[object, ...]) -> list[str]:
    return [str(summary.model) for summary in summaries]  # type: ignore[attr-defined]


def test_a_model_leads_those_whose_intervals_do_not_overlap_with_its_own(make_record: Make) -> None:
    (lead,) = answers.leads(section(make_record, good=27, near=20, bad=6))
    assert names(lead.best) == ["acme/good"]
    assert names(lead.near) == ["acme/near"]
    assert lead.behind == 1
    assert lead.doubts == ()


def test_models_with_the_same_rate_lead_together(make_record: Make) -> None:
    (lead,) = answers.leads(section(make_record, one=20, two=20, bad=0))
    assert names(lead.best) == ["acme/one", "acme/two"]
    assert (lead.near, lead.behind) == ((), 1)


def test_a_ranking_of_unequal_runs_is_doubted(make_record: Make) -> None:
    records = runs(make_record, "acme/one", 20) + runs(make_record, "acme/two", 10)[:5]
    (found,) = build_report(plan("acme/one", "acme/two"), records).sections
    (lead,) = answers.leads(found)
    assert lead.doubts == (
        "1 of 2 models lack runs that a comparison needs",
        "not all models were graded on the same tasks",
    )


def test_nobody_leads_where_nothing_was_graded(make_record: Make) -> None:
    records = [make_record(None, "acme/one t1 1", verdict={"reason": "quota"})]
    report = build_report(plan("acme/one"), records)
    assert list(answers.leads(report.sections[0])) == []
    assert answers.hardest(report.sections[0]) == []
    assert answers.drops(report.sections[0].summaries) is None
    assert answers.troubles(report) == [("quota", 1)]


def test_the_hardest_tasks_are_those_that_all_models_fail_most(make_record: Make) -> None:
    found = section(make_record, one=25, two=20)
    assert [(task.task_id, task.solved, task.runs) for task in answers.hardest(found)] == [
        ("t6", 0, 10),
        ("t5", 5, 10),
    ]


def test_failures_are_told_from_the_most_frequent_on(make_record: Make) -> None:
    records = runs(make_record, "acme/one", 28) + runs(make_record, "acme/two", 29, "unclassified")
    (found,) = build_report(plan("acme/one", "acme/two"), records).sections
    told = [(mode, count) for mode, count, _ in answers.commonest(found)]
    assert told == [("partial_fix_only", 2), ("unclassified", 1)]
    assert [(str(model), counts) for model, _, counts in answers.modes_by_model(found)] == [
        ("acme/one", {"partial_fix_only": 2}),
        ("acme/two", {"unclassified": 1}),
    ]


def test_what_stands_in_the_way_of_a_comparison_is_counted_by_tasks(make_record: Make) -> None:
    one = plan("acme/one")
    old = [
        make_record(1.0, f"acme/one {task} {run}", provenance={"dataset": "nanobench 0.2.0"})
        for task in TASKS
        for run in RUNS
    ]
    comparison = compare_results(
        Results.of("old", one, old), Results.of("new", one, runs(make_record, "acme/one", 9)[:-1])
    )
    assert comparison.verdict == "not comparable"
    assert answers.obstacles(comparison) == [
        ("different dataset: nanobench 0.2.0 before, nanobench 0.1.0 after", 6),
        ("1 missing after", 1),
    ]


def test_signs_of_harness_and_model_are_counted_by_runs_whatever_their_number(
    make_record: Make,
) -> None:
    def seen(refused: int, loops: int) -> dict[str, object]:
        harness = {"rejected_calls": refused}
        found = {"known": True, "loops": loops, "longest_repeat": loops, "harness": harness}
        return {"trajectory": found}

    records = [
        make_record(1.0, "acme/one t1 1", signals=seen(2, 0)),
        make_record(1.0, "acme/one t1 2", signals=seen(7, 3)),
        make_record(1.0, "acme/one t1 3", signals=seen(0, 4)),
    ]
    report = build_report(None, records)
    assert answers.signs_of(report.sections[0], report.cells) == [
        ("harness", "calls refused by Nanocoder's checks", 2),
        ("model", "loops", 2),
    ]


@pytest.fixture
def sides(make_record: Make) -> tuple[Results, Results]:
    """Of two models, one got much worse and the other hardly."""
    both = plan("acme/fell", "acme/same")
    before = runs(make_record, "acme/fell", 30) + runs(make_record, "acme/same", 20)
    after = runs(make_record, "acme/fell", 5) + runs(make_record, "acme/same", 19)
    return Results.of("old", both, before), Results.of("new", both, after)


def test_a_regression_is_told_with_its_own_tasks_and_labels(sides: tuple[Results, Results]) -> None:
    comparison = compare_results(*sides)
    assert comparison.verdict == "regression"
    changes = answers.concerned(comparison)
    assert [str(change.model) for change in changes] == ["acme/fell"]
    assert {str(task.model) for task in answers.moved(comparison, changes)} == {"acme/fell"}
    assert len(answers.moved(comparison, changes)) == 5
    assert len(answers.moved(comparison, comparison.changes)) == 6
    ordered = [str(change.model) for change in answers.gravest_first(comparison)]
    assert ordered == ["None", "acme/fell", "acme/same"]
    (move,) = answers.moves(changes)
    assert (move.before, move.after, move.runs) == ("solved", "partial_fix_only", 25)


def test_a_model_without_a_rate_ranks_behind_one_that_solved_nothing(make_record: Make) -> None:
    trouble = [make_record(None, "acme/a-none t1 1", verdict={"reason": "quota"})]
    failed = runs(make_record, "acme/z-zero", 0)
    (found,) = build_report(plan("acme/a-none", "acme/z-zero"), [*trouble, *failed]).sections
    assert names(tuple(answers.ranked(found))) == ["acme/z-zero", "acme/a-none"]


def test_a_ranking_of_models_that_lost_runs_of_a_task_is_doubted(make_record: Make) -> None:
    short = runs(make_record, "acme/two", 20)
    short[0] = make_record(None, "acme/two t1 1", verdict={"reason": "quota"})
    records = [*runs(make_record, "acme/one", 25), *short]
    (found,) = build_report(plan("acme/one", "acme/two"), records).sections
    (lead,) = answers.leads(found)
    assert lead.doubts[-1] == "not all models were graded equally often on each task"
