"""Vitest, Jest, Mocha, AVA, tape and `node --test`."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nanobench.dataset.extract.plan import Plan, Step, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside
from nanobench.dataset.languages import language_of
from nanobench.model.task import RuntimeName

_TEST = re.compile(r"(^|/)[^/]*([._-](test|spec))\.[cm]?[jt]sx?$|(^|/)__tests__/.*\.[cm]?[jt]sx?$")
# Runners without a habit for names take any file of a test directory.
_IN_DIRECTORY = re.compile(r"(^|/)(tests?|specs?)/.*\.[cm]?[jt]sx?$")
_HELPER = re.compile(
    r"(^|/)(fixtures?|support|helpers?|mocks?|types?|data)(/|\.[^/]+$)|[.-](d|tst)\.[cm]?ts$"
)
_RUNNERS = {
    "vitest": "npx vitest run",
    "jest": "npx jest",
    "mocha": "npx mocha",
    "ava": "npx ava",
    "tape": "npx tape",
}
_BY_SUFFIX = ("vitest", "jest")
_NODE = re.compile(r"\bnode\b.*\s--test\b|\bborp\b")
_NODE_ENDS = "--test-force-exit --test-timeout=120000"
_SCRIPTS = ("ts", "mts", "cts", "js", "mjs", "cjs")
_CONFIGURATION = {
    "vitest": [f"{name}.config.{end}" for name in ("vitest", "vite") for end in _SCRIPTS],
    "jest": [f"jest.config.{end}" for end in (*_SCRIPTS, "json")],
    "mocha": [f".mocharc.{end}" for end in ("js", "cjs", "mjs", "json", "jsonc", "yml", "yaml")],
    "ava": [f"ava.config.{end}" for end in _SCRIPTS],
}
_WORKSPACES = [f"vitest.workspace.{end}" for end in (*_SCRIPTS, "json")]
_PROJECTS = re.compile(r"\bprojects\s*:")
_QUIET = "--no-audit --no-fund --ignore-scripts"
_LOCKS = ("pnpm-lock.yaml", "yarn.lock", "package-lock.json", "npm-shrinkwrap.json")
_PNPM = "pnpm install --frozen-lockfile --ignore-scripts"
_YARN = "yarn install --frozen-lockfile --ignore-scripts"
_BERRY = "yarn install --immutable --mode=skip-build"


def node_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per place and runner, which a package with tests names, itself or above it."""
    wanted = [path for path in paths if _TEST.search(path) or _IN_DIRECTORY.search(path)]
    suites: dict[tuple[str, str], list[str]] = {}
    install: list[str] = []
    runtimes: dict[RuntimeName, str] = {}
    for package, files in grouped(wanted, lambda p: tree.nearest(p, ["package.json"])).items():
        manifests = list(_manifests(package, tree))
        runner = _runner(manifests)
        mine = [path for path in files if runner and _is_test(path, runner)]
        if runner and mine:
            suites.setdefault((_home(runner, manifests, tree), runner), []).extend(mine)
            command, managers = _install(package, tree)
            install.append(command)
            runtimes |= managers
    steps = [_step(home, runner, files, tree) for (home, runner), files in suites.items()]
    covered = frozenset(path for files in suites.values() for path in files)
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), runtimes, covered)


def _is_test(path: str, runner: str) -> bool:
    by_name = _TEST.search(path) is not None
    return by_name or (runner not in _BY_SUFFIX and not _HELPER.search(path))


def _step(home: str, runner: str, files: Sequence[str], tree: Tree) -> Step:
    start = _RUNNERS.get(runner) or _node(files, tree)
    names = shlex.join(below(path, home) for path in files)
    return Step(runner, language_of(files[0]) or "JavaScript", home, f"{start} {names}")


