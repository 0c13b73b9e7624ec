import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nanobench.stats.power import POWER, detectable, power, runs_to_show, tasks_to_show
from nanobench.stats.sampling import FEWEST_RUNS_THAT_SEPARATE
from nanobench.stats.wilson import wilson

rates = st.sampled_from([0.0, 0.05, 0.2, 1 / 3, 0.5, 0.8, 0.95, 1.0])


@settings(max_examples=60, deadline=None)
@given(rates, rates, st.integers(1, 25), st.integers(1, 25))
def test_power_is_the_sum_over_all_outcomes_that_separate(
    before: float, after: float, runs_before: int, runs_after: int
) -> None:
    expected = 0.0
    for old in range(runs_before + 1):
        for new in range(runs_after + 1):
            first, second = wilson(old, runs_before), wilson(new, runs_after)
            right = second.high < first.low if after <= before else second.low > first.high
            if right:
                expected += float(
                    scipy_stats.binom.pmf(old, runs_before, before)
                    * scipy_stats.binom.pmf(new, runs_after, after)
                )
    assert power(before, after, runs_before, runs_after) == pytest.approx(expected, abs=1e-9)


def test_below_four_runs_nothing_can_ever_be_shown() -> None:
    for runs in range(1, FEWEST_RUNS_THAT_SEPARATE):
        assert detectable(1.0, runs, runs, drop=True) is None
        assert wilson(0, runs).overlaps(wilson(runs, runs))
    assert detectable(1.0, 4, 4, drop=True) is not None
    assert not wilson(0, 4).overlaps(wilson(4, 4))


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("runs", [10, 30, 100])
def test_the_detectable_drop_is_the_smallest(rate: float, runs: int) -> None:
    drop = detectable(rate, runs, runs, drop=True)
    if drop is None:
        assert power(rate, 0.0, runs, runs) < POWER
        return
    assert power(rate, rate - drop, runs, runs) >= POWER
    if drop < rate:
        assert power(rate, rate - drop + 0.001, runs, runs) < POWER


def test_a_rise_is_the_mirror_of_a_drop() -> None:
    assert detectable(0.3, 30, 30, drop=False) == detectable(0.7, 30, 30, drop=True)
    assert detectable(1.0, 30, 30, drop=False) is None
    assert detectable(0.0, 30, 30, drop=True) is None


def test_the_runs_that_are_told_are_enough_and_half_of_them_are_not() -> None:
    for before, after in ((0.8, 0.6), (1.0, 0.9), (0.5, 0.9)):
        runs = runs_to_show(before, after)
        assert runs is not None
        assert power(before, after, runs, runs) >= POWER
        assert power(before, after, runs // 2, runs // 2) < POWER
    assert runs_to_show(0.5, 0.5) is None
    assert runs_to_show(0.5, 0.501) is None


def test_tasks_needed_follow_the_published_formula() -> None:
    """(1.96 + 0.84)^2 = 7.85 times variance over squared difference."""
    assert tasks_to_show(0.2, 0.4) == 32
    assert tasks_to_show(-0.1, 0.4) == 126
    assert tasks_to_show(0.5, 0.01) == 2
    assert tasks_to_show(0.2, 0.0) is None
    assert tasks_to_show(0.0, 0.2) is None
