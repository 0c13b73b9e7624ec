"""The compilers and runtimes of this machine still say what the symptom tables read."""

import importlib.util
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "symptoms"


def _load(name):
    spec = importlib.util.spec_from_file_location(f"symptom_{name}", FIXTURES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


labels = _load("labels")
generate = _load("generate")


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("language", labels.LANGUAGES)
def test_programs_give_the_same_symptoms_again(language):
    """Other versions word their errors otherwise, or know finer codes; kind and symbol stay."""
    if not generate.is_available(language):
        pytest.skip(f"no tool for {language}")
    outputs = generate.capture(language)["outputs"]
    for program in generate.programs(language):
        case = labels.Case(language, program, outputs[program["name"]])
        symptoms = labels.label(case).symptoms
        found = (symptoms[0].kind, symptoms[0].symbol or "") if symptoms else ()
        assert found == (case.expected and (case.expected[0], case.expected[2])), case.output
