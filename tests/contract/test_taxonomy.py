"""docs/taxonomy.md says what the code does."""

import re
from pathlib import Path

import pytest

from nanobench.scoring import reasons
from nanobench.scoring.infrastructure import ENDINGS, ERRORS
from nanobench.scoring.rules import RULES
from nanobench.scoring.rulesets import RULESETS, RulesetDefinition
from nanobench.scoring.scores import LABELS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "taxonomy.md").read_text()


def table(heading):
    """The rows of the one table under a heading, cells without backquotes."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    assert section, f"no heading {heading!r}"
    rows = [
        tuple(cell.strip().strip("`") for cell in line.strip("|").split("|"))
        for line in section[1].splitlines()
        if line.startswith("|")
    ]
    return rows[2:]


def test_the_scores():
    assert [(row[0], row[1]) for row in table("Scores")] == [
        (str(score), label) for score, label in LABELS.items()
    ]


def test_the_rules():
    assert table("Rules") == [
        (str(rule.number), rule.category or "none (Zero Signal)", rule.level, rule.text)
        for rule in RULES
    ]


def test_the_points_of_the_rulesets():
    points = set(RulesetDefinition.__dataclass_fields__) - {"name"}
    first, second = RULESETS.values()
    assert all(getattr(first, point) != getattr(second, point) for point in points)
    assert len(table("Rulesets")) == len(points)


def test_the_reasons_of_unclassified_runs():
    assert table("Why a run is unclassified") == list(reasons.UNCLASSIFIED_REASONS.items())


def test_the_causes_of_infrastructure():
    assert table("Why a run is infrastructure") == list(reasons.INFRASTRUCTURE.items())


@pytest.mark.parametrize("policies", [ENDINGS, ERRORS], ids=["endings", "errors"])
def test_every_cause_of_infrastructure_is_explained(policies):
    causes = {word for word, policy in policies.items() if policy != "graded"}
    assert causes <= set(reasons.INFRASTRUCTURE)


def test_the_flags():
    source = Path(reasons.__file__).with_name("judge.py").read_text()
    flags = source.partition("def _flags")[2]
    assert [row[0] for row in table("Flags")] == re.findall(r'^        "(\w+)":', flags, re.M)
