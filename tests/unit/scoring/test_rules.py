from typing import get_args

import pytest

from nanobench.model.signals import Ending
from nanobench.scoring.case import Case, name_some
from nanobench.scoring.rules import RULES, matching_rules
from nanobench.scoring.rulesets import RULESETS


def matched(signals, ruleset="1.1"):
    return {match.rule: match for match in matching_rules(Case(signals, RULESETS[ruleset]))}


@pytest.fixture
def split(build):
    """Fewer than half of the targets pass, but all Python ones do."""
    return (
        build.suite(1, 0, name="py", language="python"),
        build.suite(0, 3, name="js", language="javascript"),
    )


def test_the_table_is_the_one_of_the_specification():
    assert [(rule.number, rule.category, rule.level) for rule in RULES] == [
        (1, "context_window_exceeded", "3 process"),
        (2, "insufficient_context_read", "1 structural"),
        (2, None, "1 structural"),
        (3, "hallucinated_api", "4 content"),
        (4, "wrong_abstraction_layer", "4 content"),
        (5, "partial_fix_only", "1 + 2"),
        (6, "missing_cross_language_change", "1 structural"),
    ]


class TestRule1:
    @pytest.mark.parametrize("error", ["context_size", "rate_limit"])
    def test_halted_before_any_edit(self, build, error):
        signals = build.signals(edits=build.edits(), ending="provider_error", error_class=error)
        assert matched(signals)[1].evidence == (f"ended on: {error}", "edited nothing")

    def test_any_edit_rules_it_out(self, build):
        signals = build.signals(
            edits=build.edits("README.md"), ending="provider_error", error_class="context_size"
        )
        assert 1 not in matched(signals)

    def test_other_errors_do_not_count(self, build):
        signals = build.signals(
            edits=build.edits(), ending="provider_error", error_class="content_filter"
        )
        assert 1 not in matched(signals)

    def test_the_error_must_have_ended_the_agent(self, build):
        signals = build.signals(edits=build.edits(), ending="completed", error_class="context_size")
        assert 1 not in matched(signals)

    @pytest.mark.parametrize(
        "ending", sorted(set(get_args(Ending)) - {"provider_error", "crashed"})
    )
    def test_an_error_that_the_agent_outlived_ended_nothing(self, build, ending):
        signals = build.signals(edits=build.edits(), ending=ending, error_class="context_size")
        assert 1 not in matched(signals)
        assert Case(signals, RULESETS["1.1"]).ended_on is None

    def test_a_crash_on_the_error_counts(self, build):
        signals = build.signals(edits=build.edits(), ending="crashed", error_class="context_size")
        assert 1 in matched(signals)

    def test_each_ruleset_asks_its_own_list_whether_nothing_was_edited(self, build):
        ended = {"ending": "provider_error", "error_class": "context_size"}
        unreported = build.signals(edits=build.edits("README.md", reported=()), **ended)
        assert 1 in matched(unreported, "1.0")
        assert 1 not in matched(unreported, "1.1")
        undone = build.signals(edits=build.edits(reported=("README.md",)), **ended)
        assert 1 not in matched(undone, "1.0")
        assert 1 in matched(undone, "1.1")


class TestRule2:
    def test_navigation_has_a_category_and_hinted_has_none(self, build):
        lost = build.edits("src/other.py")
        navigation = matched(build.signals(edits=lost, mode="navigation"))[2]
        hinted = matched(build.signals(edits=lost, mode="hinted"))[2]
        assert navigation.category == "insufficient_context_read"
        assert hinted.category is None
        assert navigation.evidence == ("edited 1, none of the 2 required: src/other.py",)

    def test_no_edit_at_all_is_said(self, build):
        evidence = matched(build.signals(edits=build.edits()))[2].evidence
        assert evidence == ("edited nothing", "required files: 2")

    @pytest.mark.parametrize("mode", ["hinted", "navigation"])
    def test_one_required_edit_rules_it_out(self, build, mode):
        assert 2 not in matched(build.signals(edits=build.edits("src/io.py"), mode=mode))


