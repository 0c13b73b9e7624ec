"""Which paths an agent cannot change for the verification."""

import re
import sys
from collections.abc import Collection
from dataclasses import dataclass

from nanobench.model.task import Task
from nanobench.verify.invoked import Invoked, invoked
from nanobench.workspace.changes import Change

# Configuration of a test runner and of nothing else.
_TEST_CONFIGURATION = re.compile(r"(^|/)(conftest\.py|\.?pytest\.(ini|toml)|tox\.ini)$")
_RUNNER_CONFIGURATION = re.compile(
    # Vitest reads vite.config; what that says beside serves the build, which no test runs.
    r"(^|/)((vitest|vite|jest|ava|playwright)\.config\.[cm]?[jt]s|jest\.config\.json"
    r"|vitest\.workspace\.([cm]?[jt]s|json)|\.mocharc\.(js|cjs|mjs|json|jsonc|ya?ml)|\.taprc"
    r"|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.cjs"  # they choose shells and options of node
    r"|[^/]+\.(dist|egg)-info/[^/]+"  # an entry point makes a plugin of any module
    r"|build\.rs|\.cargo/config(\.toml)?|\.config/nextest\.toml|go\.work"
    r"|\.mvn/.+|gradle/wrapper/[^/]+|junit-platform\.properties|phpunit\.xml(\.dist)?|CTestCustom\.cmake)$"
)
# Modules that pytest imports by these names; `python -m` looks in its own directory first.
_RUNNER_MODULE = re.compile(
    r"_?pytest(_\w+)?|pluggy|iniconfig|packaging|pygments|exceptiongroup|tomli|colorama|py|coverage"
)
_MODULE = re.compile(r"(?:(?P<directory>.+)/)?(?P<name>\w+)\.(?:py|[^/]*\bso|pyd)")
_MAKEFILE = re.compile(r"(^|/)((GNUm|[Mm])akefile|[^/]+\.mk)$")
_TEST_DIRECTORY = re.compile(r"(^|/)(tests?|__tests?__|specs?|__snapshots__)/")
_TEST_NAME = re.compile(
    r"(^|/)(test_[^/]*\.py|[^/]*_test\.(py|go|[cm]?[jt]sx?)|[^/]*[._-](test|spec)\.[cm]?[jt]sx?)$"
)


def looks_like_test(path: str) -> bool:
    """Whether a path is a test by the habits of pytest, Vitest, Jest, `node --test` and Go."""
    return bool(
        _TEST_DIRECTORY.search(path) or _TEST_NAME.search(path) or _TEST_CONFIGURATION.search(path)
    )


@dataclass(frozen=True)
class Protection:
    """The paths of a task that verification takes from the golden state.

    `roots` are files or directories by name. What only configures a test runner, and what the
    test commands themselves start, is protected unless the golden patch changes it.
    `import_roots` are the directories in which Python finds modules before its own.
    """

    roots: frozenset[bytes]
    golden_paths: frozenset[bytes]
    ancestors: frozenset[bytes]
    required: frozenset[bytes]
    commands: Invoked
    import_roots: frozenset[str] = frozenset()

    def covers(self, path: bytes) -> bool:
        """Whether the golden (or base) version of this path is the one that counts."""
        if path in self.required:
            return False
        if path in self.roots or any(parent in self.roots for parent in _parents(path)):
            return True
        text = path.decode("utf-8", "replace")
        if _TEST_CONFIGURATION.search(text):
            return True
        return path not in self.golden_paths and self._configures_runner(text)

    def _configures_runner(self, path: str) -> bool:
        """Whether the test commands read, or run, this file to know what to run."""
        if path in self.commands.files or _RUNNER_CONFIGURATION.search(path):
            return True
        return self.commands.make and _MAKEFILE.search(path) is not None

    def refuses(self, path: bytes) -> bool:
        """Whether an agent's change of this path is left out.

        That includes a file or link put in the place of a directory that holds protected files.
        """
        return self.covers(path) or path in self.ancestors

    def shadows(self, change: Change) -> bool:
        """Whether an agent's new file would be imported in the place of the runner, or of Python.

        That is a module by such a name where Python looks first: beside the test command.
        """
        if change.base_mode is not None or change.path in self.golden_paths:
            return False
        path = change.path.decode("utf-8", "replace").replace("/__init__.", ".")
        found = _MODULE.fullmatch(path)
        if not found or (found["directory"] or "") not in self.import_roots:
            return False
        name = found["name"]
        return name in sys.stdlib_module_names or _RUNNER_MODULE.fullmatch(name) is not None


def protection(task: Task, golden: Collection[Change]) -> Protection:
    """What is protected in a task.

    Without `test_files`, the golden patch's paths that look like tests stand for them.
    """
    named = {*task.test_files, *task.protected_files}
    roots = {path.encode() for path in named}
    required = frozenset(path.encode() for path in task.required_files)
    golden_paths = frozenset(change.path for change in golden)
    is_test = _TEST_CONFIGURATION.search if task.test_files else looks_like_test
    roots |= {path for path in golden_paths if is_test(path.decode("utf-8", "replace"))}
    roots -= required
    ancestors = frozenset(parent for path in roots for parent in _parents(path))
    places = frozenset({"", *(suite.cwd.strip("./") for suite in task.all_suites())})
    return Protection(frozenset(roots), golden_paths, ancestors, required, invoked(task), places)


def _parents(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    return [b"/".join(parts[:count]) for count in range(1, len(parts))]
