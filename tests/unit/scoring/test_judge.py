import pytest

from nanobench.errors import InvalidInputError
from nanobench.model.signals import VerificationSignals
from nanobench.scoring.judge import judge


def test_a_solved_run_has_no_category_whatever_else_holds(build):
    signals = build.signals(
        build.suite(4, 0),
        edits=build.edits(),
        symptoms=(build.symptom(),),
        ending="provider_error",
        error_class="context_size",
    )
    verdict = judge(signals, "1.1")
    assert (verdict.score, verdict.label, verdict.solved) == (1.0, "Complete Resolution", True)
    assert (verdict.category, verdict.rule, verdict.reason) == (None, None, None)
    assert verdict.also_matched == ()
    assert verdict.evidence == ("4 of 4 target tests pass",)


@pytest.mark.parametrize("limit", ["timed_out", "request_limit", "token_limit", "cost_limit"])
def test_a_passing_tree_that_a_limit_ended_has_the_limit_as_reason(build, limit):
    verdict = judge(build.signals(build.suite(4, 0), ending=limit), "1.1")
    assert (verdict.score, verdict.solved) == (0.5, False)
    assert (verdict.category, verdict.rule, verdict.reason) == (None, None, limit)


def test_a_failing_tree_that_a_limit_ended_goes_through_the_rules(build):
    verdict = judge(build.signals(build.suite(2, 2), ending="timed_out"), "1.1")
    assert (verdict.score, verdict.category, verdict.reason) == (0.5, "partial_fix_only", None)


def test_the_first_rule_wins_and_later_ones_are_listed(build):
    signals = build.signals(
        edits=build.edits(),
        mode="navigation",
        ending="provider_error",
        error_class="context_size",
    )
    verdict = judge(signals, "1.1")
    assert (verdict.rule, verdict.category) == (1, "context_window_exceeded")
    assert (verdict.level, verdict.reason) == ("3 process", "context_size")
    assert [match.rule for match in verdict.also_matched] == [2]
    assert verdict.also_matched[0].category == "insufficient_context_read"


def test_only_rule_1_has_the_error_that_ended_the_agent_as_its_reason(build):
    signals = build.signals(build.suite(2, 2), ending="provider_error", error_class="context_size")
    verdict = judge(signals, "1.1")
    assert (verdict.rule, verdict.category) == (5, "partial_fix_only")
    assert verdict.reason is None


def test_hinted_zero_signal_is_a_rule_without_category(build):
    verdict = judge(build.signals(edits=build.edits("src/other.py")), "1.1")
    assert (verdict.score, verdict.label) == (0.0, "Zero Signal")
    assert (verdict.rule, verdict.category, verdict.reason) == (2, None, None)
    assert verdict.level == "1 structural"


def test_a_failed_run_without_rule_is_unclassified_with_a_reason(build):
    verdict = judge(build.signals(build.suite(1, 3)), "1.1")
    assert (verdict.category, verdict.rule, verdict.level) == ("unclassified", None, None)
    assert verdict.reason == "no_symptom"
    assert verdict.evidence == ("1 of 4 target tests pass",)


def test_infrastructure_beats_a_passing_tree_and_keeps_its_score(build):
    signals = build.signals(build.suite(4, 0), ending="provider_error", error_class="overload")
    verdict = judge(signals, "1.1")
    assert verdict.outcome == "infrastructure_error"
    assert (verdict.score, verdict.label, verdict.solved) == (None, None, False)
    assert (verdict.category, verdict.rule, verdict.reason) == (None, None, "overload")
    assert verdict.observed_score == 1.0


def test_a_graded_run_has_no_observed_score(build):
    assert judge(build.signals(), "1.1").observed_score is None


@pytest.mark.parametrize("control", ["failed", None])
def test_a_tree_that_was_not_verified_has_no_observed_score(build, control):
    signals = build.signals(build.suite(2, 2, state="crashed", control=control))
    verdict = judge(signals, "1.1")
    assert verdict.outcome == "infrastructure_error"
    assert verdict.observed_score is None


def test_impossible_verification_has_no_observed_score(build):
    impossible = VerificationSignals(possible=False, impossible_because="install failed")
    verdict = judge(build.signals().model_copy(update={"verification": impossible}), "1.1")
    assert (verdict.reason, verdict.observed_score) == ("verification_impossible", None)


def test_infrastructure_evidence_tells_every_cause(build):
    signals = build.signals(ending="aborted", model_responses=0)
    signals = signals.model_copy(update={"infrastructure": ("disk: full",)})
    verdict = judge(signals, "1.1")
    assert verdict.reason == "environment"
    assert verdict.evidence == (
        "disk: full",
        "ending: aborted",
        "model responses: 0",
        "edited files: 1",
    )


def test_a_task_without_targets_cannot_be_scored(build):
    with pytest.raises(InvalidInputError) as failure:
        judge(build.signals(build.suite(0, 0)), "1.1")
    assert "gate" in failure.value.remedy


def test_infrastructure_without_targets_is_still_infrastructure(build):
    verdict = judge(build.signals(build.suite(0, 0), ending="not_started"), "1.1")
    assert (verdict.outcome, verdict.observed_score) == ("infrastructure_error", None)


class TestFlags:
    def flags(self, signals, ruleset="1.1"):
        return judge(signals, ruleset).flags

    def test_a_plain_run_has_none(self, build):
        assert self.flags(build.signals(), "1.0") == self.flags(build.signals(), "1.1") == ()

    def test_no_report(self, build):
        signals = build.signals(edits=build.edits("src/core.py", reported=None))
        assert self.flags(signals, "1.0") == ("edited_from_diff_without_report",)
        assert self.flags(signals, "1.1") == ()

    def test_no_diff(self, build):
        signals = build.signals(edits=build.edits(source="reported", reported=("src/core.py",)))
        assert self.flags(signals, "1.0") == ()
        assert self.flags(signals, "1.1") == ("edits_as_reported",)

    @pytest.mark.parametrize("side", ["observed_only", "reported_only"])
    def test_report_and_diff_disagree(self, build, side):
        signals = build.signals(edits=build.edits("src/core.py", **{side: ("x",)}))
        assert self.flags(signals) == ("reported_edits_disagree",)

    def test_nothing_to_disagree_with(self, build):
        no_report = build.edits("src/core.py", reported=None, observed_only=("src/core.py",))
        assert self.flags(build.signals(edits=no_report)) == ()
        no_diff = build.edits(source="reported", reported=("x",), reported_only=("x",))
        assert self.flags(build.signals(edits=no_diff), "1.0") == ()

    def test_unknown_responses_only_where_they_matter(self, build):
        silent = {"model_responses": None}
        assert self.flags(build.signals(**silent)) == ()
        crashed = build.signals(ending="crashed", edits=build.edits(), **silent)
        assert self.flags(crashed) == ("model_responses_unknown",)
        spoke = build.signals(ending="crashed", final_text_tail="Done", **silent)
        assert self.flags(spoke) == ()


@pytest.mark.parametrize(
    ("ids", "told"), [((), "0 tests"), (("a",), "1 test"), (("a", "b"), "2 tests")]
)
def test_the_evidence_counts_the_tests_of_an_error(build, ids, told):
    verdict = judge(build.signals(symptoms=(build.symptom(test_ids=ids),)), "1.0")
    assert verdict.category == "hallucinated_api"
    assert any(f"in {told} of suite" in fact for fact in verdict.evidence)
