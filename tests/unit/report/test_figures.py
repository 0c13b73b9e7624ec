from collections.abc import Callable

import pytest

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.aggregate import build_report
from nanobench.report.document import Section
from nanobench.report.markdown import render_markdown
from nanobench.stats.clustered import clustered_mean
from nanobench.stats.wilson import wilson

Make = Callable[..., Record]


def plan_of(runs: int, **tiers: int | None) -> Plan:
    one = ModelRef.parse("acme/one")
    return Plan(
        tasks=tuple(
            PlanTask(task_id=task, origin="dataset", sha256="a" * 64, tier=tier)
            for task, tier in tiers.items()
        ),
        cells=tuple(
            Cell(model=one, task_id=task, mode="hinted", run=run)
            for task in tiers
            for run in range(1, runs + 1)
        ),
    )


def section(plan: Plan | None, records: list[Record]) -> Section:
    return build_report(plan, records).sections[0]


def solved(make: Make, task: str, *scores: float, mode: str = "hinted") -> list[Record]:
    return [make(s, f"acme/one {task} {n}", mode=mode) for n, s in enumerate(scores, 1)]


def test_the_two_questions_have_their_own_intervals(make_record: Make) -> None:
    records = [*solved(make_record, "a", 1, 1, 1, 1), *solved(make_record, "b", 0, 0, 0, 1)]
    summary = section(None, records).summaries[0]
    assert summary.pass_rate_interval is not None
    again = summary.pass_rate_interval.low, summary.pass_rate_interval.high
    assert again == pytest.approx(wilson(5, 8), abs=1e-6)
    assert summary.rate_like_these is not None
    others = summary.rate_like_these.low, summary.rate_like_these.high
    assert others == pytest.approx(clustered_mean([1.0, 0.25]), abs=1e-6)
    assert others[1] - others[0] > again[1] - again[0]


def test_pooled_rate_and_rate_of_tasks_differ_with_unequal_runs(make_record: Make) -> None:
    records = [*solved(make_record, "a", 1, 1, 1, 1), *solved(make_record, "b", 0)]
    summary = section(None, records).summaries[0]
    assert summary.pass_rate == 0.8
    assert summary.rate_like_these is not None
    assert summary.rate_like_these.value == 0.5


def test_strict_valid_only_and_bounds_stand_side_by_side(make_record: Make) -> None:
    """Of 10 planned runs 4 are solved, 2 failed, 1 met trouble, 3 are missing."""
    records = solved(make_record, "a", 1, 1, 1, 1, 0, 0)
    records.append(make_record(None, "acme/one a 7", verdict={"reason": "quota"}))
    summary = section(plan_of(10, a=4), records).summaries[0]
    assert (summary.valid_runs, summary.missing, summary.infrastructure) == (6, 3, 1)
    assert summary.pass_rate == pytest.approx(4 / 6, abs=1e-6)
    assert summary.strict_rate == pytest.approx(4 / 9, abs=1e-6)
    assert (summary.worst_rate, summary.best_rate) == (0.4, 0.8)


@pytest.mark.parametrize(
    ("tier", "runs", "reason"),
    [
        (1, 1, None),
        (2, 1, None),
        (3, 5, None),
        (3, 4, "4 valid of the 5 runs that a task of tier 3 needs"),
        (4, 1, "1 valid of the 5 runs that a task of tier 4 needs"),
        (None, 4, "4 valid of the 5 runs that a task of unknown tier needs"),
        (None, 5, None),
    ],
)
def test_a_score_below_the_minimum_is_shown_and_enters_no_comparison(
    make_record: Make, tier: int | None, runs: int, reason: str | None
) -> None:
    report = build_report(plan_of(runs, a=tier), solved(make_record, "a", *[1] * runs))
    result = report.sections[0].tasks[0]
    assert result.not_compared == reason
    assert result.mean_score == 1.0
    assert report.sections[0].summaries[0].compared_tasks == int(reason is None)
    assert (f"no: {reason}" in render_markdown(report)) == bool(reason)


def test_a_missing_run_keeps_a_score_from_comparisons(make_record: Make) -> None:
    result = section(plan_of(6, a=4), solved(make_record, "a", *[1] * 5)).tasks[0]
    assert result.not_compared == "1 missing"


