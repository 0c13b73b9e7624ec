from typing import get_args

import pytest

from nanobench.model.signals import Ending, ErrorClass, VerificationSignals
from nanobench.scoring.case import Case
from nanobench.scoring.infrastructure import ENDINGS, ERRORS, asks_for_response, causes
from nanobench.scoring.rulesets import RULESETS

PROVIDER_TROUBLE = [
    "quota",
    "billing",
    "authentication",
    "permission",
    "unknown_model",
    "configuration",
    "unmetered",
    "replay",
    "overload",
    "server_error",
    "connection",
    "timeout",
    "stream_cut",
    "bad_response",
    "unknown",
]


def reasons(signals, ruleset="1.1"):
    return [cause.reason for cause in causes(Case(signals, RULESETS[ruleset]))]


def test_every_ending_and_every_error_has_a_policy():
    assert set(ENDINGS) == set(get_args(Ending))
    assert set(ERRORS) == set(get_args(ErrorClass))


@pytest.mark.parametrize(
    "ending",
    [
        "completed",
        "turn_limit",
        "empty_response",
        "timed_out",
        "request_limit",
        "token_limit",
        "cost_limit",
    ],
)
def test_what_agent_and_limits_end_is_graded(build, ending):
    assert reasons(build.signals(ending=ending)) == []


@pytest.mark.parametrize("ending", ["request_limit", "token_limit", "cost_limit"])
@pytest.mark.parametrize(("responses", "expected"), [(0, ["budget"]), (1, []), (9, [])])
def test_a_budget_that_others_spent_is_no_judgement(build, ending, responses, expected):
    signals = build.signals(ending=ending, error_class="budget", model_responses=responses)
    assert reasons(signals) == expected


@pytest.mark.parametrize(
    "ending",
    ["not_started", "provider_error", "configuration_error", "approval_required", "aborted"],
)
def test_what_others_end_is_not_graded(build, ending):
    assert reasons(build.signals(ending=ending, model_responses=0)) == [ending]


@pytest.mark.parametrize("ending", ["configuration_error", "approval_required", "aborted"])
@pytest.mark.parametrize("error", [None, "configuration"])
def test_an_agent_that_ends_its_own_run_is_graded(build, ending, error):
    def ended(responses):
        return build.signals(
            ending=ending, error_class=error, model_responses=responses, edits=build.edits()
        )

    assert reasons(ended(1)) == []
    assert len(reasons(ended(None))) == len(reasons(ended(0))) == 1


def test_what_only_an_agent_can_leave_proves_that_it_was_at_work(build):
    def ended(*edited):
        edits = build.edits(*edited, reported=None)
        return build.signals(ending="aborted", model_responses=None, edits=edits)

    assert reasons(ended("README.md")) == []
    assert reasons(ended()) == ["aborted"]


@pytest.mark.parametrize("error", PROVIDER_TROUBLE)
@pytest.mark.parametrize("ruleset", ["1.0", "1.1"])
def test_a_provider_failure_takes_the_run_out_of_the_score(build, error, ruleset):
    signals = build.signals(ending="provider_error", error_class=error)
    assert reasons(signals, ruleset) == [error]


@pytest.mark.parametrize("error", ["context_size", "content_filter", "length", "empty"])
@pytest.mark.parametrize("responses", [0, 1, None])
def test_the_models_own_ends_are_graded(build, error, responses):
    signals = build.signals(ending="provider_error", error_class=error, model_responses=responses)
    assert reasons(signals) == []


@pytest.mark.parametrize("error", ["server_error", "rate_limit", "authentication"])
def test_an_error_that_did_not_end_the_agent_changes_nothing(build, error):
    assert reasons(build.signals(ending="completed", error_class=error)) == []


def test_the_cause_of_a_configuration_error_is_named(build):
    signals = build.signals(
        ending="configuration_error", error_class="unknown_model", model_responses=0
    )
    assert reasons(signals) == ["unknown_model"]


