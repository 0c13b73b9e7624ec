"""Runner configuration in files that a solution may change."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from nanobench.model.task import Task
from nanobench.verify.invoked import invoked
from nanobench.verify.sections import Versions, restore

PACKAGE = {
    "name": "p",
    "scripts": {"test": "npm run lint && vitest", "lint": "eslint .", "build": "tsc"},
    "dependencies": {"a": "1"},
}


def npm(**changes: Any) -> bytes:
    return json.dumps({**PACKAGE, **changes}).encode()


def after(
    task: Callable[..., Task],
    path: str,
    agent: bytes,
    base: bytes | None,
    golden: bytes | None = None,
    command: str = "npm test",
) -> tuple[str, tuple[str, ...]]:
    commands = invoked(task(test_command=command))
    content, names = restore(path.encode(), Versions(agent, base, golden), commands)
    return content.decode(), names


def test_scripts_that_the_command_runs_are_put_back(task: Callable[..., Task]) -> None:
    scripts = {
        "test": "true",
        "pretest": "./cheat",
        "lint": "true",
        "build": "rollup",
        "new": "n",
    }
    text, names = after(
        task,
        "package.json",
        npm(scripts=scripts, dependencies={"b": "2"}, jest={"setupFiles": ["./cheat.js"]}),
        npm(),
    )
    assert names == ("jest", "scripts.lint", "scripts.pretest", "scripts.test")
    document = json.loads(text)
    assert document["dependencies"] == {"b": "2"}
    assert "jest" not in document
    assert document["scripts"] == {**PACKAGE["scripts"], "build": "rollup", "new": "n"}


def test_scripts_that_no_command_runs_are_the_agents(task: Callable[..., Task]) -> None:
    agent = npm(scripts={"test": "other"})
    text, names = after(task, "package.json", agent, npm(), command="npx vitest run")
    assert (text.encode(), names) == (agent, ())


def test_what_the_golden_patch_changes_is_part_of_the_task(task: Callable[..., Task]) -> None:
    agent = npm(scripts={**PACKAGE["scripts"], "test": "mine", "lint": "none"})
    golden = npm(scripts={**PACKAGE["scripts"], "test": "npm run lint && theirs"})
    text, names = after(task, "package.json", agent, npm(), golden)
    assert names == ("scripts.lint",)
    assert json.loads(text)["scripts"]["test"] == "mine"


PYPROJECT = """[project]
name = "p"
dependencies = ["a"]

[tool.pytest.ini_options]
addopts = ["-q"]
markers = [
  "slow",
]

