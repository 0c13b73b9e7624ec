"""What holds for every run that signals can describe (SPEC 6, 7, F5)."""

import itertools
from dataclasses import replace
from typing import get_args
from unittest import mock

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nanobench.model.signals import (
    AgentSignals,
    EditSignals,
    Ending,
    ErrorClass,
    FileEdit,
    Signals,
    SuiteSignals,
    SuiteState,
    Symptom,
    TestStatus,
    ToolSignals,
    TrajectorySignals,
    Usage,
    VerificationSignals,
)
from nanobench.model.signals import TestOutcome as Outcome
from nanobench.scoring import reasons
from nanobench.scoring.case import LIMIT_ENDINGS, Case
from nanobench.scoring.explanation import explain
from nanobench.scoring.judge import judge
from nanobench.scoring.rules import RULES, matching_rules
from nanobench.scoring.rulesets import RULESETS
from nanobench.scoring.symptoms import ROWS, find_symptoms

REQUIRED = ("src/a.py", "src/b.py")
PATHS = (*REQUIRED, "src/c.py", "README.md", "tests/test_a.py")

# Derandomised: the same examples everywhere, so that a failure is never a matter of luck.
checked = settings(
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

tristate = st.sampled_from([True, False, None])
some_paths = st.lists(st.sampled_from(PATHS), unique=True).map(tuple)
places = st.lists(st.sampled_from(PATHS), unique=True, max_size=2).map(tuple)


@st.composite
def edit_signals(draw):
    observed = draw(some_paths)
    reported = draw(st.none() | some_paths)
    return EditSignals(
        source=draw(st.sampled_from(["diff"] * 9 + ["reported"])),
        observed=tuple(FileEdit(path=path, change="modified") for path in observed),
        reported=reported,
        observed_only=tuple(path for path in observed if path not in (reported or ())),
        reported_only=tuple(path for path in reported or () if path not in observed),
        required_observed=tuple(path for path in observed if path in REQUIRED),
        required_reported=tuple(path for path in reported or () if path in REQUIRED),
    )


def agents(endings, errors):
    return st.builds(
        AgentSignals,
        ending=st.sampled_from(endings),
        exit_code=st.sampled_from([0, 1, None]),
        report=st.just("complete"),
        report_bytes=st.just(10),
        error_class=st.sampled_from(errors),
        model_responses=st.sampled_from([None, 0, 1, 2]),
    )


any_agent = (
    agents(["completed", "turn_limit"], [None])
    | agents(["provider_error"], ["context_size", "rate_limit"])
    | agents(sorted(LIMIT_ENDINGS), [None, "overload"])
    | agents(get_args(Ending), [None, *get_args(ErrorClass)])
)

statuses = st.sampled_from(["passed"] * 4 + list(get_args(TestStatus)))
messages = st.sampled_from([None, "assert 1 == 2", "AssertionError", "ValueError: no"])


LANGUAGES = ("Python", "JavaScript", "TypeScript", "Go", "Rust", "Java")
languages = st.sampled_from(LANGUAGES)


@st.composite
def suite_signals(draw, name, language=languages, status=statuses):
    targets = draw(st.lists(st.tuples(status, messages), max_size=4))
    state = draw(st.sampled_from(["ok"] * 6 + list(get_args(SuiteState))))
    return SuiteSignals(
        name=name,
        language=draw(language),
        state=state,
        exit_code=draw(st.sampled_from([0, 0, 1, None])),
        duration_seconds=1.0,
        targets=tuple(
            Outcome(id=f"{name}{n}", status=status, message=message)
            for n, (status, message) in enumerate(targets)
        ),
        regressions=draw(st.just(()) | st.just((Outcome(id=f"{name}-old", status="failed"),))),
        control=None if state == "ok" else draw(st.sampled_from(["passed"] * 9 + ["failed"])),
    )


def symptoms_like(row):
    """Symptoms of a row of the tables, with all that can be known of their symbols."""
    return st.builds(
        Symptom,
        kind=st.just(row.kind),
        language=st.just(row.tool),
        code=st.just(row.code),
        **SYMBOLS,
    )


SYMBOLS = {
    "symbol": st.none() | st.sampled_from(["alpha", "beta"]),
    "suite": st.just("s0"),
    "test_ids": st.lists(st.sampled_from(["s00", "s01", "s02"]), min_size=1, unique=True).map(
        tuple
    ),
    "message": st.just("m"),
    "in_required_files_at_base": tristate,
    "in_repository_at_base": tristate,
    "in_golden_patch": tristate,
    "in_agent_lines": tristate,
    "golden_defines_in": places,
    "agent_defines_in": places,
}
symptoms = st.sampled_from(ROWS).flatmap(symptoms_like)


@st.composite
def signals(draw):
    any_suites = st.tuples(suite_signals("s0"), suite_signals("s1")) | st.tuples(
        suite_signals("s0")
    )
    split = st.tuples(
        suite_signals("s0", st.just("python"), st.just("passed")),
        suite_signals("s1", st.just("go"), st.just("failed")),
    )
    suites = draw(any_suites | split)
    assume(any(suite.targets for suite in suites))
    return Signals(
        mode=draw(st.sampled_from(["hinted", "navigation"])),
        required_files=REQUIRED,
        agent=draw(any_agent),
        edits=draw(edit_signals()),
        verification=VerificationSignals(
            possible=draw(st.sampled_from([True] * 9 + [False])),
            suites=suites,
            symptoms=tuple(draw(st.lists(symptoms, max_size=3))),
        ),
        infrastructure=draw(st.sampled_from([()] * 9 + [("disk: full",)])),
    )


rulesets = st.sampled_from(sorted(RULESETS))
KNOWN_REASONS = {
    *reasons.UNCLASSIFIED_REASONS,
    *reasons.LIMITS,
    *reasons.HALTED,
    *reasons.INFRASTRUCTURE,
}


def cases(run):
    return [Case(run, definition) for definition in RULESETS.values()]


def gist(verdict):
    """The verdict without the ruleset's name."""
    return verdict.model_dump(exclude={"ruleset"})


@checked
@given(signals(), rulesets)
def test_every_run_has_one_well_formed_verdict(run, ruleset):
    verdict = judge(run, ruleset)
    assert verdict == judge(Signals.from_json(run.to_json()), ruleset)
    assert verdict.reason is None or verdict.reason in KNOWN_REASONS
    assert verdict.solved is (verdict.score == 1.0)
    if verdict.outcome == "infrastructure_error":
        assert verdict.score is None
        assert verdict.label is None
        assert verdict.reason in reasons.INFRASTRUCTURE
        assert (verdict.category, verdict.rule, verdict.also_matched) == (None, None, ())
    else:
        assert verdict.score in (1.0, 0.5, 0.1, 0.0)
        assert verdict.observed_score is None


@checked
@given(signals(), rulesets)
def test_only_solved_zero_signal_and_limits_have_no_category(run, ruleset):
    verdict = judge(run, ruleset)
    assume(verdict.outcome == "graded")
    zero_signal = verdict.rule == 2 and run.mode == "hinted"
    limited = verdict.reason in LIMIT_ENDINGS
    assert (verdict.category is None) is (verdict.solved or zero_signal or limited)
    assert (verdict.category == "unclassified") is (verdict.reason in reasons.UNCLASSIFIED_REASONS)


@checked
@given(signals(), rulesets)
def test_score_and_category_agree(run, ruleset):
    verdict = judge(run, ruleset)
    assume(verdict.outcome == "graded")
    if verdict.category == "partial_fix_only":
        assert verdict.score == 0.5
    if verdict.rule == 2:
        assert verdict.score == 0.0
    if verdict.score == 0.1:
        assert run.mode == "navigation"
        assert verdict.rule in (None, 3, 4, 6)


@checked
@given(signals())
def test_pairs_that_cannot_occur_together_never_do(run):
    for case in cases(run):
        matched = {match.rule for match in matching_rules(case)}
        assert not {3, 4} <= matched
        assert 1 not in matched or not matched & {3, 4, 5}
        assert 2 not in matched or not matched & {3, 4, 5}


@checked
@given(signals(), rulesets)
def test_rules_are_listed_once_in_their_order(run, ruleset):
    verdict = judge(run, ruleset)
    listed = [match.rule for match in verdict.also_matched]
    numbers = ([] if verdict.rule is None else [verdict.rule]) + listed
    assert numbers == sorted(set(numbers))


def with_suites(run, suites):
    verification = run.verification.model_copy(update={"suites": tuple(suites)})
    return run.model_copy(update={"verification": verification})


@checked
@given(signals(), rulesets, st.data())
def test_one_more_passing_test_never_lowers_the_score(run, ruleset, data):
    before = judge(run, ruleset)
    suites = list(run.verification.suites)
    failing = [
        (at, n)
        for at, suite in enumerate(suites)
        for n, test in enumerate(suite.targets)
        if test.status != "passed"
    ]
    assume(failing and before.outcome == "graded")
    at, n = data.draw(st.sampled_from(failing))
    targets = list(suites[at].targets)
    targets[n] = targets[n].model_copy(update={"status": "passed"})
    suites[at] = suites[at].model_copy(update={"targets": tuple(targets)})
    after = judge(with_suites(run, suites), ruleset)
    assert before.score is not None
    assert after.score is not None
    assert after.score >= before.score


def shuffled(data, items):
    return tuple(data.draw(st.permutations(items)))


@checked
@given(signals(), rulesets, st.data())
def test_the_order_of_the_input_never_matters(run, ruleset, data):
    edits = run.edits
    suites = [
        suite.model_copy(
            update={
                "targets": shuffled(data, suite.targets),
                "regressions": shuffled(data, suite.regressions),
            }
        )
        for suite in shuffled(data, run.verification.suites)
    ]
    same = run.model_copy(
        update={
            "required_files": shuffled(data, run.required_files),
            "edits": edits.model_copy(
                update={
                    "observed": shuffled(data, edits.observed),
                    "reported": edits.reported and shuffled(data, edits.reported),
                    "required_observed": shuffled(data, edits.required_observed),
                    "required_reported": shuffled(data, edits.required_reported),
                }
            ),
            "verification": run.verification.model_copy(
                update={
                    "suites": tuple(suites),
                    "symptoms": tuple(
                        symptom.model_copy(
                            update={
                                "golden_defines_in": shuffled(data, symptom.golden_defines_in),
                                "agent_defines_in": shuffled(data, symptom.agent_defines_in),
                            }
                        )
                        for symptom in shuffled(data, run.verification.symptoms)
                    ),
                }
            ),
        }
    )
    assert judge(same, ruleset) == judge(run, ruleset)


# What no rule reads, by document, with another value than the strategies above give.
NOISE = {
    Signals: {"trajectory": TrajectorySignals(known=True, calls=9, loops=2, claims_success=True)},
    AgentSignals: {
        "exit_code": 77,
        "report": "truncated",
        "report_bytes": 99,
        "trailing_bytes": 5,
        "error_source": "stderr",
        "error_message": "TypeError: f() takes no arguments",
        "requests": 7,
        "retries": 2,
        "finish_reason": "length",
    },
    Usage: {"input_tokens": 10, "cost": 1.5, "source": "gateway"},
    ToolSignals: {
        "failed": {"x": 1},
        "unparsed_arguments": 3,
        "files_read": ("src/a.py",),
        "required_files_read": ("src/a.py",),
    },
    EditSignals: {
        "protected": ("tests/test_a.py",),
        "suspect": ("src/a.py: pytest",),
        "pollution": (".nanocoder/tasks.json",),
        "skipped": ("fifo",),
        "agent_committed": True,
    },
    FileEdit: {"change": "added", "binary": True, "size": 9, "stored": False},
    VerificationSignals: {},
    SuiteSignals: {
        "duration_seconds": 9.0,
        "removed_options": ("-x",),
        "counts": {"passed": 7, "failed": 7},
        "suite_errors": ("tests/a.py: NameError: name 'x' is not defined",),
        "output_id": "o1",
    },
    Outcome: {"duration_seconds": 9.0},
    Symptom: {},
}
READ = {
    Signals: "mode required_files agent tools edits verification infrastructure",
    AgentSignals: "ending error_class model_responses final_text_tail usage",
    Usage: "output_tokens",  # this, the text and the calls show that a model answered
    ToolSignals: "calls",
    EditSignals: "source observed reported observed_only reported_only required_observed"
    " required_reported",
    FileEdit: "path",
    VerificationSignals: "possible impossible_because suites symptoms",
    SuiteSignals: "name language state exit_code targets regressions control",
    Outcome: "id status error_type message details",
    Symptom: "kind language code symbol suite test_ids message in_required_files_at_base"
    " in_repository_at_base in_golden_patch in_agent_lines golden_defines_in agent_defines_in",
}


def noisy(value):
    """The same document, and all in it, with noise in every field that no rule reads."""
    if isinstance(value, tuple):
        return tuple(noisy(item) for item in value)
    if type(value) not in NOISE:
        return value
    read = {name: noisy(getattr(value, name)) for name in READ[type(value)].split()}
    return value.model_copy(update=read | NOISE[type(value)])


@pytest.mark.parametrize("document", NOISE, ids=lambda document: document.__name__)
def test_every_signal_is_read_by_a_rule_or_shown_to_change_nothing(document):
    assert {*READ[document].split(), *NOISE[document]} == set(document.model_fields)
    assert not set(READ[document].split()) & set(NOISE[document])


@checked
@given(signals(), rulesets)
def test_irrelevant_signals_change_nothing(run, ruleset):
    assert noisy(run) != run
    assert judge(noisy(run), ruleset) == judge(run, ruleset)


@checked
@given(signals(), rulesets, st.data())
def test_one_regression_less_never_lowers_the_score(run, ruleset, data):
    before = judge(run, ruleset)
    suites = list(run.verification.suites)
    broken = [at for at, suite in enumerate(suites) if suite.regressions]
    assume(broken and before.outcome == "graded")
    at = data.draw(st.sampled_from(broken))
    suites[at] = suites[at].model_copy(update={"regressions": suites[at].regressions[1:]})
    after = judge(with_suites(run, suites), ruleset)
    assert before.score is not None
    assert after.score is not None
    assert after.score >= before.score


@checked
@given(signals())
def test_rulesets_agree_where_none_of_their_points_is_touched(run):
    """No symptom, no rate limit, and a report that says what the diff says (SPEC F3)."""
    assume(run.agent.error_class != "rate_limit")
    observed = tuple(edit.path for edit in run.edits.observed)
    plain = run.model_copy(
        update={
            "edits": run.edits.model_copy(
                update={
                    "source": "diff",
                    "reported": observed,
                    "required_reported": run.edits.required_observed,
                    "observed_only": (),
                    "reported_only": (),
                }
            ),
            "verification": run.verification.model_copy(update={"symptoms": ()}),
        }
    )
    assert gist(judge(plain, "1.0")) == gist(judge(plain, "1.1"))


def judge_by(run, definition):
    with mock.patch("nanobench.scoring.judge.RULESETS", {definition.name: definition}):
        return judge(run, definition.name)


def lacks_symbols(case):
    return any(symptom.kind == "missing_symbol" for symptom in case.symptoms)


def lists(case):
    return case.edited, case.required_edited


# What has to be there for a point to make a difference, seen with the point and without it.
TOUCHED = {
    "edits": lambda one, other: (
        lists(one) != lists(other)
        or one.reads_report is not other.reads_report
        or one.signals.edits.reported is None  # of which a flag tells,
        or one.signals.edits.source == "reported"  # as it does of this
    ),
    "full_failure": lambda one, other: bool(one.symptoms) and one.passed > 0,
    "split_first": lambda one, other: RULES[-1].holds(one) and bool(one.symptoms),
    "invented_only": lambda one, other: lacks_symbols(one),
    "misplaced_is_mismatch": lambda one, other: lacks_symbols(one),
    "rate_limit_needs_response": lambda one, other: (
        one.signals.agent.error_class == "rate_limit" and not one.edited
    ),
}


@checked
@given(signals(), rulesets, st.sampled_from(sorted(TOUCHED)))
def test_each_point_of_a_ruleset_changes_nothing_but_what_it_is_about(run, base, point):
    """Every step from one ruleset to the other, one point at a time (SPEC F3)."""
    one = RULESETS[base]
    values = {getattr(definition, point) for definition in RULESETS.values()}
    other = replace(one, **{point: (values - {getattr(one, point)}).pop()})
    if judge_by(run, one) != judge_by(run, other):
        assert TOUCHED[point](Case(run, one), Case(run, other))


def test_no_point_of_a_ruleset_is_left_out():
    assert set(TOUCHED) == set(RULESETS["1.0"].__dataclass_fields__) - {"name"}


@checked
@given(signals(), rulesets)
def test_an_explanation_says_what_the_judge_decided(run, ruleset):
    told = explain(run, ruleset)
    verdict = told.verdict
    assert verdict == judge(run, ruleset)
    case = Case(run, RULESETS[ruleset])
    held = [rule for rule in told.rules if rule.holds]
    assert [rule.rule for rule in held] == [match.rule for match in matching_rules(case)]
    for rule in told.rules:
        assert rule.holds is all(answer.holds for answer in rule.answers)
    assert [rule.rule for rule in held if rule.decides] == [verdict.rule] * bool(verdict.rule)
    assert not any(rule.decides for rule in told.rules if not rule.holds)
    assert all(answer.holds for answer in told.solved[:-1]) is case.tree_passes
    infrastructure = verdict.outcome == "infrastructure_error"
    assert {answer.holds for answer in told.infrastructure} == {infrastructure}
    assert told.rules_asked is (not infrastructure and not case.tree_passes)
    if not infrastructure:
        assert all(answer.holds for answer in told.solved) is verdict.solved
    assert (told.meaning is None) is (verdict.reason is None)


@checked
@given(signals())
def test_symptoms_never_change_a_score(run):
    bare = run.verification.model_copy(update={"symptoms": ()})
    for ruleset in RULESETS:
        with_them = judge(run, ruleset)
        without = judge(run.model_copy(update={"verification": bare}), ruleset)
        assert with_them.score == without.score
        assert with_them.outcome == without.outcome


@checked
@given(signals(), rulesets, st.data())
def test_the_order_of_equal_symptoms_changes_no_label(run, ruleset, data):
    """Many errors of one build are symptoms of the same tests; any of them may stand first."""
    listed = run.verification.symptoms
    assume(listed)
    alike = [one.model_copy(update={"test_ids": listed[0].test_ids}) for one in listed]
    found = []
    for codes in (range(len(alike)), data.draw(st.permutations(range(len(alike))))):
        renamed = [
            one.model_copy(update={"message": f"m{n}"}) for one, n in zip(alike, codes, strict=True)
        ]
        verification = run.verification.model_copy(update={"symptoms": tuple(renamed)})
        verdict = judge(run.model_copy(update={"verification": verification}), ruleset)
        found.append((verdict.score, verdict.category, verdict.rule, verdict.reason))
    assert found[0] == found[1]


@checked
@given(signals())
def test_1_1_has_no_gap_between_full_failure_and_the_half(run):
    case = Case(run, RULESETS["1.1"])
    assert case.full_failure is not case.half_passes


@checked
@given(
    languages,
    st.text(max_size=80),
    st.text(max_size=80),
    st.sampled_from(["failed", "error", "missing"]),
)
def test_no_text_of_a_test_breaks_the_reader_of_symptoms(language, message, details, status):
    test = Outcome(id="t", status=status, message=message, details=details)
    assert isinstance(find_symptoms(language, "s", [test]), tuple)


@pytest.mark.parametrize("order", sorted(itertools.permutations("abc")), ids="".join)
def test_symptoms_do_not_depend_on_the_order_of_tests(order):
    texts = {
        "a": "NameError: name 'x' is not defined",
        "b": "NameError: name 'x' is not defined",
        "c": "TypeError: f() takes 1 positional argument but 2 were given",
    }
    tests = {name: Outcome(id=name, status="failed", message=text) for name, text in texts.items()}
    found = find_symptoms("python", "s", [tests[name] for name in order])
    assert found == find_symptoms("python", "s", list(tests.values()))
