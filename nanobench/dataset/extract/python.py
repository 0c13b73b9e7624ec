"""pytest."""

import posixpath
import re
import shlex
from collections.abc import Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from fnmatch import fnmatchcase
from typing import Any

from nanobench.dataset.extract.plan import Plan, Step, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside, subtable
from nanobench.model.task import RuntimeName

_TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py$")
_BUILDS = ("pyproject.toml", "setup.py", "setup.cfg")
_MANIFESTS = (*_BUILDS, "pytest.ini", "tox.ini")
_PLUGIN = re.compile(r"pytest-[\w.-]+", re.ASCII)
_OURS = (3, 11)  # the oldest that NanoBench runs on, and a task that names none
_LEAST = re.compile(r"(?:python_requires\s*=\s*|^)[^\n]*?(?:>=|~=|==)\s*([0-9]{1,4})\.([0-9]{1,4})")
_GROUPS = ("test", "tests", "testing", "dev")
_REQUIREMENTS = tuple(
    form.format(name)
    for name in _GROUPS
    for form in ("requirements-{}.txt", "requirements_{}.txt", "{}-requirements.txt")
) + tuple(f"requirements/{name}.txt" for name in _GROUPS)


def python_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per project (the nearest manifest) that holds tests."""
    mine = [path for path in paths if _TEST.search(path)]
    steps, install = [], list[str]()
    for project, files in grouped(mine, lambda path: _project(path, tree)).items():
        home = _home(project, tree)
        python = posixpath.join(posixpath.relpath(home, project), ".venv/bin/python")
        names = shlex.join(below(path, project) for path in files)
        command = f"{posixpath.normpath(python)} -m pytest {names}"
        steps.append(Step("pytest", "Python", project, command))
        install.append(in_directory(home, _install(project, home, tree)))
    newest = max((_python(step.cwd, tree) for step in steps), default=_OURS)
    runtimes: dict[RuntimeName, str] = {}
    if newest > _OURS:
        runtimes["python"] = ".".join(map(str, newest))
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), runtimes, frozenset(mine))


def _python(project: str, tree: Tree) -> tuple[int, int]:
    """The oldest version that a project runs on, as far as it matters."""
    manifest = tree.toml(inside(project, "pyproject.toml"))
    stated = f"{subtable(manifest, 'project').get('requires-python')}"
    found = _LEAST.search(f"{stated}\n{tree.text(inside(project, 'setup.cfg'))}")
    return (int(found[1]), int(found[2])) if found else _OURS


def _project(path: str, tree: Tree) -> str:
    return tree.nearest(path, _MANIFESTS) or "."


def _home(project: str, tree: Tree) -> str:
    """Where the environment of a project lies: in its workspace of uv, else in itself."""
    for directory in tree.above(inside(project, "_"), ["uv.lock"]):
        workspace = _workspace(directory, tree)
        path = below(project, directory)
        excluded = _matches(path, workspace.get("exclude"))
        if directory == project or (_matches(path, workspace.get("members")) and not excluded):
            return directory
    return project


def _install(project: str, home: str, tree: Tree) -> str:
    manifest = tree.toml(inside(project, "pyproject.toml"))
    # uv does not read Poetry's tables: what it locked of such a project is nothing.
    read = project != home or not subtable(manifest, "tool", "poetry") or "project" in manifest
    if read and inside(home, "uv.lock") in tree:
        return f"uv sync -q --frozen{_locked(project, home, manifest, tree)}"
    what = _unlocked(project, manifest, tree)
    return f"uv venv -q .venv && uv pip install -q --python .venv/bin/python {what}"


def _locked(project: str, home: str, manifest: dict[str, Any], tree: Tree) -> str:
    # The members of a workspace share an environment; one must not take out another's.
    shared = _workspace(home, tree)
    options = [
        " --inexact" if shared else "",
        "" if project == home else f" --project {shlex.quote(below(project, home))}",
        *(f" --extra {name}" for name in _first(_extras(manifest))),
        *(f" --group {name}" for name in _first(manifest.get("dependency-groups"))),
    ]
    return "".join(options)


def _unlocked(project: str, manifest: dict[str, Any], tree: Tree) -> str:
    extra = _first(_extras(manifest)) or _first(_setup_extras(project, tree))
    group = _first(manifest.get("dependency-groups"))
    words = [f"-e '.[{name}]'" for name in extra]
    if not extra and any(inside(project, name) in tree for name in _BUILDS):
        words.append("-e .")
    words += [f"--group {name}" for name in group]
    if not extra and not group:
        words += [f"-r {name}" for name in _REQUIREMENTS if inside(project, name) in tree][:1]
    return " ".join([*words, "pytest", *_poetry_plugins(subtable(manifest, "tool", "poetry"))])


def _extras(manifest: dict[str, Any]) -> object:
    return subtable(manifest, "project").get("optional-dependencies")


def _setup_extras(project: str, tree: Tree) -> list[str]:
    """The extras that `setup.cfg` names."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(tree.text(inside(project, "setup.cfg")))
    except ConfigError:
        return []
    section = "options.extras_require"
    return parser.options(section) if parser.has_section(section) else []


def _poetry_plugins(poetry: dict[str, Any]) -> list[str]:
    """pytest's plug-ins in Poetry's groups that are named after tests."""
    tables = [subtable(poetry, "group", name, "dependencies") for name in _GROUPS]
    names = {name for table in (*tables, subtable(poetry, "dev-dependencies")) for name in table}
    return sorted(name for name in names if _PLUGIN.fullmatch(name))


def _first(table: object) -> list[str]:
    """The first group of dependencies that is named after tests, if there is one."""
    names = table if isinstance(table, dict | list) else ()
    return [name for name in _GROUPS if name in names][:1]


def _workspace(directory: str, tree: Tree) -> dict[str, Any]:
    """What a manifest says of uv's workspace."""
    return subtable(tree.toml(inside(directory, "pyproject.toml")), "tool", "uv", "workspace")


def _matches(path: str, patterns: object) -> bool:
    found = patterns if isinstance(patterns, list) else ()
    return any(fnmatchcase(path, str(pattern)) for pattern in found)