[tool.ruff]
line-length = 100
"""


def test_pytests_table_is_put_back_and_the_rest_is_kept(task: Callable[..., Task]) -> None:
    agent = PYPROJECT.replace('["-q"]', '["-p", "cheat"]').replace('["a"]', '["a", "b"]')
    text, names = after(task, "pyproject.toml", agent.encode(), PYPROJECT.encode())
    assert names == ("tool.pytest",)
    assert '["a", "b"]' in text
    assert "cheat" not in text
    assert '"slow"' in text
    assert "line-length" in text


def test_a_table_that_the_agent_adds_is_taken_away(task: Callable[..., Task]) -> None:
    agent = b'[project]\nname = "p"\n\n[tool.pytest.ini_options]\naddopts = "-p cheat"\n'
    text, names = after(task, "pyproject.toml", agent, None)
    assert ("cheat" in text, names) == (False, ("tool.pytest",))
    assert 'name = "p"' in text


@pytest.mark.parametrize(
    "hidden",
    [
        'tool.pytest.ini_options.addopts = "-p cheat"\n[project]\nname = "p"\n',
        '[tool]\npytest = { ini_options = { addopts = "-p cheat" } }\n',
        '[tool."pytest".ini_options]\naddopts = "-p cheat"\n',
        '[project]\ndescription = """\n[tool.pytest.ini_options]\n"""\n'
        '[tool.pytest.ini_options]\naddopts = "-p cheat"\n',
    ],
)
def test_no_spelling_of_the_table_gets_through(task: Callable[..., Task], hidden: str) -> None:
    text, names = after(task, "pyproject.toml", hidden.encode(), PYPROJECT.encode())
    assert ("cheat" in text, names) == (False, ("tool.pytest",))


def test_setup_cfg_keeps_what_is_not_pytests(task: Callable[..., Task]) -> None:
    base = b"[metadata]\nname = p\n[tool:pytest]\naddopts = -q\n"
    agent = b"[metadata]\nname = p\nversion = 2\n[tool:pytest]\naddopts = -p cheat\n[x]\ny = 1\n"
    text, names = after(task, "setup.cfg", agent, base)
    assert names == ("tool:pytest",)
    assert "version = 2" in text
    assert "addopts = -q" in text
    assert "y = 1" in text


def test_cargo_tests_and_patches_are_put_back(task: Callable[..., Task]) -> None:
    base = b'[package]\nname = "p"\n\n[[test]]\nname = "it"\npath = "tests/it.rs"\n'
    agent = (
        b'[package]\nname = "p"\n\n[dependencies]\nserde = "1"\n\n[[test]]\nname = "it"\n'
        b'path = "src/fake.rs"\n\n[patch.crates-io]\nserde = { path = "fake" }\n'
    )
    text, names = after(task, "Cargo.toml", agent, base)
    assert names == ("patch", "test")
    assert 'serde = "1"' in text
    assert "fake" not in text
    assert 'path = "tests/it.rs"' in text


def test_replacements_of_go_modules_are_put_back(task: Callable[..., Task]) -> None:
    base = b"module m\n\ngo 1.24\n\nreplace a => ../a\n"
    agent = (
        b"module m\n\ngo 1.24\n\nrequire b v1.0.0\n\nreplace (\n\tb => ./fake\n)\n"
        b"replace c => ./fake\n"
    )
    text, names = after(task, "sub/go.mod", agent, base)
    assert names == ("replace",)
    assert "fake" not in text
    assert "replace a => ../a" in text
    assert "require b v1.0.0" in text


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("package.json", b"{broken"),
        ("package.json", b"[]"),
        ("pyproject.toml", b"[tool.pytest\n"),
        ("setup.cfg", b"no section\n"),
        ("src/other.json", b"{}"),
        ("pyproject.toml", b"\xff"),
    ],
)
def test_what_does_not_parse_is_left_for_the_runner_to_refuse(
    task: Callable[..., Task], path: str, content: bytes
) -> None:
    versions = Versions(content, b"", None)
    assert restore(path.encode(), versions, invoked(task(test_command="npm test"))) == (content, ())


@pytest.mark.parametrize(
    "odd",
    [
        b"\xef\xbb\xbf" + npm(scripts={"test": "true"}),
        npm(scripts={"test": "true"})[:-1] + b', "n": ' + b"1" * 9000 + b"}",
        npm(scripts={"test": "true"})[:-1] + b', "n": "\\ud800"}',
        npm(scripts={"test": "true"})[:-1] + b', "n": "\xff"}',
    ],
    ids=["byte order mark", "long number", "lone surrogate", "no UTF-8"],
)
def test_what_npm_reads_hides_no_script(task: Callable[..., Task], odd: bytes) -> None:
    text, names = after(task, "package.json", odd, npm())
    assert "scripts.test" in names
    assert json.loads(text)["scripts"]["test"] == PACKAGE["scripts"]["test"]


def test_a_file_nested_too_deep_is_taken_from_the_base(task: Callable[..., Task]) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    agent = npm(scripts={"test": "true"})[:-1] + b', "n": ' + deep + b"}"
    assert after(task, "package.json", agent, npm()) == (npm().decode(), ("all",))


def test_a_key_of_very_many_parts_is_taken_from_the_base(task: Callable[..., Task]) -> None:
    """Python's reader of TOML takes hours for a megabyte of it."""
    hostile = b"a." * 500_000 + b"a = 1"
    content, names = after(task, "pyproject.toml", hostile, PYPROJECT.encode())
    assert (content, names) == (PYPROJECT, ("all",))
