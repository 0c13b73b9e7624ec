import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.stats.compare import NOISE, compare
from nanobench.stats.navigation import navigation_split
from nanobench.stats.passk import pass_at_k, pass_hat_k
from nanobench.stats.permutation import Pair
from nanobench.stats.sampling import runs_needed
from nanobench.stats.stratified import Tally
from nanobench.stats.taxonomy_shift import flow, shares
from nanobench.stats.wilson import wilson

pairs = st.lists(
    st.builds(Pair, st.integers(0, 5), st.just(5), st.integers(0, 5), st.just(5)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=20, deadline=None)
@given(pairs)
def test_with_equal_runs_the_finding_is_whether_wilson_intervals_part(found: list[Pair]) -> None:
    result = compare(found)
    old = wilson(sum(p.solved_before for p in found), 5 * len(found))
    new = wilson(sum(p.solved_after for p in found), 5 * len(found))
    assert (result.finding == NOISE) == old.overlaps(new)
    if result.finding != NOISE:
        assert (result.finding == "improvement") == (new.low > old.high)


@settings(max_examples=20, deadline=None)
@given(pairs)
def test_exchanging_the_sides_exchanges_the_finding(found: list[Pair]) -> None:
    turned = [Pair(p.solved_after, p.runs_after, p.solved_before, p.runs_before) for p in found]
    there, back = compare(found), compare(turned)
    opposite = {"regression": "improvement", "improvement": "regression", NOISE: NOISE}
    assert back.finding == opposite[there.finding]
    assert back.p == pytest.approx(there.p)
    assert back.same_tasks.value == pytest.approx(-there.same_tasks.value)


@settings(max_examples=20, deadline=None)
@given(pairs)
def test_every_difference_has_an_interval_around_it(found: list[Pair]) -> None:
    result = compare(found)
    for estimate in (result.same_tasks, result.tasks_like_these):
        assert estimate.interval.low - 1e-12 <= estimate.value <= estimate.interval.high + 1e-12
        assert estimate.interval.high > estimate.interval.low


def test_unequal_runs_of_unequal_tasks_are_no_regression() -> None:
    """An easy task run often before and a hard one often after: no task changed (Simpson)."""
    found = [Pair(40, 40, 10, 10), Pair(0, 10, 0, 40)]
    result = compare(found)
    assert not result.before.interval.overlaps(result.after.interval)
    assert (result.finding, result.p) == (NOISE, 1.0)


def test_fewer_runs_of_the_easy_tasks_are_no_regression() -> None:
    """Before, five runs of each task; now, one of the easy ones. One hard task lost its one run."""
    easy, hard = [Pair(5, 5, 1, 1)] * 10, [Pair(1, 5, 0, 5), *[Pair(0, 5, 0, 5)] * 4]
    result = compare([*easy, *hard])
    assert result.after.interval.high < result.before.interval.low
    assert result.same_tasks.value < 0 < result.same_tasks.interval.high
    assert (result.finding, result.uneven) == (NOISE, True)


@pytest.mark.parametrize("factor", [1, 2])
def test_with_runs_in_the_same_proportions_the_two_intervals_decide(factor: int) -> None:
    """Also where some tasks are run once and others five times, as plans by tier have it."""
    sizes = (5, 5, 1, 1)
    for old, new in itertools.product(range(13), range(12 * factor + 1)):
        before = spread(old, sizes)
        after = spread(new, [factor * size for size in sizes])
        result = compare(
            [Pair(s, n, t, factor * n) for s, t, n in zip(before, after, sizes, strict=True)]
        )
        apart = not result.before.interval.overlaps(result.after.interval)
        assert (result.finding != NOISE) is apart, (old, new)
        assert not result.uneven


def spread(solved: int, sizes: Sequence[int]) -> list[int]:
    """So many solved runs, the first tasks first."""
    found = []
    for size in sizes:
        found.append(min(size, solved))
        solved -= found[-1]
    return found


def test_six_tasks_of_five_runs_show_only_large_drops() -> None:
    result = compare([Pair(4, 5, 4, 5)] * 6)
    assert result.drop == pytest.approx(0.425, abs=0.03)
    assert [round(n.difference, 3) for n in result.needed] == [-0.1, -0.2]
    assert all(n.runs is not None and n.runs > 30 for n in result.needed)


def test_several_models_on_one_task_are_one_observation_of_it() -> None:
    """Five models that agree on two tasks know no more of other tasks than one model does."""
    one = [Pair(5, 5, 3, 5), Pair(4, 5, 4, 5)]
    alone = compare(one)
    many = compare(one * 5, tasks=["a", "b"] * 5)
    assert many.tasks_like_these.interval == pytest.approx(alone.tasks_like_these.interval)
    width = many.same_tasks.interval.high - many.same_tasks.interval.low
    assert width < alone.same_tasks.interval.high - alone.same_tasks.interval.low


def test_nothing_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        compare([])


@pytest.mark.parametrize("runs", [1, 2, 5, 8])
def test_pass_k_is_what_all_choices_of_k_runs_give(runs: int) -> None:
    for solved in range(runs + 1):
        outcomes = [True] * solved + [False] * (runs - solved)
        for k in range(1, runs + 1):
            chosen = list(itertools.combinations(outcomes, k))
            assert pass_at_k(runs, solved, k) == pytest.approx(
                sum(any(c) for c in chosen) / len(chosen)
            )
            assert pass_hat_k(runs, solved, k) == pytest.approx(
                sum(all(c) for c in chosen) / len(chosen)
            )


@pytest.mark.parametrize(("runs", "solved", "k"), [(5, 2, 6), (5, 2, 0), (5, 6, 1), (5, -1, 1)])
def test_k_beyond_the_runs_is_refused(runs: int, solved: int, k: int) -> None:
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="no choice"):
            function(runs, solved, k)


def test_the_policy() -> None:
    assert [runs_needed(tier) for tier in (1, 2, 3, 4, None)] == [1, 1, 5, 5, 5]
    assert {runs_needed(tier, "smoke") for tier in (1, 2, 3, 4, None)} == {1}


def test_what_a_task_has_on_both_sides_stayed() -> None:
    moves = flow([(["a", "b", "solved"], ["solved", "solved", "a"]), (["a"], ["b", "b"])])
    assert moves == {("a", "a"): 1, ("solved", "solved"): 1, ("b", "solved"): 1, ("a", "b"): 1}


@given(st.lists(st.tuples(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))))
def test_flow_counts_every_run_that_both_sides_have(
    found: list[tuple[list[str], list[str]]],
) -> None:
    moves = flow(found)
    assert moves.total() == sum(min(len(old), len(new)) for old, new in found)
    assert flow(found[::-1]) == moves


def test_shares_have_wilson_intervals() -> None:
    found = shares({"a": 3, "b": 1, "c": 0})
    assert found["a"] == (0.75, wilson(3, 4))
    assert found["c"].interval.low == 0
    assert found["c"].interval.high > 0.3
    assert shares({}) == shares({"a": 0}) == {}


def test_navigation_and_the_two_parts_of_failure_make_a_whole() -> None:
    hinted = [Tally(5, 5), Tally(3, 5), Tally(0, 5)]
    alone = [Tally(4, 5), Tally(0, 5), Tally(0, 5)]
    split = navigation_split(hinted, alone)
    assert split.delta.value == pytest.approx(4 / 15)
    whole = split.navigation.value + split.delta.value + split.implementation.value
    assert whole == pytest.approx(1)
    assert split.delta.interval.low < 4 / 15 < split.delta.interval.high
    with pytest.raises(ValueError, match="tasks before"):
        navigation_split(hinted, alone[:2])
