"""No name of a provider, model or run is left in what a reviewer reads."""

import pytest

from nanobench.audit.blinding import Blinder
from nanobench.model.plan import Cell, ModelRef


def blinder(*models: str) -> Blinder:
    return Blinder(
        Cell(model=ModelRef.parse(model), task_id="t", mode="hinted", run=1) for model in models
    )


@pytest.mark.parametrize(
    ("model", "text"),
    [
        ("openrouter/anthropic/claude-sonnet-4", "written by Claude via OpenRouter, Anthropic"),
        ("openrouter/anthropic/claude-sonnet-4", "class ClaudeSonnetHelper:"),
        ("ollama/qwen3-coder:30b", "# Qwen3-Coder:30B on OLLAMA, qwen"),
        ("openai/gpt-4o", "GPT-4o, gpt4 and gpt_4"),
        ("azure/gpt-4o", "made by ChatGPT of OpenAI"),
        ("bedrock/claude-sonnet-4", "Co-authored-by: Claude <noreply@anthropic.com>"),
        ("openai/o1-mini", "o1 and O1-mini"),
        ("x/o1", "as o1 says (x/o1)"),
    ],
)
def test_names_go_in_whatever_way_they_are_written(model, text):
    blinded = blinder(model)(text).lower()
    for name in ("claude", "sonnet", "anthropic", "openrouter", "qwen", "ollama", "gpt", "o1"):
        assert name not in blinded


def test_the_id_of_the_run_goes_as_one():
    cell = Cell(model=ModelRef.parse("acme/big"), task_id="t", mode="hinted", run=3)
    assert Blinder([cell])(f"/runs/{cell.cell_id}/ws") == "/runs/[run]/ws"


def test_a_short_name_does_not_eat_the_words_that_it_is_part_of():
    assert blinder("acme/r1x")("bar1xyz r1x") == "bar1xyz [model]"


def test_signs_of_regular_expressions_in_a_name_are_just_signs():
    assert blinder("acme/m(1)+")("m(1)+ m11") == "[model] m11"


@pytest.mark.parametrize(
    "text",
    ["claude-sonnet-4.5", "Claude Sonnet 4.5", "claude_sonnet_4_5", "CLAUDESONNET45", "Claude"],
)
def test_a_name_goes_with_its_version_whatever_stands_between(text):
    assert blinder("anthropic/claude-sonnet-4.5")(f"by {text}, today") == "by [model], today"


def test_words_that_tell_nobody_stay():
    text = "the latest api of a model, tested; x = v3"
    assert blinder("x/deepseek-v3-latest", "local/model-instruct")(text) == text


def test_all_items_are_treated_alike():
    text = "from google.genai import Client"
    blinded = {
        blinder(*models)(text) for models in (("google/a", "acme/b"), ("acme/b", "google/a"))
    }
    assert blinded == {"from [model].genai import Client"}
