"""docs/dataset.md is what the task files, the registry and the stored measurements give."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nanobench.dataset.catalog import load_task
from nanobench.model.registry import Registry, ScoredRepository
from nanobench.model.task import Task

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "dataset.md").read_text()
TASKS = [load_task(path).task for path in sorted((ROOT / "tasks").glob("*/*.json"))]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    script = ROOT / "scripts" / "dataset_page.py"
    spec = importlib.util.spec_from_file_location("dataset_page", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # pydantic looks its names up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def registry() -> dict[str, ScoredRepository]:
    text = (ROOT / "tasks" / "registry.json").read_bytes()
    return {one.repo: one for one in Registry.from_json(text).repositories}


def stored(page: ModuleType) -> Any:
    return page.Evidence.from_json((ROOT / "docs" / "dataset-evidence.json").read_bytes())


def test_the_page_is_what_its_sources_give(
    page: ModuleType, registry: dict[str, ScoredRepository]
) -> None:
    remedy = "run scripts/generate-dataset-page, and commit docs/dataset.md"
    assert page.render(TASKS, registry, stored(page)) == PAGE, remedy


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        ("", "not JSON"),
        ('{"tasks": [{"task": "acme-1", "gates": []}]}', "no run of it was named"),
    ],
)
def test_a_measurement_that_is_none_is_told_and_writes_nothing(
    tmp_path: Path, content: str | None, told: str
) -> None:
    result = tmp_path / "gate.json"
    if content is not None:
        result.write_text(content)
    script = [sys.executable, str(ROOT / "scripts" / "generate-dataset-page")]
    done = subprocess.run([*script, "--gate", str(result)], capture_output=True, text=True)
    assert done.returncode == 3
    assert told in done.stderr
    assert str(result) in done.stderr
    assert "Traceback" not in done.stderr
    assert (ROOT / "docs" / "dataset.md").read_text() == PAGE


@pytest.mark.parametrize("content", ["", "[]", '{"rules": [], "listed": "x", "candidates": [1]}'])
def test_a_list_of_candidates_that_is_none_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "candidates.json"
    path.write_text(content)
    script = [sys.executable, str(ROOT / "scripts" / "generate-dataset-page")]
    done = subprocess.run([*script, "--candidates", str(path)], capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
    assert f"this is no list of candidates\n  where: {path}" in done.stderr


def test_every_task_has_a_section_with_its_facts() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.M)[1:]
    told = {section.partition("\n")[0]: section for section in sections}
    for task in TASKS:
        section = told[task.task_id]
        assert task.base_commit in section
        assert task.complexity_tier in section
        assert all(suite.command in section for suite in task.all_suites())


def test_what_was_measured_of_another_file_is_not_shown(
    page: ModuleType, registry: dict[str, ScoredRepository]
) -> None:
    evidence = stored(page)
    measured = next(task for task in TASKS if task.task_id in evidence.tasks)
    edited = measured.model_copy(update={"token_estimate": measured.token_estimate + 1})
    told = page.render([edited], registry, evidence)
    assert "changed after it was measured" in told
    assert "| not measured |" in told


def test_decisions_about_a_task_leave_its_measurements(
    page: ModuleType, registry: dict[str, ScoredRepository]
) -> None:
    evidence = stored(page)
    measured = next(task for task in TASKS if task.task_id in evidence.tasks)
    curation = measured.curation.model_copy(update={"state": "approved"})
    told = page.render([measured.model_copy(update={"curation": curation})], registry, evidence)
    section = told.partition(f"## {measured.task_id}")[2].partition("## Candidates")[0]
    assert "changed after it was measured" not in section
    assert "suggested" not in section


def test_a_candidate_that_became_a_task_is_left_out(
    page: ModuleType, registry: dict[str, ScoredRepository]
) -> None:
    evidence = stored(page)
    listed = page.render([], registry, evidence)
    first = evidence.candidates[0]
    assert first.pr_url in listed
    taken: Task = TASKS[0].model_copy(update={"merge_commit": first.commit})
    assert first.pr_url not in page.render([taken], registry, evidence)


def test_every_merged_candidate_is_of_the_registry(
    page: ModuleType, registry: dict[str, ScoredRepository]
) -> None:
    evidence = stored(page)
    assert {one.repo for one in evidence.candidates} <= registry.keys()
    points = [one.points for one in evidence.candidates]
    assert points == sorted(points, reverse=True)