@pytest.mark.parametrize("ending", ["completed", "empty_response", "turn_limit", "provider_error"])
@pytest.mark.parametrize("error", ["stream_cut", "bad_response"])
def test_a_reply_broken_by_the_provider_counts_however_the_agent_took_it(build, ending, error):
    assert reasons(build.signals(ending=ending, error_class=error)) == [error]


@pytest.mark.parametrize("responses", [0, 3])
@pytest.mark.parametrize("error", ["stream_cut", "bad_response"])
def test_a_reply_broken_by_our_own_limit_is_graded(build, responses, error):
    signals = build.signals(ending="timed_out", error_class=error, model_responses=responses)
    assert reasons(signals) == []


class TestRateLimit:
    def limited(self, build, responses, *edited, **other):
        return build.signals(
            edits=build.edits(*edited),
            ending="provider_error",
            error_class="rate_limit",
            model_responses=responses,
            **other,
        )

    def test_before_any_response_is_infrastructure_in_1_1(self, build):
        assert reasons(self.limited(build, 0)) == ["rate_limit"]

    def test_after_a_response_without_edits_is_graded(self, build):
        assert reasons(self.limited(build, 1)) == []

    def test_with_edits_is_infrastructure(self, build):
        signals = self.limited(build, 3, "README.md")
        assert reasons(signals, "1.0") == reasons(signals, "1.1") == ["rate_limit"]

    @pytest.mark.parametrize("responses", [0, 1, None])
    def test_1_0_grades_every_one_without_edits(self, build, responses):
        assert reasons(self.limited(build, responses), "1.0") == []

    def test_unknown_responses_are_not_held_against_the_agent(self, build):
        signals = self.limited(build, None)
        assert reasons(signals) == ["rate_limit"]
        assert asks_for_response(Case(signals, RULESETS["1.1"]))
        assert not asks_for_response(Case(signals, RULESETS["1.0"]))

    def test_a_trace_of_the_model_proves_a_response(self, build):
        signals = self.limited(build, None, final_text_tail="Let me look")
        assert reasons(signals) == []
        assert reasons(signals.model_copy(update={"agent": build.agent()})) == []

    def test_a_count_of_zero_beats_traces(self, build):
        assert reasons(self.limited(build, 0, final_text_tail="left over")) == ["rate_limit"]


@pytest.mark.parametrize(
    ("responses", "expected"), [(0, ["crashed"]), (None, ["crashed"]), (1, [])]
)
def test_a_crash_counts_only_once_the_agent_was_at_work(build, responses, expected):
    for error in (None, "unknown"):
        signals = build.signals(
            ending="crashed", error_class=error, model_responses=responses, edits=build.edits()
        )
        assert reasons(signals) == expected


def test_a_crash_before_anything_started_names_its_cause(build):
    signals = build.signals(ending="crashed", error_class="configuration", model_responses=3)
    assert reasons(signals) == ["configuration"]


def test_a_crash_on_a_provider_failure_is_the_providers(build):
    signals = build.signals(ending="crashed", error_class="server_error", model_responses=5)
    assert reasons(signals) == ["server_error"]


@pytest.mark.parametrize(("responses", "expected"), [(0, ["invalid_request"]), (1, [])])
def test_a_refused_request_counts_only_after_a_response(build, responses, expected):
    signals = build.signals(
        ending="provider_error", error_class="invalid_request", model_responses=responses
    )
    assert reasons(signals) == expected


@pytest.mark.parametrize("error", ["overload", "rate_limit", "invalid_request"])
@pytest.mark.parametrize(("responses", "infrastructure"), [(0, True), (1, False), (None, False)])
def test_a_limit_spent_on_a_provider_that_never_answered(build, error, responses, infrastructure):
    signals = build.signals(
        ending="timed_out",
        error_class=error,
        model_responses=responses,
        edits=build.edits(),
    )
    assert reasons(signals) == ([error] if infrastructure else [])


def test_reported_troubles_come_first_and_are_all_told(build):
    signals = build.signals(ending="aborted", model_responses=0).model_copy(
        update={"infrastructure": ("sandbox: failed", "disk: full")}
    )
    found = causes(Case(signals, RULESETS["1.1"]))
    assert [cause.reason for cause in found] == ["environment", "aborted"]
    assert found[0].evidence == ("disk: full", "sandbox: failed")
    assert found[1].evidence == ("ending: aborted", "model responses: 0", "edited files: 1")


