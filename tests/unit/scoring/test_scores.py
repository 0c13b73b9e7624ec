from typing import get_args

import pytest

from nanobench.model.signals import SuiteState
from nanobench.scoring.case import Case
from nanobench.scoring.rulesets import RULESETS
from nanobench.scoring.scores import LABELS, score


def scored(signals, ruleset="1.1"):
    return score(Case(signals, RULESETS[ruleset]))


@pytest.fixture
def passing(build):
    return build.suite(4, 0)


def test_every_target_passing_is_complete(build, passing):
    assert scored(build.signals(passing)) == 1.0


def test_complete_needs_no_required_edit(build, passing):
    assert scored(build.signals(passing, edits=build.edits("src/other.py"))) == 1.0


@pytest.mark.parametrize(("passed", "expected"), [(3, 0.5), (2, 0.5), (1, 0.0), (0, 0.0)])
def test_half_of_four_targets_is_the_edge_of_partial(build, passed, expected):
    assert scored(build.signals(build.suite(passed, 4 - passed))) == expected


@pytest.mark.parametrize(("passed", "expected"), [(3, 0.5), (2, 0.0)])
def test_half_of_five_targets_needs_three(build, passed, expected):
    assert scored(build.signals(build.suite(passed, 5 - passed))) == expected


@pytest.mark.parametrize(("passed", "expected"), [(4, 0.5), (3, 0.0)])
def test_half_of_seven_targets_needs_four(build, passed, expected):
    assert scored(build.signals(build.suite(passed, 7 - passed))) == expected


def test_one_target_is_enough_to_be_solved(build):
    assert scored(build.signals(build.suite(1, 0))) == 1.0


def test_one_target_is_enough_for_the_half(build):
    broken = build.suite(1, 0, regressions=build.tests(0, 1))
    assert scored(build.signals(broken)) == 0.5


def test_without_targets_nothing_passes(build):
    assert scored(build.signals(build.suite(0, 0))) == 0.0


def test_targets_are_pooled_over_suites(build):
    suites = (build.suite(3, 0, name="a"), build.suite(0, 3, name="b"))
    assert scored(build.signals(*suites)) == 0.5


def test_partial_needs_a_required_edit(build):
    assert scored(build.signals(build.suite(3, 1), edits=build.edits("src/other.py"))) == 0.0


@pytest.mark.parametrize("status", ["failed", "error", "skipped", "missing"])
def test_every_status_but_passed_counts_as_failed(build, status):
    suite = build.suite(3, 1, exit_code=0, targets=build.tests(3, 1, status))
    assert scored(build.signals(suite)) == 0.5


@pytest.mark.parametrize(
    "unwell",
    [
        {"exit_code": 1},
        {"exit_code": None},
        {"exit_code": -9},
        *({"state": state} for state in sorted(set(get_args(SuiteState)) - {"ok"})),
    ],
)
def test_a_suite_that_ends_badly_is_not_solved(build, unwell):
    assert scored(build.signals(build.suite(4, 0, **unwell))) == 0.5


def test_a_regression_is_not_solved(build):
    broken = build.suite(4, 0, regressions=build.tests(0, 1))
    assert scored(build.signals(broken)) == 0.5


def test_one_bad_suite_among_good_ones_is_not_solved(build, passing):
    other = build.suite(0, 0, name="other", exit_code=1)
    assert scored(build.signals(passing, other)) == 0.5


def test_navigation_alone_earns_pathfinding_credit(build):
    assert scored(build.signals(mode="navigation")) == 0.1
    assert scored(build.signals(mode="hinted")) == 0.0
    assert scored(build.signals(mode="navigation", edits=build.edits("src/other.py"))) == 0.0


@pytest.mark.parametrize("ending", ["timed_out", "request_limit", "token_limit", "cost_limit"])
def test_our_limits_cap_a_passing_tree_at_half(build, passing, ending):
    assert scored(build.signals(passing, ending=ending)) == 0.5
    assert scored(build.signals(build.suite(2, 2), ending=ending)) == 0.5
    assert scored(build.signals(build.suite(1, 3), ending=ending)) == 0.0


@pytest.mark.parametrize("ending", ["turn_limit", "empty_response"])
def test_nanocoders_own_endings_cap_nothing(build, passing, ending):
    assert scored(build.signals(passing, ending=ending)) == 1.0


def test_ruleset_1_0_believes_the_report_and_1_1_the_diff(build):
    seen_only = build.edits("src/core.py", reported=(), required_reported=())
    claimed_only = build.edits(reported=("src/core.py",), required_reported=("src/core.py",))
    half = build.suite(2, 2)
    assert scored(build.signals(half, edits=seen_only), "1.0") == 0.0
    assert scored(build.signals(half, edits=seen_only), "1.1") == 0.5
    assert scored(build.signals(half, edits=claimed_only), "1.0") == 0.5
    assert scored(build.signals(half, edits=claimed_only), "1.1") == 0.0


def test_ruleset_1_0_takes_the_diff_where_no_report_exists(build):
    edits = build.edits("src/core.py", reported=None, required_reported=())
    assert scored(build.signals(build.suite(2, 2), edits=edits), "1.0") == 0.5


def test_ruleset_1_1_takes_the_report_where_no_diff_exists(build):
    edits = build.edits(
        source="reported", reported=("src/core.py",), required_reported=("src/core.py",)
    )
    assert scored(build.signals(build.suite(2, 2), edits=edits), "1.1") == 0.5


def test_every_score_has_its_label():
    assert dict(LABELS) == {
        1.0: "Complete Resolution",
        0.5: "Partial Resolution",
        0.1: "Pathfinding Credit",
        0.0: "Zero Signal",
    }
