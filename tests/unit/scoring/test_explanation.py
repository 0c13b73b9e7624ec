"""Why a rule did or did not match, in words that name what was seen."""

import pytest

from nanobench.scoring.case import Case
from nanobench.scoring.explanation import explain
from nanobench.scoring.rulesets import RULESETS

RULE_3, RULE_4, RULE_5, RULE_6 = 3, 4, 5, 6  # places in the table: rule 2 has two rows


def rule(signals, place, ruleset="1.1"):
    return explain(signals, ruleset).rules[place]


def seen(signals, place, condition, ruleset="1.1"):
    (answer,) = (one for one in rule(signals, place, ruleset).answers if one.condition == condition)
    return answer.holds, answer.seen


def test_every_rule_is_answered_in_the_order_of_the_table(build):
    rules = explain(build.signals(), "1.1").rules
    assert [one.rule for one in rules] == [1, 2, 2, 3, 4, 5, 6]


class TestRule1:
    ENDED = "the agent ended on a context-size or rate-limit error"

    def test_what_ended_the_agent(self, build):
        assert seen(build.signals(), 0, self.ENDED) == (False, "completed, error: none")
        signals = build.signals(ending="provider_error", error_class="context_size")
        assert seen(signals, 0, self.ENDED) == (True, "provider_error, error: context_size")

    def test_what_was_edited(self, build):
        holds = seen(build.signals(), 0, "nothing edited")
        assert holds == (False, "edited 1: src/core.py")
        assert seen(build.signals(edits=build.edits()), 0, "nothing edited") == (
            True,
            "edited none",
        )


class TestRule2:
    def test_the_mode_and_the_required_files(self, build):
        signals = build.signals(edits=build.edits("README.md"), mode="navigation")
        assert seen(signals, 1, "navigation mode") == (True, "navigation mode")
        assert seen(signals, 2, "hinted mode") == (False, "navigation mode")
        assert seen(signals, 1, "no required file edited") == (True, "edited 0 of 2 required")
        one = seen(build.signals(), 2, "no required file edited")
        assert one == (False, "edited 1 of 2 required: src/core.py")


class TestContent:
    INVENTED = "an error on a symbol that does not exist"
    MISMATCH = "a type or interface mismatch"

    @pytest.mark.parametrize(
        ("ruleset", "holds", "takes"), [("1.0", False, "none"), ("1.1", True, "less than half")]
    )
    def test_what_a_full_failure_takes(self, build, ruleset, holds, takes):
        signals = build.signals(build.suite(1, 3), symptoms=(build.symptom(),))
        assert seen(signals, RULE_3, "full failure", ruleset) == (
            holds,
            f"1 of 4 target tests pass; it takes {takes}",
        )

    def test_no_symptom(self, build):
        assert seen(build.signals(), RULE_3, self.INVENTED) == (False, "no symptom")

    def test_what_is_known_of_a_symbol_that_fits_neither(self, build):
        exists = build.symptom(in_repository_at_base=True, in_agent_lines=False)
        told = (
            "AttributeError on frobnicate (missing symbol): not in required files at base, "
            "in base, not in golden patch, not in agent's lines"
        )
        signals = build.signals(symptoms=(exists,))
        assert seen(signals, RULE_3, self.INVENTED) == (False, told)
        assert seen(signals, RULE_4, self.MISMATCH) == (False, told)

    def test_nothing_known(self, build):
        nothing = build.symptom(
            symbol=None,
            in_required_files_at_base=None,
            in_repository_at_base=None,
            in_golden_patch=None,
            in_agent_lines=None,
        )
        assert seen(build.signals(symptoms=(nothing,)), RULE_3, self.INVENTED) == (
            False,
            "AttributeError (missing symbol): nothing is known of its symbol",
        )

    @pytest.mark.parametrize("count", [3, 4, 5, 8])
    def test_only_the_first_three_are_told(self, build, count):
        symptoms = tuple(
            build.symptom(symbol=f"s{n}", test_ids=(f"t{n}",), in_repository_at_base=True)
            for n in range(count)
        )
        _, told = seen(build.signals(symptoms=symptoms), RULE_3, self.INVENTED)
        parts = told.split("; ")
        assert [part.split()[2] for part in parts[:3]] == ["s0", "s1", "s2"]
        assert parts[3:] == ([f"and {count - 3} more"] if count > 3 else [])

    def test_missing_symbols_are_told_before_mismatches_of_more_tests(self, build):
        exists = build.symptom(in_repository_at_base=True)
        many = build.symptom(symbol="many", test_ids=("t1", "t2"), in_repository_at_base=True)
        mismatch = build.mismatch(test_ids=("t3", "t4", "t5"))
        case = Case(build.signals(symptoms=(exists, mismatch, many)), RULESETS["1.1"])
        assert [symptom.symbol for symptom in case.symptoms] == ["many", "frobnicate", "load"]

    def test_the_symptom_that_decides_for_the_other_rule(self, build):
        signals = build.signals(symptoms=(build.mismatch(), build.symptom()))
        told = "decided by AttributeError on frobnicate, rule 3"
        assert seen(signals, RULE_3, self.INVENTED) == (True, told)
        assert seen(signals, RULE_4, self.MISMATCH) == (False, told)
        mismatch = build.signals(symptoms=(build.mismatch(),))
        assert seen(mismatch, RULE_4, self.MISMATCH)[0] is True

    @pytest.mark.parametrize("place", [RULE_3, RULE_4])
    def test_what_is_left_to_rule_6(self, build, place):
        suites = (build.suite(1, 0), build.suite(0, 3, name="js", language="javascript"))
        split = build.signals(*suites, mode="navigation", symptoms=(build.symptom(),))
        left = "not left to rule 6"
        assert seen(split, place, left) == (False, "rule 6 holds")
        assert seen(split, place, left, "1.0") == (True, "ruleset 1.0 leaves none")
        assert seen(build.signals(), place, left) == (True, "rule 6 does not hold")