class TestRule3:
    def test_an_invented_symbol(self, build):
        match = matched(build.signals(symptoms=(build.symptom(),)))[3]
        assert match.evidence == (
            "AttributeError on frobnicate",
            "used by the agent",
            "absent from the base commit and from the golden patch",
            "in 1 test of suite tests",
        )

    @pytest.mark.parametrize(
        "fact",
        [
            {"in_agent_lines": False},
            {"in_agent_lines": None},
            {"in_repository_at_base": True},
            {"in_repository_at_base": None},
            {"in_golden_patch": True},
            {"in_golden_patch": None},
            {"symbol": None},
        ],
    )
    def test_1_1_needs_every_fact_of_an_invention(self, build, fact):
        assert 3 not in matched(build.signals(symptoms=(build.symptom(**fact),)))

    @pytest.mark.parametrize(
        ("in_required", "holds"), [(False, True), (True, False), (None, False)]
    )
    def test_1_0_asks_only_for_absence_from_the_required_files(self, build, in_required, holds):
        symptom = build.symptom(
            in_required_files_at_base=in_required,
            in_repository_at_base=True,
            in_golden_patch=True,
            in_agent_lines=False,
        )
        found = matched(build.signals(symptoms=(symptom,)), "1.0")
        assert (3 in found) is holds
        if holds:
            assert "absent from the required files at the base commit" in found[3].evidence

    def test_1_0_needs_a_symbol_too(self, build):
        assert 3 not in matched(build.signals(symptoms=(build.symptom(symbol=None),)), "1.0")

    def test_a_mismatch_is_none(self, build):
        assert 3 not in matched(
            build.signals(symptoms=(build.symptom("interface_mismatch"),)), "1.0"
        )

    def test_needs_a_required_edit(self, build):
        signals = build.signals(symptoms=(build.symptom(),), edits=build.edits("src/other.py"))
        assert 3 not in matched(signals)

    @pytest.mark.parametrize(
        ("passed", "in_1_0", "in_1_1"), [(0, True, True), (1, False, True), (2, False, False)]
    )
    def test_full_failure_of_four_targets(self, build, passed, in_1_0, in_1_1):
        signals = build.signals(
            build.suite(passed, 4 - passed), symptoms=(build.symptom(), build.mismatch())
        )
        assert (3 in matched(signals, "1.0")) is in_1_0
        assert (3 in matched(signals, "1.1")) is in_1_1

    def test_the_symptom_of_most_tests_is_the_evidence(self, build):
        symptoms = (
            build.symptom(symbol="rare", test_ids=("t0",)),
            build.symptom(symbol="common", test_ids=("t1", "t2")),
        )
        match = matched(build.signals(symptoms=symptoms))[3]
        assert match.evidence[0] == "AttributeError on common"
        assert match.evidence[-1] == "in 2 tests of suite tests"

    def test_equal_counts_go_by_the_order_of_ids(self, build):
        symptoms = (
            build.symptom(symbol="second", test_ids=("t2", "t1")),
            build.symptom(symbol="first", test_ids=("t3", "t0")),
        )
        match = matched(build.signals(symptoms=symptoms))[3]
        assert match.evidence[0] == "AttributeError on first"

    def test_a_lesser_symptom_may_be_the_one_that_fits(self, build):
        symptoms = (
            build.symptom(symbol="known", in_repository_at_base=True, test_ids=("t1", "t2")),
            build.symptom(symbol="invented", test_ids=("t0",)),
        )
        match = matched(build.signals(symptoms=symptoms))[3]
        assert match.evidence[0] == "AttributeError on invented"


