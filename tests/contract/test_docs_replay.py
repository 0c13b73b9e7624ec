"""docs/replay.md and docs/budgets.md say what the code does."""

import re
from pathlib import Path

import pytest

from nanobench.agent.gateway.canonical import KEPT_HEADERS, LEFT_OUT
from nanobench.agent.gateway.prices import FilePrices, Product, Tokens
from nanobench.agent.gateway.substitution import Locations, substitutions
from nanobench.cli.requests import PlanRequest, TapeRequest
from nanobench.scoring.case import LIMIT_ENDINGS

DOCS = Path(__file__).resolve().parents[2] / "docs"
REPLAY, BUDGETS = (DOCS / "replay.md").read_text(), (DOCS / "budgets.md").read_text()


def test_every_substitution_is_told_with_its_place() -> None:
    rows = re.findall(r"^\| (.+?) \| (prompt|result|everywhere) \|$", REPLAY, re.MULTILINE)
    rules = substitutions(Locations("/w", "/r", "/s"))
    assert set(rows) == {(rule.name, rule.where) for rule in rules}


def test_every_field_that_is_left_out_and_every_header_that_is_kept_is_told() -> None:
    (told,) = re.findall(r"since they do not shape a reply:\n(.+)\.\n", REPLAY)
    assert set(re.findall(r"`(\w+)`", told)) == LEFT_OUT
    assert all(f"`{header}`" in REPLAY for header in KEPT_HEADERS)


@pytest.mark.parametrize("page", [REPLAY, BUDGETS], ids=["replay", "budgets"])
def test_every_option_that_is_told_is_one(page: str) -> None:
    known = {*PlanRequest.__dataclass_fields__, *TapeRequest.__dataclass_fields__, "out"}
    told = {name.replace("-", "_") for name in re.findall(r"--([a-z]+(?:-[a-z]+)*)", page)}
    assert told <= known


def test_every_ending_by_a_ceiling_is_told() -> None:
    assert all(f"`{ending}`" in BUDGETS for ending in LIMIT_ENDINGS - {"timed_out"})


def test_the_price_file_that_is_shown_is_one(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```json\n(.+?)```", BUDGETS, re.DOTALL)
    path = tmp_path / "prices.json"
    path.write_text(shown)
    cost = FilePrices(path).cost(Product("lab", "big", ""), Tokens(1_000_000, 0, 0))
    assert float(cost or 0) == 1.25
