"""What the test commands of a task start beside the test runner: scripts, files, make."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from nanobench.model.task import Task
from nanobench.verify.shell import commands

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_INTERPRETERS = re.compile(r"(?:ba|da|z)?sh|source|\.|python[\d.]*|node|perl|ruby|php")
_PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_MAKE = frozenset({"make", "gmake"})
_SHORT = {"t": "test", "tst": "test"}


@dataclass(frozen=True)
class Invoked:
    """What commands start.

    `files`: programs and scripts by path in the repository; `words`: all words of commands of
    package managers, one of which names a script; `make`: whether make is run.
    """

    files: frozenset[str]
    words: frozenset[str]
    make: bool

    def scripts(self, scripts: Mapping[str, object]) -> frozenset[str]:
        """Of the `scripts` of a package.json the ones that run, those that they run included."""
        found: set[str] = set()
        names, known = set(self.words), set(scripts)
        while names:
            new = (names & known) - found
            new |= {hook for name in new for hook in (f"pre{name}", f"post{name}")}
            found |= new
            texts = [text for name in new if isinstance(text := scripts.get(name), str)]
            names = set(_manager_words(texts)) - found
        return frozenset(found)


def invoked(task: Task) -> Invoked:
    """What the commands of a task's suites start."""
    files: set[str] = set()
    make = False
    for suite in task.all_suites():
        for words in commands(suite.command):
            values = _program_first([word.value for word in words])
            make = make or (bool(values) and PurePosixPath(values[0]).name in _MAKE)
            files |= {_normal(suite.cwd, path) for path in _started(values)}
    texts = [suite.command for suite in task.all_suites()]
    return Invoked(frozenset(files), frozenset(_manager_words(texts)), make)


def _program_first(values: list[str]) -> list[str]:
    while values and _ASSIGNMENT.match(values[0]):
        values = values[1:]
    return values


def _started(values: list[str]) -> list[str]:
    """The program, if it is named by a path, and the script that an interpreter is given."""
    if not values:
        return []
    if "/" in values[0]:
        return values[:1]
    if not _INTERPRETERS.fullmatch(values[0]):
        return []
    if any(value in ("-m", "-c", "-e") for value in values[1:]):
        return []
    return [value for value in values[1:] if not value.startswith("-")][:1]


def _normal(cwd: str, path: str) -> str:
    parts: list[str] = []
    for part in PurePosixPath(cwd, path).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != "..":
            parts.append(part)
    return "/".join(parts)


def _manager_words(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for words in commands(text):
            values = _program_first([word.value for word in words])
            if values and PurePosixPath(values[0]).name in _PACKAGE_MANAGERS:
                yield from (_SHORT.get(value, value) for value in values[1:])
