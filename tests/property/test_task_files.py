"""What a task file or a repository's manifests say is used, or refused by the name of its field."""

import json
import os
from pathlib import Path

import pytest

from nanobench.dataset.extract.node import node_plan
from nanobench.dataset.extract.python import python_plan
from nanobench.dataset.extract.rust import rust_plan
from nanobench.dataset.extract.tree import Tree
from nanobench.dataset.reading import parse_document
from nanobench.errors import InvalidInputError
from nanobench.model.task import Task
from nanobench.model.task_migrations import upgrade_task

SAMPLE = Path(__file__).parents[2] / "nanobench/dataset/sample/task.json"
SUITE = {"name": "s", "language": "Go", "command": "c", "env": {"A": "b"}, "timeout_seconds": 1}
ENVIRONMENT = {"runtimes": {"go": "1"}, "install": ["i"], "env": {"A": "b"}}
PACKAGE = {
    "packageManager": "pnpm@9",
    "scripts": {"test": "node --test"},
    "devDependencies": {"vitest": "1"},
}
DEEP = "[" * 990 + "]" * 990
NUMBER = "9" * 5000
MANIFESTS = {
    node_plan: [DEEP, NUMBER, "{", f'{{"scripts": {{"test": {DEEP}}}}}'],
    python_plan: [
        *(f"x = {DEEP}", f"x = {NUMBER}", "x = 9999-99-99", "tool = 1", "project = [1]"),
        *(f'[project]\nrequires-python = ">={NUMBER}.1"', "[tool.uv]\nworkspace = 1"),
        *("dependency-groups = 1", "[project]\noptional-dependencies = 1", "[tool]\npoetry = 1"),
    ],
    rust_plan: [
        *(f"x = {DEEP}", f"x = {NUMBER}", "test = 1", "[[test]]\nname = 1\npath = [1]"),
        *("package = 1", '[[test]]\npath = "tests/a.rs"\nrequired-features = 1'),
    ],
}
NAMES = {node_plan: "package.json", python_plan: "pyproject.toml", rust_plan: "Cargo.toml"}
TESTS = ["a.test.ts", "tests/a.test.js", "tests/test_a.py", "tests/a.rs"]


class Files(Tree):
    def text(self, path):
        return self.blobs.get(path, "")


def test_any_task_file_is_refused_by_field_or_can_be_run(spoiled):
    sample = json.loads(SAMPLE.read_text()) | {"environment": ENVIRONMENT, "suites": [SUITE]}
    for document in spoiled(sample):
        try:
            task = parse_document(Task, json.dumps(document).encode(), "t.json", upgrade_task)
        except InvalidInputError as error:
            assert error.where  # noqa: PT017 - most are refused, some are not
            continue
        environment = task.environment
        variables = [environment.env, *(suite.env for suite in task.all_suites())]
        given = [*environment.install, *environment.runtimes.values(), task.repo_url]
        given += [suite.command for suite in task.all_suites()]
        given += [f"{name}={value}" for each in variables for name, value in each.items()]
        assert all(b"\0" not in os.fsencode(text) for text in given)
        assert max(suite.timeout_seconds for suite in task.all_suites()) < 10**6


@pytest.mark.parametrize("plan", MANIFESTS, ids=lambda plan: plan.__name__)
def test_any_manifest_gives_a_plan(plan, spoiled):
    spoiled_packages = map(json.dumps, spoiled(PACKAGE)) if plan is node_plan else ()
    for text in (*MANIFESTS[plan], *spoiled_packages):
        found = plan(TESTS, Files(None, {NAMES[plan]: text}))
        assert all(step.command for step in found.steps)
