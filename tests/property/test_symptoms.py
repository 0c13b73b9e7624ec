"""What holds for the symptoms of any tests, in every language (SPEC F4)."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanobench.model.signals import TestOutcome as Outcome
from nanobench.scoring.diagnostics import diagnostics
from nanobench.scoring.symptoms import TOOLS, find_symptoms
from nanobench.verify.definitions import defines

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "symptoms"
LANGUAGES = ("python", "javascript", "typescript", "go", "rust", "java")
# Derandomised: the same examples everywhere, so that a failure is never a matter of luck.
checked = settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)

SAID = {
    language: sorted(
        json.loads((FIXTURES / language / "captured.json").read_text())["outputs"].values()
    )
    for language in LANGUAGES
}


def outcome(number, status, text):
    return Outcome(id=f"t{number}", status=status, details=text[-4000:])


def some_tests(language):
    one = st.tuples(
        st.sampled_from(["failed", "error", "missing"]), st.sampled_from(SAID[language])
    )
    return st.lists(one, max_size=6).map(
        lambda found: [outcome(n, status, text) for n, (status, text) in enumerate(found)]
    )


@pytest.mark.parametrize("language", LANGUAGES)
@checked
@given(data=st.data())
def test_the_order_of_tests_does_not_matter(language, data):
    tests = data.draw(some_tests(language))
    mixed = data.draw(st.permutations(tests))
    assert find_symptoms(language, "s", mixed) == find_symptoms(language, "s", tests)


@pytest.mark.parametrize("language", LANGUAGES)
@checked
@given(data=st.data())
def test_tests_that_passed_or_say_nothing_change_nothing(language, data):
    tests = data.draw(some_tests(language))
    quiet = [
        Outcome(id="a-passed", status="passed", details=data.draw(st.sampled_from(SAID[language]))),
        Outcome(id="a-skipped", status="skipped", message="undefined: x"),
        Outcome(id="z-missing", status="missing"),
    ]
    assert find_symptoms(language, "s", tests + quiet) == find_symptoms(language, "s", tests)


@pytest.mark.parametrize("language", LANGUAGES)
@checked
@given(data=st.data())
def test_the_dominant_symptom_follows_the_stated_rule(language, data):
    tests = data.draw(some_tests(language))
    symptoms = find_symptoms(language, "s", tests)
    keys = [(s.kind != "missing_symbol", -len(s.test_ids), s.test_ids) for s in symptoms]
    assert keys == sorted(keys)
    assert len({(s.kind, s.code, s.symbol) for s in symptoms}) == len(symptoms)
    ids = {test.id for test in tests}
    assert all(set(s.test_ids) <= ids and s.test_ids == tuple(sorted(s.test_ids)) for s in symptoms)


@pytest.mark.parametrize("language", LANGUAGES)
@checked
@given(data=st.data())
def test_more_tests_with_the_dominant_symptom_keep_it_dominant(language, data):
    tests = data.draw(some_tests(language))
    symptoms = find_symptoms(language, "s", tests)
    if not symptoms:
        return
    first = next(test for test in tests if test.id == symptoms[0].test_ids[0])
    more = [first.model_copy(update={"id": f"x{n}"}) for n in range(7)]
    again = find_symptoms(language, "s", tests + more)[0]
    assert (again.kind, again.code, again.symbol) == (
        symptoms[0].kind,
        symptoms[0].code,
        symptoms[0].symbol,
    )


@checked
@given(
    language=st.sampled_from([*TOOLS, "cobol", "TypeScript", "RUST"]),
    text=st.text()
    | st.lists(st.sampled_from([t for said in SAID.values() for t in said])).map("".join),
    status=st.sampled_from(["failed", "error", "missing"]),
    error_type=st.none() | st.sampled_from(["TypeError", "java.lang.NoSuchMethodError", "failure"]),
)
def test_any_text_is_read_and_always_the_same_way(language, text, status, error_type):
    test = Outcome(id="t", status=status, error_type=error_type, message=text, details=text)
    found = find_symptoms(language, "s", [test])
    shouted = find_symptoms(language.upper(), "s", [test])
    assert [(s.kind, s.code, s.symbol) for s in shouted] == [
        (s.kind, s.code, s.symbol) for s in found
    ]
    assert diagnostics(language, text) == diagnostics(language, text)
    assert all(len(symptom.message) <= 500 for symptom in found)


@checked
@given(
    extension=st.sampled_from(["py", "ts", "go", "rs", "java", "txt"]),
    line=st.text(max_size=300),
    name=st.text(min_size=1, max_size=20),
)
def test_any_line_is_asked_for_any_name(extension, line, name):
    """Total; and a line without the name never defines it."""
    found = defines(f"a.{extension}", [line], name)
    assert found is False or name in line