class TestRule4:
    def test_a_mismatch(self, build):
        for ruleset in ("1.0", "1.1"):
            match = matched(build.signals(symptoms=(build.mismatch(),)), ruleset)[4]
            assert match.evidence == ("TypeError on load", "in 1 test of suite tests")

    def test_a_mismatch_without_a_symbol(self, build):
        match = matched(build.signals(symptoms=(build.mismatch(symbol=None),)))[4]
        assert match.evidence[0] == "TypeError"

    def test_a_hallucination_beats_a_mismatch_of_more_tests(self, build):
        symptoms = (build.mismatch(test_ids=("t1", "t2", "t3")), build.symptom())
        for ruleset in ("1.0", "1.1"):
            found = matched(build.signals(symptoms=symptoms), ruleset)
            assert 3 in found
            assert 4 not in found

    def test_a_missing_symbol_that_exists_leaves_it_to_the_mismatch(self, build):
        symptoms = (build.symptom(in_repository_at_base=True), build.mismatch())
        assert list(matched(build.signals(symptoms=symptoms))) == [4]

    def test_an_asked_symbol_built_elsewhere(self, build):
        misplaced = build.symptom(
            in_golden_patch=True,
            golden_defines_in=("src/core.py",),
            agent_defines_in=("src/io.py",),
        )
        match = matched(build.signals(symptoms=(misplaced,)))[4]
        assert match.evidence == (
            "AttributeError on frobnicate",
            "defined by the agent in src/io.py",
            "by the golden patch in src/core.py",
            "in 1 test of suite tests",
        )
        assert list(matched(build.signals(symptoms=(misplaced,)), "1.0")) == [3]

    @pytest.mark.parametrize(
        "fact",
        [
            {"agent_defines_in": ()},
            {"agent_defines_in": ("src/core.py", "src/io.py")},
            {"golden_defines_in": ()},
            {"in_golden_patch": False, "in_agent_lines": False},
            {"in_golden_patch": None},
        ],
    )
    def test_an_asked_symbol_not_built_or_built_in_place_is_none(self, build, fact):
        facts = {
            "in_golden_patch": True,
            "golden_defines_in": ("src/core.py",),
            "agent_defines_in": ("src/io.py",),
            **fact,
        }
        assert matched(build.signals(symptoms=(build.symptom(**facts),))) == {}

    def test_1_0_knows_no_misplaced_symbols(self, build):
        misplaced = build.symptom(
            in_required_files_at_base=True,
            in_golden_patch=True,
            golden_defines_in=("src/core.py",),
            agent_defines_in=("src/io.py",),
        )
        assert matched(build.signals(symptoms=(misplaced,)), "1.0") == {}

    def test_a_member_that_the_golden_patch_adds_counts_though_the_name_exists(self, build):
        misplaced = build.symptom(
            in_repository_at_base=True,
            in_golden_patch=True,
            golden_defines_in=("src/core.py",),
            agent_defines_in=("src/io.py",),
        )
        assert 4 in matched(build.signals(symptoms=(misplaced,)))

    def test_needs_a_required_edit(self, build):
        signals = build.signals(symptoms=(build.mismatch(),), edits=build.edits("src/other.py"))
        assert 4 not in matched(signals)


class TestRule5:
    def test_half_passes_and_a_required_file_was_edited(self, build):
        match = matched(build.signals(build.suite(2, 2)))[5]
        assert match.evidence == (
            "2 of 4 target tests pass",
            "edited 1 of 2 required: src/core.py",
            "suites that did not end well: tests (ok, exit 1)",
        )

    def test_below_half_is_none(self, build):
        assert 5 not in matched(build.signals(build.suite(1, 3)))

    def test_needs_a_required_edit(self, build):
        signals = build.signals(build.suite(2, 2), edits=build.edits("src/other.py"))
        assert 5 not in matched(signals)

    def test_names_what_keeps_a_passing_tree_unsolved(self, build):
        suites = (
            build.suite(4, 0, name="a", regressions=build.tests(0, 2)),
            build.suite(0, 0, name="b", state="inconsistent"),
        )
        evidence = matched(build.signals(*suites))[5].evidence
        assert "2 regressed: t0, t1" in evidence
        assert "suites that did not end well: b (inconsistent, exit 0)" in evidence


