"""The tree that is verified: the agent's source, the golden tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import InfrastructureError
from nanobench.model.task import Task
from nanobench.verify.tree import TreeReport, build_tree
from nanobench.workspace.changes import Change
from nanobench.workspace.golden import Golden

BASE = {
    b"src/a.py": b"base",
    b"tests/test_a.py": b"base test",
    b"tests/data/x.json": b"base data",
    b"tests/old_test.py": b"old",
}
GOLDEN = Golden(
    b"",
    (
        Change(b"src/a.py", 0o100644, b"golden", 0o100644),
        Change(b"tests/test_a.py", 0o100644, b"golden test", 0o100644),
        Change(b"tests/new/test_b.py", 0o100644, b"new test", None),
        Change(b"tests/old_test.py", None, None, 0o100644),
    ),
)
FIELDS = {
    "test_files": ["tests/test_a.py", "tests/new/test_b.py", "tests/old_test.py"],
    "protected_files": ["tests/data"],
}


@pytest.fixture
def build(
    tmp_path: Path, snapshot: Any, task: Callable[..., Task]
) -> Callable[..., tuple[TreeReport, dict[str, bytes]]]:
    def run(*changes: Change) -> tuple[TreeReport, dict[str, bytes]]:
        tree = tmp_path / "ws"
        report = build_tree(snapshot(BASE), tree, changes, GOLDEN, task(**FIELDS))
        files = {
            str(path.relative_to(tree)): path.read_bytes()
            for path in sorted(tree.rglob("*"))
            if path.is_file()
        }
        assert not any(path.is_symlink() for path in tree.rglob("*"))
        return report, files

    return run


TESTS = {
    "tests/data/x.json": b"base data",
    "tests/new/test_b.py": b"new test",
    "tests/test_a.py": b"golden test",
}


def _write(path: bytes, content: bytes = b"agent", mode: int = 0o100644) -> Change:
    return Change(path, mode, content, None)


def test_nothing_changed_is_the_base_with_golden_tests(build: Any) -> None:
    report, files = build()
    assert files == {"src/a.py": b"base", **TESTS}
    assert report == TreeReport((), ())


def test_golden_changes_give_the_golden_state(build: Any) -> None:
    _, files = build(*GOLDEN.changes)
    assert files == {"src/a.py": b"golden", **TESTS}


@pytest.mark.parametrize(
    ("changes", "protected"),
    [
        ([_write(b"tests/test_a.py")], ("tests/test_a.py",)),
        ([Change(b"tests/test_a.py", None, None, 0o100644)], ("tests/test_a.py",)),
        ([_write(b"tests/new/test_b.py")], ("tests/new/test_b.py",)),
        ([_write(b"tests/new", b"../src", 0o120000)], ("tests/new",)),
        (
            [
                *(Change(path, None, None, 0o100644) for path in BASE if path.startswith(b"t")),
                _write(b"tests", b"src", 0o120000),
            ],
            ("tests", "tests/data/x.json", "tests/old_test.py", "tests/test_a.py"),
        ),
        ([_write(b"tests/data/more.json")], ("tests/data/more.json",)),
        ([_write(b"conftest.py"), _write(b"src/conftest.py")], ("conftest.py", "src/conftest.py")),
        (
            [_write(b"pytest.ini"), _write(b"vitest.config.mts")],
            ("pytest.ini", "vitest.config.mts"),
        ),
    ],
    ids=["edit", "delete", "new", "link", "tree-link", "data", "conftest", "configuration"],
)
def test_attempts_on_tests_leave_no_trace_but_are_reported(
    build: Any, changes: list[Change], protected: tuple[str, ...]
) -> None:
    report, files = build(*changes, _write(b"src/a.py"))
    assert files == {"src/a.py": b"agent", **TESTS}
    assert report.protected == protected


def test_bytecode_of_the_agent_is_not_carried(build: Any) -> None:
    _, files = build(_write(b"src/__pycache__/a.cpython-311.pyc"))
    assert files == {"src/a.py": b"base", **TESTS}


def test_runner_configuration_in_shared_files_is_put_back_and_named(
    tmp_path: Path, snapshot: Any, task: Callable[..., Task]
) -> None:
    base = {
        b"package.json": b'{"scripts": {"test": "vitest"}}',
        b"go.mod": b"module m\n",
        b"pyproject.toml": b"",
    }
    changes = [
        _write(b"package.json", b'{"scripts": {"test": "true"}, "dependencies": {"a": "1"}}'),
        _write(b"go.mod", b"module m\nreplace a => ./a\n"),
        _write(b"pyproject.toml", b"elsewhere.toml", 0o120000),
    ]
    fields = {"test_command": "npm test", "required_files": ["go.mod"]}
    report = build_tree(snapshot(base), tmp_path / "ws", changes, Golden(b"", ()), task(**fields))
    assert report.protected == ("package.json (scripts.test)", "pyproject.toml")
    document = json.loads((tmp_path / "ws/package.json").read_text())
    assert document == {"scripts": {"test": "vitest"}, "dependencies": {"a": "1"}}
    assert "replace" in (tmp_path / "ws/go.mod").read_text()  # a required file is the agent's
    assert not (tmp_path / "ws/pyproject.toml").is_symlink()


def test_conflicting_changes_are_reported(build: Any) -> None:
    report, files = build(Change(b"big.bin", 0o100644, None, None), _write(b"src/a.py/x"))
    assert report.conflicts == ("big.bin", "src/a.py/x")
    assert files == {"src/a.py": b"base", **TESTS}


def test_golden_tests_that_cannot_be_written_stop_the_run(
    tmp_path: Path, snapshot: Any, task: Callable[..., Task]
) -> None:
    broken = Golden(b"", (Change(b"src/a.py/test_x.py", 0o100644, b"", None),))
    with pytest.raises(InfrastructureError) as caught:
        build_tree(snapshot(BASE), tmp_path / "ws", (), broken, task())
    assert "src/a.py/test_x.py" in caught.value.where
