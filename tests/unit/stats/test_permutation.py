"""Exact tests against scipy, statsmodels, published values and plain enumeration."""

import itertools
import random
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from nanobench.stats.permutation import Pair, holm, stratified_p


@st.composite
def pairs(draw: st.DrawFn, most: int = 6) -> Pair:
    before, after = draw(st.integers(1, most)), draw(st.integers(1, most))
    return Pair(draw(st.integers(0, before)), before, draw(st.integers(0, after)), after)


@given(pairs(most=30))
def test_of_one_task_it_is_fishers_exact_test(pair: Pair) -> None:
    table = [
        [pair.solved_before, pair.runs_before - pair.solved_before],
        [pair.solved_after, pair.runs_after - pair.solved_after],
    ]
    assert stratified_p([pair]) == pytest.approx(scipy_stats.fisher_exact(table).pvalue, abs=1e-9)


def test_penicillin_in_rabbits() -> None:
    """The exact test of the documentation of R's mantelhaen.test gives 0.03994."""
    rabbits = [(0, 6, 0, 5), (3, 6, 0, 6), (6, 6, 2, 6), (5, 6, 6, 6), (2, 2, 5, 5)]
    assert stratified_p(Pair(*counts) for counts in rabbits) == pytest.approx(0.03994, abs=5e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(pairs(most=3), min_size=1, max_size=3))
def test_it_is_what_enumerating_every_assignment_gives(found: list[Pair]) -> None:
    """Integers only: ways to choose which runs of each task were the later ones."""
    ways: dict[int, int] = {0: 1}
    for pair in found:
        solved = pair.solved_before + pair.solved_after
        labels = [1] * solved + [0] * (pair.runs_before + pair.runs_after - solved)
        chosen = [sum(c) for c in itertools.combinations(labels, pair.runs_after)]
        merged: dict[int, int] = {}
        for (total, count), value in itertools.product(ways.items(), chosen):
            merged[total + value] = merged.get(total + value, 0) + count
        ways = merged
    seen = ways[sum(pair.solved_after for pair in found)]
    expected = sum(count for count in ways.values() if count <= seen) / sum(ways.values())
    assert stratified_p(found) == pytest.approx(expected)


@given(st.lists(pairs(), min_size=1, max_size=6))
def test_neither_the_order_of_tasks_nor_of_sides_matters(found: list[Pair]) -> None:
    turned = [Pair(p.solved_after, p.runs_after, p.solved_before, p.runs_before) for p in found]
    assert stratified_p(turned) == pytest.approx(stratified_p(found))
    assert stratified_p(found[::-1]) == pytest.approx(stratified_p(found))


def test_tasks_that_always_or_never_pass_say_nothing() -> None:
    assert stratified_p([Pair(5, 5, 5, 5), Pair(0, 5, 0, 5)]) == 1.0
    told = [Pair(5, 5, 0, 5)]
    assert stratified_p([*told, Pair(5, 5, 5, 5)]) == pytest.approx(stratified_p(told))
    assert stratified_p(told) == pytest.approx(2 / comb(10, 5))


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_holm_is_what_statsmodels_gives(count: int) -> None:
    p_values = [random.Random(count + n).random() ** 4 for n in range(count)]
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


def test_holm_of_the_example_in_wikipedia() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_only_five_to_none_survives_holm_over_six_tasks() -> None:
    unchanged = [1.0] * 5
    assert holm([stratified_p([Pair(5, 5, 0, 5)]), *unchanged])[0] == pytest.approx(6 * 2 / 252)
    assert holm([stratified_p([Pair(5, 5, 1, 5)]), *unchanged])[0] > 0.05