class TestRule6:
    def test_one_language_passes_and_another_fails(self, build, split):
        match = matched(build.signals(*split, mode="navigation"))[6]
        assert match.evidence == ("passes fully: python", "fails: javascript")

    @pytest.mark.parametrize("full", ["python", "javascript"])
    def test_whichever_of_the_languages_passes(self, build, full):
        suites = (
            build.suite(1, 0, name="a", language=full),
            *(
                build.suite(0, 3, name=language, language=language)
                for language in {"python", "javascript", "go"} - {full}
            ),
        )
        signals = build.signals(*suites, mode="navigation")
        assert matched(signals)[6].evidence[0] == f"passes fully: {full}"

    def test_hinted_mode_has_none(self, build, split):
        assert 6 not in matched(build.signals(*split, mode="hinted"))

    def test_two_suites_of_one_language_are_not_polyglot(self, build):
        suites = (build.suite(1, 0, name="a"), build.suite(0, 3, name="b"))
        assert 6 not in matched(build.signals(*suites, mode="navigation"))

    def test_two_languages_that_both_pass_are_no_split(self, build):
        suites = (
            build.suite(1, 0, name="py", language="python", exit_code=1),
            build.suite(1, 0, name="js", language="javascript"),
        )
        assert 6 not in matched(build.signals(*suites, mode="navigation"))

    def test_a_language_without_targets_does_not_count(self, build):
        suites = (
            build.suite(0, 3, name="js", language="javascript"),
            build.suite(0, 0, name="py", language="python"),
        )
        assert 6 not in matched(build.signals(*suites, mode="navigation"))

    def test_a_regression_is_a_failure_of_its_language(self, build):
        suites = (
            build.suite(1, 0, name="py", language="python", regressions=build.tests(0, 1)),
            build.suite(0, 3, name="js", language="javascript"),
        )
        assert 6 not in matched(build.signals(*suites, mode="navigation"))

    def test_every_suite_of_a_language_must_pass(self, build, split):
        more = build.suite(0, 1, name="py2", language="python")
        assert 6 not in matched(build.signals(*split, more, mode="navigation"))

    @pytest.mark.parametrize("symptom_kind", ["missing_symbol", "interface_mismatch"])
    def test_a_split_below_half_is_left_to_this_rule(self, build, split, symptom_kind):
        signals = build.signals(*split, symptoms=(build.symptom(symptom_kind),), mode="navigation")
        assert list(matched(signals, "1.1")) == [6]
        assert list(matched(signals, "1.0")) == [6]  # a target passes: no full failure in 1.0

    def test_without_a_split_a_polyglot_run_goes_to_rule_3(self, build):
        zero = (
            build.suite(0, 1, name="py", language="python"),
            build.suite(0, 3, name="js", language="javascript"),
        )
        signals = build.signals(*zero, symptoms=(build.symptom(),), mode="navigation")
        assert list(matched(signals, "1.0")) == list(matched(signals, "1.1")) == [3]

    def test_half_or_more_goes_to_rule_5_first(self, build):
        suites = (
            build.suite(3, 0, name="py", language="python"),
            build.suite(0, 3, name="js", language="javascript"),
        )
        assert list(matched(build.signals(*suites, mode="navigation"))) == [5, 6]


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, "f0"),
        (5, "f0, f1, f2, f3, f4"),
        (6, "f0, f1, f2, f3, f4 and 1 more"),
        (12, "f0, f1, f2, f3, f4 and 7 more"),
    ],
)
def test_at_most_five_names_are_shown(count, shown):
    assert name_some([f"f{n}" for n in range(count)]) == shown
