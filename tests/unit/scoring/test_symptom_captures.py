"""What real compilers and runtimes said of real programs, and the symptom and label of each.

The programs, the captures and the script that makes them stand in tests/fixtures/symptoms.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

from nanobench.model.signals import TestOutcome as Outcome
from nanobench.scoring.raised import Raised
from nanobench.scoring.symptoms import ROWS, find_symptoms, matching_row
from nanobench.verify.failures import of_build
from nanobench.verify.formats import parse

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "symptoms"


def _load(name):
    spec = importlib.util.spec_from_file_location(f"symptom_{name}", FIXTURES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


labels = _load("labels")
generate = _load("generate")
CASES = [case for language in labels.LANGUAGES for case in labels.cases(language)]
FACTS = {(case.language, case.name): labels.label(case) for case in CASES}

# Errors of versions and tools other than those that were run: language, name, message.
OTHER_VERSIONS = [
    ("python", "AttributeError", "can't set attribute", "AttributeError", None),
    ("python", "AttributeError", "can't set attribute 'x'", "AttributeError", "x"),
    ("python", "AttributeError", "__enter__", "AttributeError", None),
    ("python", "AttributeError", "'C' object attribute 'x' is read-only", "AttributeError", "x"),
    (
        "python",
        "AttributeError",
        "cannot access submodule 'x' of module 'm' (most likely due to a circular import)",
        "AttributeError",
        "x",
    ),
    (
        "python",
        "PydanticUndefinedAnnotation",
        "name 'Nope' is not defined\n\nFor further information visit https://errors.pydantic.dev",
        "PydanticUndefinedAnnotation",
        "Nope",
    ),
    (
        "javascript",
        "Error",
        '[vitest] No "nope" export is defined on the "./m" mock. Did you forget to return it?',
        "no such export of a mock",
        "nope",
    ),
    (
        "javascript",
        "Error",
        'Failed to resolve import "./nope" from "a.test.ts". Does the file exist?',
        "unresolved import",
        "./nope",
    ),
    *(
        (
            "typescript",
            code,
            f"{what} '{{ nope: 1; }}' is not assignable to type 'T'.\nObject literal may only"
            " specify known properties, and 'nope' does not exist in type 'T'.",
            code,
            "nope",
        )
        for code, what in (("TS2322", "Type"), ("TS2345", "Argument of type"))
    ),
    (
        "typescript",
        "TS2580",
        "Cannot find name 'process'. Do you need to install type definitions for node? Try `npm i",
        "TS2580",
        "process",
    ),
    (
        "typescript",
        "TS2582",
        "Cannot find name 'describe'. Do you need to install type definitions for a test runner?",
        "TS2582",
        "describe",
    ),
    (
        "typescript",
        "TS2792",
        "Cannot find module 'nope'. Did you mean to set the 'moduleResolution' option",
        "TS2792",
        "nope",
    ),
    ("go", "error", "name nope not exported by package p", "UnexportedName", "nope"),
    ("go", "error", "cannot refer to unexported name p.nope", "UnexportedName", "nope"),
    (
        "go",
        "error",
        'cannot find package "github.com/a/nope" in any of:',
        "BrokenImport",
        "github.com/a/nope",
    ),
    (
        "go",
        "error",
        "cannot find module providing package github.com/a/nope: import lookup disabled",
        "BrokenImport",
        "github.com/a/nope",
    ),
    (
        "go",
        "error",
        "module github.com/a/b@latest found (v1.2.3), but does not contain package "
        "github.com/a/b/nope",
        "BrokenImport",
        "github.com/a/b/nope",
    ),
    (
        "go",
        "error",
        "could not import github.com/a/nope (no required module provides package)",
        "BrokenImport",
        "github.com/a/nope",
    ),
    ("rust", "E0412", "cannot find type `Nope` in this scope", "E0412", "Nope"),
    ("rust", "E0432", "unresolved import `crate::a::nope`", "E0432", "nope"),
    (
        "rust",
        "E0433",
        "failed to resolve: use of undeclared crate or module `nope`",
        "E0433",
        "nope",
    ),
    ("rust", "E0433", "failed to resolve: could not find `nope` in `std`", "E0433", "nope"),
    (
        "java",
        "NoSuchFieldError",
        "Class p.B does not have member field 'int gone'",
        "NoSuchFieldError",
        "gone",
    ),
    ("java", "NoSuchMethodError", "p.B.gone(I)V", "NoSuchMethodError", "gone"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.language}-{case.name}")
def test_the_dominant_symptom_of_a_real_program(case):
    symptoms = FACTS[case.language, case.name].symptoms
    dominant = symptoms[0] if symptoms else None
    found = (dominant.kind, dominant.code, dominant.symbol or "") if dominant else ()
    assert found == case.expected, case.output


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.language}-{case.name}")
def test_the_label_of_a_run_that_ends_so(case):
    """An invented symbol is a hallucination, a shape that does not fit the wrong layer."""
    verdict = FACTS[case.language, case.name].verdict
    labelled = {
        "missing_symbol": "hallucinated_api",
        "interface_mismatch": "wrong_abstraction_layer",
    }
    wanted = labelled[case.expected[0]] if case.expected else "unclassified"
    assert verdict.category == wanted


def test_every_program_was_captured_and_expects_what_its_language_has():
    for language in labels.LANGUAGES:
        captured = generate.json.loads((FIXTURES / language / "captured.json").read_text())
        assert captured["tool"]
        assert list(captured["outputs"]) == [p["name"] for p in generate.programs(language)]


@pytest.mark.parametrize(("language", "name", "message", "code", "symbol"), OTHER_VERSIONS)
def test_messages_of_other_versions_and_tools(language, name, message, code, symbol):
    row = matching_row(language, Raised(name, message))
    assert row is not None
    assert row.code == code
    match = row.pattern.match(message).groupdict()
    assert (match.get("symbol") or match.get("module")) == symbol


def test_every_row_is_met_by_a_program_or_a_message_of_another_version():
    met = [
        labels.row_of(case.language, symptom)
        for case in CASES
        for symptom in FACTS[case.language, case.name].symptoms
    ]
    met += [matching_row(item[0], Raised(item[1], item[2])) for item in OTHER_VERSIONS]
    unmet = [row for row in ROWS if not any(row is other for other in met)]
    assert [(row.tool, row.code, row.pattern.pattern) for row in unmet] == []


def test_the_page_says_what_the_code_does():
    """Write it again with `python tests/fixtures/symptoms/labels.py > docs/symptoms.md`."""
    assert (ROOT / "docs" / "symptoms.md").read_text() == labels.page()


def test_a_passing_or_skipped_test_has_no_symptom_whatever_it_printed():
    for case in CASES:
        for status in ("passed", "skipped"):
            test = Outcome(id="t", status=status, message="m", details=case.output)
            assert find_symptoms(case.language, "tests", [test]) == ()


DIALECTS = {
    # file: language, result format if it is a result file, and the symptoms of a lost target test
    "maven.txt": (
        "Java",
        None,
        [
            ("cant.resolve.args", "welcome"),
            ("prob.found.req", None),
            ("cant.apply.symbol", "greet"),
        ],
    ),
    "cargo.txt": ("Rust", None, [("E0425", "nope"), ("E0308", None)]),
    "tsc-pretty.txt": ("TypeScript", None, [("TS2305", "nope"), ("TS2345", None)]),
    "go-test.jsonl": ("Go", "go-json", [("UndeclaredName", "Nope"), ("WrongArgCount", "F")]),
    "ts-jest.json": ("TypeScript", "jest-json", [("TS2305", "nope"), ("TS2345", None)]),
    "vitest.json": (
        "TypeScript",
        "vitest-json",
        [
            ("ERR_MODULE_NOT_FOUND", "gone"),
            ("no such export of a mock", "nope"),
            ("TypeError", "frobnicate"),
        ],
    ),
    "vitest-typecheck.json": (
        "TypeScript",
        "vitest-json",
        [("TS2304", "frobnicate"), ("TS2345", None)],
    ),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_tools_that_wrap_a_compiler(name):
    language, result_format, expected = DIALECTS[name]
    path = FIXTURES / "dialects" / name
    if result_format is None:
        tests, errors = [], [of_build(language, path.read_text())]
    else:
        parsed = parse(result_format, path, "/ws")
        tests = [test for test in parsed.tests if test.status != "passed"]
        errors = parsed.suite_errors
    for error in errors:  # as an assessment does for tests that are missing
        lost = {"error_type": error.type, "message": error.message, "details": error.details}
        tests.append(Outcome(id=f"{error.file}::t", status="missing", **lost))
    found = {(symptom.code, symptom.symbol) for symptom in find_symptoms(language, "s", tests)}
    assert found == set(expected)
