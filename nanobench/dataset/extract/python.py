"""pytest."""

import posixpath
import re
import shlex
import tomllib
from collections.abc import Sequence
from typing import Any

from nanobench.dataset.extract.plan import Plan, Step, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside

_TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py$")
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini")
_PLUGIN = re.compile(r"pytest-[\w.-]+", re.ASCII)
_GROUPS = ("test", "tests", "testing", "dev")


def python_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per project (the nearest manifest) that holds tests."""
    mine = [path for path in paths if _TEST.search(path)]
    steps, install = [], []
    for project, files in grouped(mine, lambda path: _project(path, tree)).items():
        home = tree.nearest(inside(project, "_"), ["uv.lock"]) or project
        python = posixpath.join(posixpath.relpath(home, project), ".venv/bin/python")
        names = shlex.join(below(path, project) for path in files)
        command = f"{posixpath.normpath(python)} -m pytest {names}"
        steps.append(Step("pytest", "Python", project, command))
        install.append(in_directory(home, _install(project, home, tree)))
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), covered=frozenset(mine))


def _project(path: str, tree: Tree) -> str:
    return tree.nearest(path, _MANIFESTS) or "."


def _install(project: str, home: str, tree: Tree) -> str:
    manifest = _toml(tree.text(inside(project, "pyproject.toml")))
    group = _first(manifest.get("dependency-groups"))
    poetry = _table(manifest, "tool", "poetry")
    # uv does not read Poetry's tables: what it locked of such a project is nothing.
    read = project != home or not poetry or "project" in manifest
    if read and inside(home, "uv.lock") in tree:
        member = "" if project == home else f" --project {shlex.quote(below(project, home))}"
        return f"uv sync -q --frozen{member}" + (f" --group {group}" if group else "")
    extra = _first(_table(manifest, "project").get("optional-dependencies"))
    what = f"-e '.[{extra}]'" if extra else "-e ."
    if group:
        what += f" --group {group}"
    what = " ".join([what, "pytest", *_poetry_plugins(poetry)])
    return f"uv venv -q .venv && uv pip install -q --python .venv/bin/python {what}"


def _poetry_plugins(poetry: dict[str, Any]) -> list[str]:
    """pytest's plug-ins in Poetry's groups that are named after tests."""
    tables = [_table(poetry, "group", name, "dependencies") for name in _GROUPS]
    names = {name for table in (*tables, _table(poetry, "dev-dependencies")) for name in table}
    return sorted(name for name in names if _PLUGIN.fullmatch(name))


def _table(table: dict[str, Any], *names: str) -> dict[str, Any]:
    """A table within tables; an empty one if there is none."""
    for name in names:
        found = table.get(name)
        table = found if isinstance(found, dict) else {}
    return table


def _first(table: object) -> str | None:
    """The first group of dependencies that is named after tests."""
    return next((name for name in _GROUPS if isinstance(table, dict) and name in table), None)


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
