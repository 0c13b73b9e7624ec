from pathlib import Path
from typing import get_args

import click
import pytest
from click.testing import CliRunner

from nanobench.cli.options import (
    MODES,
    PURPOSES,
    RULESETS,
    max_cost_option,
    max_turns_option,
    timeout_option,
)
from nanobench.cli.requests import TapeRequest, parse_models
from nanobench.errors import InvalidInputError, UsageError
from nanobench.model.plan import DEFAULT_RULESET, Limits, Mode, Ruleset
from nanobench.stats.sampling import Purpose


def test_the_options_offer_what_the_plan_knows() -> None:
    assert get_args(Ruleset) == RULESETS
    assert RULESETS[-1] == DEFAULT_RULESET
    assert get_args(Purpose) == PURPOSES
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


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "x"])
def test_a_ceiling_of_cost_is_a_positive_number_of_dollars(value: str) -> None:
    command = click.Command("c", params=[], callback=lambda max_cost: None)
    limited = max_cost_option(command)
    result = CliRunner().invoke(limited, ["--max-cost", value])
    assert result.exit_code == 2
    assert "--max-cost" in result.output


def test_a_tape_request_names_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="either recorded or replayed"):
        TapeRequest(tmp_path, tmp_path, None).resolve(Limits())
    with pytest.raises(InvalidInputError, match="no recording here"):
        TapeRequest(None, tmp_path / "none", None).resolve(Limits())


def test_a_tape_request_opens_the_purse_and_makes_the_directory(tmp_path: Path) -> None:
    taping = TapeRequest(tmp_path / "tapes", None, None).resolve(Limits(max_cost=0.5))
    assert (tmp_path / "tapes").is_dir()
    assert (taping.record, taping.replay) == (tmp_path / "tapes", None)
    assert float(taping.purse.limit or 0) == 0.5
    assert not taping.purse.empty
