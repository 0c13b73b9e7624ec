from typing import get_args

import pytest

from nanobench.model.signals import SuiteState
from nanobench.scoring.case import Case
from nanobench.scoring.reasons import UNCLASSIFIED, unclassified_reason
from nanobench.scoring.rulesets import RULESETS


def reason(signals, ruleset="1.1"):
    return unclassified_reason(Case(signals, RULESETS[ruleset]))


def with_targets(build, *outcomes, **other):
    return build.signals(build.suite(0, 0, exit_code=1, targets=outcomes, **other))


def test_reasons_are_distinct_and_the_last_always_holds(build):
    assert len({row.reason for row in UNCLASSIFIED}) == len(UNCLASSIFIED)
    assert UNCLASSIFIED[-1].condition(Case(build.signals(), RULESETS["1.1"]))


def test_some_targets_pass_in_the_gap_of_1_0(build):
    signals = build.signals(build.suite(1, 3), symptoms=(build.symptom(),))
    assert reason(signals, "1.0") == "some_targets_pass"


def test_no_gap_without_a_symptom(build):
    assert reason(build.signals(build.suite(1, 3)), "1.0") == "no_symptom"


def test_an_asked_symbol_that_was_not_built(build):
    asked = build.symptom(in_golden_patch=True, golden_defines_in=("src/core.py",))
    assert reason(build.signals(symptoms=(asked,))) == "asked_symbol_absent"


def test_an_asked_symbol_is_told_by_its_absence_from_the_base(build):
    asked = build.symptom(in_golden_patch=True)
    assert reason(build.signals(symptoms=(asked,))) == "asked_symbol_absent"
    used = build.symptom(in_golden_patch=True, in_repository_at_base=True)
    assert reason(build.signals(symptoms=(used,))) == "symbol_exists"


@pytest.mark.parametrize("place", ["in_required_files_at_base", "in_repository_at_base"])
def test_a_symbol_that_exists(build, place):
    assert reason(build.signals(symptoms=(build.symptom(**{place: True}),))) == "symbol_exists"


def test_a_symbol_that_the_agent_never_wrote(build):
    symptom = build.symptom(in_agent_lines=False)
    assert reason(build.signals(symptoms=(symptom,))) == "symbol_not_by_agent"


def test_a_symbol_of_which_nothing_is_known(build):
    symptom = build.symptom(
        in_required_files_at_base=None,
        in_repository_at_base=None,
        in_golden_patch=None,
        in_agent_lines=None,
    )
    assert reason(build.signals(symptoms=(symptom,))) == "symbol_unknown"


def test_facts_about_mismatches_are_no_facts_about_missing_symbols(build):
    mismatch = build.mismatch(
        in_golden_patch=True, in_agent_lines=False, golden_defines_in=("src/core.py",)
    )
    assert reason(build.signals(symptoms=(mismatch,))) == "no_symptom"


@pytest.mark.parametrize("state", sorted(set(get_args(SuiteState)) - {"ok"}))
def test_a_dead_suite(build, outcome, state):
    dead = with_targets(build, outcome("x"), state=state, control="passed")
    assert reason(dead) == "suite_not_ok"


def test_a_dead_suite_whose_targets_all_pass_is_not_the_reason(build, outcome):
    dead = build.suite(1, 0, name="dead", state="crashed")
    failing = build.suite(0, 2, name="failing")
    assert reason(build.signals(dead, failing)) == "no_symptom"


@pytest.mark.parametrize("status", ["skipped", "missing"])
def test_targets_that_never_ran(build, outcome, status):
    never_ran = outcome(None, status=status)
    passed = outcome(None, id="p", status="passed")
    assert reason(with_targets(build, never_ran, passed)) == "targets_not_run"
    failed = outcome("ValueError: no", id="f")
    assert reason(with_targets(build, never_ran, failed)) == "no_symptom"


@pytest.mark.parametrize("message", ["assert 1 == 2", "AssertionError: assert 1 == 2"])
@pytest.mark.parametrize("status", ["failed", "error"])
def test_assertions(build, outcome, message, status):
    other = outcome("ValueError: no", id="v")
    failed = outcome(message, status=status)
    assert reason(with_targets(build, other, failed)) == "assertion_failures"


def test_other_errors(build, outcome):
    assert reason(with_targets(build, outcome("ValueError: no"))) == "no_symptom"
    assert reason(with_targets(build, outcome("AssertionError"), language="cobol")) == "no_symptom"


def test_a_skipped_test_does_not_fail_on_its_message(build, outcome):
    skipped = outcome("AssertionError: later", id="s", status="skipped")
    failed = outcome("ValueError: no", id="v")
    assert reason(with_targets(build, skipped, failed)) == "no_symptom"