class TestRules5And6:
    def test_the_share(self, build):
        half = "at least half of the target tests pass"
        assert seen(build.signals(build.suite(1, 1)), RULE_5, half) == (
            True,
            "1 of 2 target tests pass",
        )
        assert seen(build.signals(build.suite(1, 2)), RULE_5, half)[0] is False

    def test_the_languages(self, build):
        suites = (build.suite(1, 0), build.suite(0, 1, name="js", language="javascript"))
        signals = build.signals(*suites, mode="navigation")
        answers = {one.condition: (one.holds, one.seen) for one in rule(signals, RULE_6).answers}
        assert answers == {
            "navigation mode": (True, "navigation mode"),
            "target tests in two languages or more": (
                True,
                "languages with target tests: javascript, python",
            ),
            "one language passes fully": (True, "passes fully: python"),
            "another fails": (True, "fails: javascript"),
        }

    def test_one_language_is_not_two(self, build):
        (_, two, full, fails) = rule(build.signals(build.suite(4, 0)), RULE_6).answers
        assert (two.holds, two.seen) == (False, "languages with target tests: python")
        assert (full.holds, full.seen) == (True, "passes fully: python")
        assert (fails.holds, fails.seen) == (False, "fails: none")
        (_, _, full, _) = rule(build.signals(), RULE_6).answers
        assert (full.holds, full.seen) == (False, "passes fully: none")

    def test_a_run_without_targets_names_no_language(self, build):
        troubled = {"infrastructure": ("disk: full",)}
        signals = build.signals(build.suite(0, 0)).model_copy(update=troubled)
        _, two, _, _ = rule(signals, RULE_6).answers
        assert (two.holds, two.seen) == (False, "languages with target tests: none")
        first = explain(signals, "1.1").solved[0]
        assert (first.holds, first.seen) == (False, "0 of 0 target tests pass")


class TestSteps:
    def test_what_keeps_a_run_from_being_solved(self, build):
        broken = build.suite(3, 1, regressions=build.tests(0, 1), state="crashed", control="passed")
        solved = explain(build.signals(broken), "1.1").solved
        assert [(one.condition, one.holds, one.seen) for one in solved] == [
            ("every target test passes", False, "3 of 4 target tests pass"),
            ("every suite exits 0", False, "ended otherwise: tests (crashed, exit 1)"),
            ("nothing regressed", False, "regressed: t0"),
            ("no limit ended the agent", True, "ending: completed"),
        ]

    def test_a_solved_run_is_not_asked_for_rules_but_shown_them(self, build):
        told = explain(build.signals(build.suite(4, 0)), "1.1")
        assert [(one.holds, one.seen) for one in told.solved[1:3]] == [
            (True, "ended otherwise: none"),
            (True, "regressed: none"),
        ]
        assert told.rules_asked is False
        assert [one.rule for one in told.rules if one.holds] == [5]
        assert not any(one.decides for one in told.rules)

    def test_a_limit(self, build):
        told = explain(build.signals(build.suite(4, 0), ending="timed_out"), "1.1")
        assert (told.solved[3].holds, told.solved[3].seen) == (False, "ending: timed_out")
        assert (
            told.meaning == "every test passes, but the wall clock ended the agent: capped at 0.5"
        )

    def test_the_causes_of_infrastructure(self, build):
        signals = build.signals(
            ending="aborted", model_responses=0, edits=build.edits(reported=None)
        )
        told = explain(signals.model_copy(update={"infrastructure": ("disk: full",)}), "1.1")
        assert [(one.holds, one.seen) for one in told.infrastructure] == [
            (True, "disk: full"),
            (True, "ending: aborted; model responses: 0; edited files: 0"),
        ]
        assert told.meaning == told.infrastructure[0].condition
        assert told.meaning == "the machine, the sandbox, a registry or the repository failed"

    @pytest.mark.parametrize(
        ("agent", "ruleset", "why"),
        [
            ({}, "1.1", "completed: graded"),
            ({"ending": "crashed"}, "1.1", "crashed: graded, since the model had answered"),
            (
                {"ending": "provider_error", "error_class": "rate_limit"},
                "1.0",
                "rate_limit: graded, since nothing was edited",
            ),
            (
                {"ending": "provider_error", "error_class": "rate_limit"},
                "1.1",
                "rate_limit: graded, since nothing was edited and the model had answered",
            ),
        ],
    )
    def test_why_a_run_is_graded(self, build, agent, ruleset, why):
        told = explain(build.signals(edits=build.edits(), **agent), ruleset).infrastructure
        assert [(one.holds, one.seen) for one in told] == [(False, why)]

    def test_the_meaning_of_every_kind_of_reason(self, build):
        assert explain(build.signals(), "1.1").meaning is not None
        halted = build.signals(
            edits=build.edits(), ending="provider_error", error_class="context_size"
        )
        meaning = explain(halted, "1.1").meaning
        assert meaning == "rule 1: the request no longer fitted the model's context"
        plain = build.signals(symptoms=(build.symptom(),))
        assert explain(plain, "1.1").meaning is None