def _node(files: Sequence[str], tree: Tree) -> str:
    """`node --test`, through tsx if a project has it for its TypeScript.

    A test that fails may leave a server open, or wait for ever; Node would wait with it.
    """
    typed = [path for path in files if language_of(path) == "TypeScript"]
    manifests = (manifest for path in typed for _, manifest in _manifests(path, tree))
    has_tsx = any("tsx" in _dependencies(manifest) for manifest in manifests)
    return f"{'npx tsx' if has_tsx else 'node'} --test {_NODE_ENDS}"


def _runner(manifests: Sequence[tuple[str, dict[str, Any]]]) -> str | None:
    """The first runner that is named, from the package upward; null if it is none of these."""
    tested = False
    for _, manifest in manifests:
        names = _dependencies(manifest)
        for runner in _RUNNERS:
            if runner in names:
                return runner
        scripts = manifest.get("scripts")
        named = scripts if isinstance(scripts, dict) else {}
        if any(_NODE.search(str(script)) for script in named.values()):
            return "node"
        tested = tested or "test" in named
    return None if tested else "node"


def _home(runner: str, manifests: Sequence[tuple[str, dict[str, Any]]], tree: Tree) -> str:
    """Where the runner finds its configuration, from the package upward, else the package.

    Vitest starts above it where packages are gathered as projects.
    """
    names = _CONFIGURATION.get(runner, ())
    for directory, _ in manifests:
        if runner == "vitest" and _gathers(directory, tree):
            return directory
    for directory, manifest in manifests:
        if runner in manifest or _named(names, directory, tree):
            return directory
    return manifests[0][0]


def _gathers(directory: str, tree: Tree) -> bool:
    texts = (tree.text(inside(directory, name)) for name in _CONFIGURATION["vitest"])
    return _named(_WORKSPACES, directory, tree) or any(_PROJECTS.search(text) for text in texts)


def _named(names: Iterable[str], directory: str, tree: Tree) -> bool:
    return any(inside(directory, name) in tree for name in names)


def _manifests(package: str, tree: Tree) -> Iterator[tuple[str, dict[str, Any]]]:
    """The directories with a `package.json` from here upward, and what it says."""
    for directory in tree.above(inside(package, "_"), ["package.json"]):
        try:
            found = json.loads(tree.text(inside(directory, "package.json")))
        except (ValueError, RecursionError):
            found = None
        yield directory, found if isinstance(found, dict) else {}


def _dependencies(manifest: dict[str, Any]) -> set[str]:
    tables = [manifest.get(name) for name in ("devDependencies", "dependencies")]
    return {name for table in tables if isinstance(table, dict) for name in table}


def _install(package: str, tree: Tree) -> tuple[str, dict[RuntimeName, str]]:
    """The command by the nearest lock, and the package manager that it starts."""
    for directory in tree.above(inside(package, "_"), _LOCKS):
        manifest = next(_manifests(directory, tree), (directory, {}))[1]
        asked = str(manifest.get("packageManager")).partition("+")[0]
        for lock in _LOCKS:
            if inside(directory, lock) not in tree:
                continue
            if lock == "pnpm-lock.yaml":
                version = _asked("pnpm", asked) or _pnpm(tree.text(inside(directory, lock)))
                return in_directory(directory, _PNPM), {"pnpm": version}
            if lock == "yarn.lock":
                berry = "__metadata:" in tree.text(inside(directory, lock))
                version = _asked("yarn", asked) or ("4" if berry else "1.22.22")
                return in_directory(directory, _BERRY if berry else _YARN), {"yarn": version}
            return in_directory(directory, f"npm ci {_QUIET}"), {}
    return in_directory(package, f"npm install {_QUIET}"), {}


def _asked(name: str, manager: str) -> str | None:
    found, _, version = manager.partition("@")
    return version if found == name and version else None


def _pnpm(lock: str) -> str:
    """A pnpm that writes locks of this version; the newest of them writes 9.0."""
    found = re.search(r"^lockfileVersion: '?([0-9]+)", lock, re.M)
    return {"5": "7", "6": "8"}.get(found[1] if found else "", "10")
