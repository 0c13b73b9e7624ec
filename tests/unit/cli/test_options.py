from typing import get_args

import pytest

from nanobench.cli.options import MODES, RULESETS, max_turns_option, parse_models, timeout_option
from nanobench.errors import UsageError
from nanobench.model.plan import DEFAULT_RULESET, Limits, Mode, Ruleset


def test_the_options_offer_what_the_plan_knows() -> None:
    assert get_args(Ruleset) == RULESETS
    assert RULESETS[-1] == DEFAULT_RULESET
    assert MODES["both"] == get_args(Mode)
    assert {mode for modes in MODES.values() for mode in modes} == set(get_args(Mode))


def test_the_help_tells_the_defaults_of_the_plan() -> None:
    def told(option: object) -> str:
        def command() -> None:
            """Nothing."""

        option(command)  # type: ignore[operator]
        return str(command.__click_params__[0].help)  # type: ignore[attr-defined]

    assert f"[default: {Limits().max_turns}]" in told(max_turns_option)
    assert f"[default: {Limits().agent_seconds:g}]" in told(timeout_option)


@pytest.mark.parametrize(
    ("values", "models"),
    [
        (["a/b"], ["a/b"]),
        (["a/b, c/d/e", "f/g:8b"], ["a/b", "c/d/e", "f/g:8b"]),
        (["a/b,"], ["a/b"]),
    ],
)
def test_models_are_listed_and_repeated(values: list[str], models: list[str]) -> None:
    assert [str(model) for model in parse_models(values)] == models
    assert parse_models(values)[-1].provider in ("a", "f")


@pytest.mark.parametrize("value", ["a", "/b", "a/", ","])
def test_what_is_no_model_is_refused(value: str) -> None:
    with pytest.raises(UsageError):
        parse_models([value])