def test_pass_k_is_told_for_as_many_tries_as_there_are(make_record: Make) -> None:
    records = [*solved(make_record, "a", 1, 0, 0), *solved(make_record, "b", 1)]
    found = section(None, records)
    first, second = found.tasks
    assert [(p.k, round(p.any_solved, 3), round(p.all_solved, 3)) for p in first.pass_k] == [
        (1, 0.333, 0.333),
        (2, 0.667, 0.0),
        (3, 1.0, 0.0),
    ]
    assert [p.k for p in second.pass_k] == [1]
    assert [(p.k, p.tasks) for p in found.summaries[0].pass_k] == [(1, 2), (2, 1), (3, 1)]


def test_a_graded_score_has_an_interval_of_its_own(make_record: Make) -> None:
    summary = section(None, solved(make_record, "a", 0.5, 0.5, 0.5, 0.5)).summaries[0]
    assert summary.mean_score_interval is not None
    ends = summary.mean_score_interval.low, summary.mean_score_interval.high
    assert ends == pytest.approx(wilson(2, 4), abs=1e-6)
    assert summary.pass_rate_interval is not None
    assert summary.pass_rate_interval.low == 0.0


def test_without_valid_runs_there_are_no_intervals() -> None:
    found = section(plan_of(1, a=1), [])
    summary = found.summaries[0]
    assert (summary.pass_rate_interval, summary.rate_like_these) == (None, None)
    assert (summary.mean_score_interval, summary.detectable_drop) == (None, None)
    assert (summary.strict_rate, summary.worst_rate, summary.best_rate) == (0.0, 0.0, 1.0)
    assert found.tasks[0].pass_k == ()
    assert found.taxonomy.shares == {}


def test_the_taxonomy_has_intervals_and_levels(make_record: Make) -> None:
    records = [
        make_record(0.0, "acme/one a 1", verdict={"rule": 2, "level": "1 structural"}),
        make_record(
            0.5, "acme/one a 2", verdict={"category": "partial_fix_only", "level": "1 + 2"}
        ),
        make_record(1.0, "acme/one a 3"),
    ]
    taxonomy = section(None, records).taxonomy
    share = taxonomy.shares["zero_signal"]
    assert (share.value, share.low, share.high) == pytest.approx((0.5, *wilson(1, 2)), abs=1e-6)
    assert taxonomy.levels == {"1 structural": 1, "1 + 2": 1}


def test_an_audit_that_disagrees_merges_level_4_everywhere(make_record: Make) -> None:
    records = [
        make_record(0.0, "acme/one a 1", verdict={"category": "hallucinated_api"}),
        make_record(0.0, "acme/one a 2", verdict={"category": "wrong_abstraction_layer"}),
    ]
    report = build_report(None, records, merged_rulesets=("1.1",))
    assert report.sections[0].taxonomy.counts["implementation_error"] == 2
    assert report.sections[0].tasks[0].failure_modes == {"implementation_error": 2}
    page = render_markdown(report)
    assert "hallucinated_api" not in page
    assert "wrong_abstraction_layer" not in page
    assert [row.score for row in report.cells] == [0.0, 0.0]


def test_the_navigation_delta_splits_failure(make_record: Make) -> None:
    records = [
        *solved(make_record, "a", *[1] * 5),
        *solved(make_record, "a", *[0] * 5, mode="navigation"),
        *solved(make_record, "b", *[0] * 5),
        *solved(make_record, "b", *[0] * 5, mode="navigation"),
        *solved(make_record, "c", *[1] * 5),
    ]
    (found,) = section(None, records).navigation
    assert found.tasks == 2
    assert (found.hinted.value, found.navigation.value, found.delta.value) == (0.5, 0.0, 0.5)
    assert found.implementation.value == 0.5
    assert found.delta.low < 0.5 < found.delta.high
    assert found.excluded == {"c": "navigation: not run"}
    assert "### Navigation delta" in render_markdown(build_report(None, records))


def test_without_navigation_runs_there_is_no_delta(make_record: Make) -> None:
    records = solved(make_record, "a", *[1] * 5)
    assert section(None, records).navigation == ()
    assert "Navigation delta" not in render_markdown(build_report(None, records))
