"""Intervals against scipy and statsmodels, published values, and their own properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import confint_proportions_2indep

from nanobench.stats.clustered import clustered_difference, clustered_mean
from nanobench.stats.interval import Interval
from nanobench.stats.stratified import (
    Tally,
    mean_rate,
    stratified_difference,
    stratified_mean,
)
from nanobench.stats.student import student_central, student_quantile
from nanobench.stats.wilson import wilson

tallies = st.integers(1, 8).flatmap(
    lambda runs: st.builds(Tally, st.integers(0, runs).map(float), st.just(runs))
)
many = st.lists(tallies, min_size=1, max_size=12)


def test_wilson_is_what_scipy_gives() -> None:
    for runs in (1, 2, 3, 5, 7, 30, 150, 10_000):
        for solved in {0, 1, runs // 3, runs // 2, runs - 1, runs}:
            expected = scipy_stats.binomtest(solved, runs).proportion_ci(method="wilson")
            assert wilson(solved, runs) == pytest.approx(tuple(expected), abs=1e-12)


def test_wilson_gives_the_values_of_newcombe_1998() -> None:
    """Table I of "Two-sided confidence intervals for the single proportion", method 3."""
    for solved, runs, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(solved, runs) == pytest.approx((low, high), abs=5e-5)


def test_wilson_ends_are_exact_at_none_and_all() -> None:
    for runs in range(1, 400):
        assert wilson(0, runs).low == 0.0
        assert wilson(runs, runs).high == 1.0


@pytest.mark.parametrize(("solved", "runs"), [(1, 0), (-1, 5), (6, 5), (0, 0)])
def test_what_is_no_rate_is_refused(solved: int, runs: int) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        wilson(solved, runs)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 9, 29, 30, 99, 100, 999])
def test_student_is_what_scipy_gives(freedom: int) -> None:
    assert student_quantile(freedom) == pytest.approx(scipy_stats.t.ppf(0.975, freedom), rel=1e-11)
    for t in (0.0, 0.3, 1.0, 2.5, 40.0):
        expected = 1 - 2 * scipy_stats.t.sf(t, freedom)
        assert student_central(t, freedom) == pytest.approx(expected, abs=1e-12)


def test_student_needs_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="degree of freedom"):
        student_quantile(0)


@pytest.mark.parametrize(
    "counts", [(56, 70, 48, 80), (9, 10, 3, 10), (5, 56, 0, 29), (10, 10, 0, 10)]
)
def test_of_one_task_the_difference_is_newcombes(counts: tuple[int, int, int, int]) -> None:
    solved, runs, solved_after, runs_after = counts
    found = stratified_difference([Tally(solved, runs)], [Tally(solved_after, runs_after)])
    expected = confint_proportions_2indep(
        solved_after, runs_after, solved, runs, method="newcomb", compare="diff"
    )
    assert found == pytest.approx(expected, abs=1e-9)


def test_newcombes_own_example() -> None:
    """56/70 against 48/80, method 10 of Stat. Med. 17 (1998): 0.0524 to 0.3339."""
    found = stratified_difference([Tally(48, 80)], [Tally(56, 70)])
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(many)
def test_a_stratified_mean_lies_in_an_interval_that_has_width(strata: list[Tally]) -> None:
    found = stratified_mean(strata)
    assert 0 <= found.low <= mean_rate(strata) + 1e-12
    assert mean_rate(strata) - 1e-12 <= found.high <= 1
    assert found.high - found.low > 0.01


@given(many)
def test_exchanging_before_and_after_turns_the_interval_round(strata: list[Tally]) -> None:
    other = [Tally(tally.runs - tally.total, tally.runs) for tally in strata]
    forth, back = stratified_difference(strata, other), stratified_difference(other, strata)
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))


def test_clustered_is_students_interval_of_task_means() -> None:
    means = [0.2, 0.4, 0.6, 1.0, 0.8, 0.5]
    spread = scipy_stats.sem(means)
    expected = scipy_stats.t.interval(0.95, 5, loc=sum(means) / 6, scale=spread)
    assert clustered_mean(means) == pytest.approx(tuple(map(float, expected)))


def test_clustered_difference_is_that_of_a_paired_t_test() -> None:
    before, after = [0.2, 0.4, 0.6, 1.0], [0.4, 0.4, 1.0, 0.8]
    expected = scipy_stats.ttest_rel(after, before).confidence_interval(0.95)
    assert clustered_difference(before, after) == pytest.approx(tuple(map(float, expected)))


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 0.5, 1.0])
@pytest.mark.parametrize("tasks", [1, 2, 6, 20])
def test_tasks_that_agree_are_no_certainty(value: float, tasks: int) -> None:
    found = clustered_mean([value] * tasks)
    assert found == pytest.approx(wilson(value * tasks, tasks))
    assert found.high - found.low > 0.1
    changed = clustered_difference([value] * tasks, [1 - value] * tasks)
    assert changed.low < 1 - 2 * value < changed.high or math.isclose(abs(1 - 2 * value), 1)
    assert changed.high - changed.low > 0.1


def test_six_of_six_tasks_may_still_mean_two_in_three() -> None:
    assert clustered_mean([1.0] * 6).low == pytest.approx(0.61, abs=0.005)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_clustered_never_has_width_zero_unless_the_spread_is_in_the_last_digits(
    means: list[float],
) -> None:
    found = clustered_mean(means)
    assert 0 <= found.low <= found.high <= 1
    if max(means) - min(means) < 1e-12 or max(means) - min(means) > 0.01:
        assert found.high - found.low > 1e-3


def test_the_order_of_tasks_changes_no_bit() -> None:
    means = [0.1, 0.7, 1 / 3, 0.9, 0.2, 0.6000001]
    strata = [Tally(k / 3, 5) for k in range(12)]
    assert clustered_mean(means) == clustered_mean(means[::-1])
    assert mean_rate(strata) == mean_rate(strata[::-1])


def test_touching_intervals_overlap() -> None:
    assert Interval(0.1, 0.5).overlaps(Interval(0.5, 0.9))
    assert not Interval(0.1, 0.5).overlaps(Interval(0.51, 0.9))
    assert not Interval(0.51, 0.9).overlaps(Interval(0.1, 0.5))


def test_with_equal_runs_the_stratified_mean_has_wilsons_interval_of_all_runs() -> None:
    strata = [Tally(5, 5), Tally(2, 5), Tally(0, 5)]
    assert stratified_mean(strata) == pytest.approx(wilson(7, 15))


def test_few_runs_of_one_task_widen_the_interval() -> None:
    even, uneven = [Tally(2, 4), Tally(2, 4)], [Tally(1, 2), Tally(3, 6)]
    even_width, uneven_width = (
        found.high - found.low for found in map(stratified_mean, (even, uneven))
    )
    assert uneven_width > even_width