def test_a_failed_control_decides(build):
    suite = build.suite(0, 2, state="crashed", control="failed")
    signals = build.signals(suite, ending="aborted", model_responses=0)
    signals = signals.model_copy(update={"infrastructure": ("x",)})
    assert reasons(signals) == ["control_failed", "environment", "aborted"]


def test_evidence_says_what_was_seen(build):
    signals = build.signals(ending="provider_error", error_class="quota", model_responses=None)
    (cause,) = causes(Case(signals, RULESETS["1.1"]))
    assert cause.evidence == (
        "ending: provider_error",
        "error: quota",
        "model responses: unknown",
        "edited files: 1",
    )


def test_without_diff_and_report_nothing_can_be_judged(build):
    neither = build.edits(source="reported", reported=None)
    assert reasons(build.signals(edits=neither)) == ["edits_unknown"]
    aborted = build.signals(edits=neither, ending="aborted", model_responses=0)
    assert reasons(aborted) == ["aborted", "edits_unknown"]
    only_report = build.edits(source="reported", reported=())
    assert reasons(build.signals(edits=only_report)) == []
    only_diff = build.edits("src/core.py", reported=None)
    assert reasons(build.signals(edits=only_diff)) == []


class TestVerification:
    def test_impossible(self, build):
        impossible = VerificationSignals(possible=False, impossible_because="install failed")
        signals = build.signals().model_copy(update={"verification": impossible})
        (cause,) = causes(Case(signals, RULESETS["1.1"]))
        assert (cause.reason, cause.evidence) == ("verification_impossible", ("install failed",))

    def test_impossible_without_a_reason(self, build):
        impossible = VerificationSignals(possible=False)
        signals = build.signals().model_copy(update={"verification": impossible})
        assert causes(Case(signals, RULESETS["1.1"]))[0].evidence == ()

    @pytest.mark.parametrize(
        "state", ["crashed", "timed_out", "no_result", "nothing_collected", "malformed_result"]
    )
    @pytest.mark.parametrize(
        ("control", "expected"),
        [("passed", []), ("failed", ["control_failed"]), (None, ["control_missing"])],
    )
    def test_the_control_tells_whose_fault_a_dead_suite_is(self, build, state, control, expected):
        suite = build.suite(0, 2, state=state, control=control)
        assert reasons(build.signals(suite)) == expected

    def test_contradicting_results_are_graded_without_a_control(self, build):
        assert reasons(build.signals(build.suite(0, 2, state="inconsistent"))) == []

    def test_a_failed_control_counts_in_every_state(self, build):
        suite = build.suite(0, 2, state="inconsistent", control="failed")
        assert reasons(build.signals(suite)) == ["control_failed"]

    def test_every_suite_concerned_is_named(self, build):
        suites = (
            build.suite(0, 1, name="z", state="crashed", control="failed"),
            build.suite(0, 1, name="a", state="crashed", control="failed"),
            build.suite(0, 1, name="m", state="no_result"),
        )
        found = causes(Case(build.signals(*suites), RULESETS["1.1"]))
        assert [cause.evidence for cause in found] == [("suite: a", "suite: z"), ("suite: m",)]


def test_a_model_too_slow_for_the_clock_is_graded(build):
    assert reasons(build.signals(ending="timed_out", model_responses=0)) == []


@pytest.mark.parametrize(
    "error", sorted(error for error, policy in ERRORS.items() if policy != "infrastructure")
)
def test_an_error_that_no_configuration_causes_is_not_its_name(build, error):
    signals = build.signals(
        ending="configuration_error", error_class=error, model_responses=0, edits=build.edits()
    )
    assert reasons(signals) == ["configuration_error"]


@pytest.mark.parametrize("ending", ["aborted", "approval_required"])
def test_an_error_that_the_agent_survived_does_not_name_another_ending(build, ending):
    signals = build.signals(ending=ending, error_class="server_error", model_responses=0)
    assert reasons(signals) == [ending]
