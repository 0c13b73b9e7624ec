"""Task files of made-up pull requests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.files import StateDirectory

TIERS = [
    "Tier 1 (Isolated Edit)",
    "Tier 2 (Interface Mapping)",
    "Tier 3 (System Refactor)",
    "Tier 4 (Investigative Debugging)",
]


def task_document(task_id: str, *, tier: int = 2, **changes: Any) -> dict[str, Any]:
    document = {
        "task_id": task_id,
        "repo": "acme/widget",
        "repo_url": "https://example.org/acme/widget",
        "base_commit": "1" * 40,
        "languages": ["Python"],
        "domain": "web framework",
        "complexity_tier": TIERS[tier - 1],
        "task_type": "bug fix",
        "reasoning_category": "dataflow",
        "token_estimate": 1000,
        "problem_statement": "It should work.",
        "required_files": ["src/a.py"],
        "ground_truth_patch": "diff --git a/src/a.py b/src/a.py\n",
        "test_command": "pytest",
        "contributor": "someone",
        "merged_at": "2026-05-01T00:00:00Z",
        "expected": {"fail_to_pass": {"tests": ["a"]}, "pass_to_pass": {"tests": []}},
    }
    document.update(changes)
    return {name: value for name, value in document.items() if value is not ...}


@pytest.fixture
def document() -> Callable[..., dict[str, Any]]:
    """`document(task_id, tier=2, field=value, absent_field=...)`."""
    return task_document


@pytest.fixture
def tasks_dir(tmp_path: Path) -> Path:
    directory = tmp_path / "tasks"
    directory.mkdir()
    cutoff = {"name": "made-up", "version": "1.0", "contamination_cutoff": "2026-04-01T00:00:00Z"}
    (directory / "dataset.json").write_text(json.dumps(cutoff))
    return directory


@pytest.fixture
def add_task(tasks_dir: Path) -> Callable[..., Path]:
    """`add_task(task_id, folder="widget", tier=2, field=value)` writes a task file."""

    def add(task_id: str, folder: str = "widget", **changes: Any) -> Path:
        path = tasks_dir / folder / f"{task_id}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(task_document(task_id, **changes), indent=2))
        return path

    return add


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory.locate(tmp_path / "state")
