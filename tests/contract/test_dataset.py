"""The dataset is as broad as its first version has to be, and every statement is pinned."""

from pathlib import Path

import pytest

from nanobench.dataset.catalog import Dataset, load_task
from nanobench.dataset.verifying import verify_versions
from nanobench.dataset.versions import present_version, published_versions
from nanobench.errors import InvalidInputError, RepositoryError
from nanobench.model.registry import ONBOARDED_FROM, Registry
from nanobench.model.task import StatementSource, Task

TASKS_DIR = Path(__file__).parents[2] / "tasks"
DATASET = Dataset.from_json((TASKS_DIR / "dataset.json").read_bytes())
REGISTRY = Registry.from_json((TASKS_DIR / "registry.json").read_bytes())
ONBOARDED = {one.repo for one in REGISTRY.repositories if one.total >= ONBOARDED_FROM}
TASKS = [
    entry.task
    for entry in map(load_task, sorted(TASKS_DIR.glob("*/*.json")))
    if entry.task.status.state == "active" and entry.task.repo in ONBOARDED
]


def target_languages(task: Task) -> set[str]:
    """The languages of the suites that have target tests."""
    assert task.expected is not None
    targets = task.expected.fail_to_pass
    return {suite.language for suite in task.all_suites() if targets.get(suite.name)}


def test_six_tasks_of_several_files_come_from_four_repositories() -> None:
    assert len([task for task in TASKS if len(task.required_files) > 1]) >= 6
    assert len({task.repo for task in TASKS}) >= 4


def test_four_languages_have_target_tests_and_two_tasks_have_two() -> None:
    found = {language for task in TASKS for language in target_languages(task)}
    assert len(found) >= 4
    assert "Go" in found
    assert found & {"Rust", "Java"}
    assert len([task for task in TASKS if len(target_languages(task)) > 1]) >= 2


def test_every_tier_of_several_files_and_both_strategies_are_there() -> None:
    assert {task.tier() for task in TASKS} >= {2, 3, 4}
    assert {task.environment.strategy for task in TASKS} == {"native", "container"}


def test_no_statement_can_be_edited_by_others() -> None:
    for task in TASKS:
        source = task.problem_statement
        if isinstance(source, StatementSource):
            assert source.from_ in ("commit_message", "file"), task.task_id
            assert source.commit is not None or source.from_ == "file", task.task_id


def test_every_task_is_younger_than_the_cutoff_and_approved_by_nobody_but_a_person() -> None:
    for task in TASKS:
        assert task.merged_at > DATASET.contamination_cutoff, task.task_id
        assert (task.curation.state == "approved") == (task.curation.approved_by is not None)


def test_what_any_tag_published_is_kept() -> None:
    try:
        published = published_versions(TASKS_DIR)
    except (InvalidInputError, RepositoryError) as error:  # an archive, or a shallow clone
        pytest.skip(str(error))
    assert verify_versions([*published, present_version(TASKS_DIR)]) == []
