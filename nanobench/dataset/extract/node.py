"""Vitest, Jest, Mocha and `node --test`."""

import json
import re
import shlex
from collections.abc import Sequence

from nanobench.dataset.extract.plan import Plan, Step, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside
from nanobench.dataset.languages import language_of

_TEST = re.compile(r"(^|/)[^/]*([._-](test|spec))\.[cm]?[jt]sx?$|(^|/)__tests__/.*\.[cm]?[jt]sx?$")
_RUNNERS = {"vitest": "npx vitest run", "jest": "npx jest", "mocha": "npx mocha"}
_QUIET = "--no-audit --no-fund --ignore-scripts"
_LOCKS = {
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile --ignore-scripts",
    "yarn.lock": "yarn install --frozen-lockfile --ignore-scripts",
    "package-lock.json": f"npm ci {_QUIET}",
    "npm-shrinkwrap.json": f"npm ci {_QUIET}",
}


def node_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per package that holds tests and names a runner, itself or above it."""
    mine = [path for path in paths if _TEST.search(path)]
    steps, install = [], []
    for package, files in grouped(mine, lambda p: tree.nearest(p, ["package.json"])).items():
        runner = _runner(package, tree)
        command = f"{_RUNNERS.get(runner, 'node --test')} " + shlex.join(
            below(path, package) for path in files
        )
        steps.append(Step(runner, language_of(files[0]) or "JavaScript", package, command))
        install.append(_install(package, tree))
    covered = frozenset(path for path in mine if tree.nearest(path, ["package.json"]))
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), covered=covered)


def _runner(package: str, tree: Tree) -> str:
    """The first runner that a manifest names, from the package upward."""
    for directory in tree.above(inside(package, "_"), ["package.json"]):
        try:
            manifest = json.loads(tree.text(inside(directory, "package.json")))
        except ValueError:
            continue
        if not isinstance(manifest, dict):
            continue
        tables = [manifest.get(name) for name in ("devDependencies", "dependencies")]
        names = {name for table in tables if isinstance(table, dict) for name in table}
        for runner in _RUNNERS:
            if runner in names:
                return runner
    return "node"


def _install(package: str, tree: Tree) -> str:
    for directory in tree.above(inside(package, "_"), list(_LOCKS)):
        for name, command in _LOCKS.items():
            if inside(directory, name) in tree:
                return in_directory(directory, command)
    return in_directory(package, f"npm install {_QUIET}")
