"""Test commands that were found, and what installs their dependencies."""

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from nanobench.model.task import RuntimeName


@dataclass(frozen=True)
class Step:
    """One test command: the runner that names its suite, where and what."""

    runner: str
    language: str
    cwd: str
    command: str


@dataclass(frozen=True)
class Plan:
    """What one ecosystem needs.

    Args:
        covered: the test files that the commands run.
    """

    steps: tuple[Step, ...] = ()
    install: tuple[str, ...] = ()
    runtimes: dict[RuntimeName, str] = field(default_factory=dict)
    covered: frozenset[str] = frozenset()


def grouped(paths: Iterable[str], key: Callable[[str], str | None]) -> dict[str, list[str]]:
    """Paths by the directory that `key` finds for them; those without one are left out."""
    found: dict[str, list[str]] = {}
    for path in sorted(paths):
        directory = key(path)
        if directory is not None:
            found.setdefault(directory, []).append(path)
    return found


def in_directory(directory: str, command: str) -> str:
    """Shell text that runs a command in a directory of the repository."""
    return command if directory == "." else f"cd {shlex.quote(directory)} && {command}"


def at_least(pattern: re.Pattern[str], text: str) -> str | None:
    """A version range from the first version that a manifest names."""
    found = pattern.search(text)
    return f">={found[1]}" if found else None
