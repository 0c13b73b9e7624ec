"""docs/calibration.md speaks of every scripted model and label, and of no miss."""

import re
from pathlib import Path

from nanobench.agent.scripted.behaviours import BEHAVIOURS
from nanobench.agent.scripted.labels import LABELS
from nanobench.model.plan import AgentSettings

PAGE = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text()


def test_every_model_was_played_on_the_sample() -> None:
    sample = PAGE.partition("## Task <code>sample-tempo</code>")[2].partition("\n## ")[0]
    played = set(re.findall(r"^\| ([a-z-]+) \|", sample, re.MULTILINE)) - {"model", "---"}
    assert played == set(BEHAVIOURS)


def test_every_label_was_seen_under_every_ruleset_without_a_miss() -> None:
    told = re.findall(r"(\d+) of (\d+) labels right, 0 misses", PAGE)
    assert len(told) == 2
    assert all(right == whole for right, whole in told)
    assert PAGE.count(f"Labels seen: {len(LABELS)} of {len(LABELS)}; never: none") == 2
    assert "## Misses\n\nNone." in PAGE


def test_at_least_two_real_tasks_and_the_pinned_agent_were_used() -> None:
    tasks = re.findall(r"^## Task <code>(.+)</code>$", PAGE, re.MULTILINE)
    assert len(tasks) >= 3
    assert f"nanocoder {AgentSettings().nanocoder}," in PAGE
