"""What test runners say themselves of a run, read from their output alone.

It is read apart from nanobench/verify/formats, so that one can be held against the other.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_WORDS = re.compile(r"(\d+) ([a-z]+)")
_PYTEST = re.compile(
    r"^=*\s*((?:\d+ [a-z ]+, )*\d+ [a-z ]+) in [\d.]+s(?: \([\d:]+\))?\s*=*$", re.MULTILINE
)
_VITEST = re.compile(r"^ +Tests {2}(.*\(\d+\))$", re.MULTILINE)
_JEST = re.compile(r"^Tests: +(.*\d+ total)$", re.MULTILINE)
_CARGO = re.compile(r"^test result: \w+\. (.*); finished in", re.MULTILINE)
_MAVEN = re.compile(
    r"^\[\w+\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$", re.MULTILINE
)
_GO = re.compile(r"^\s*--- (PASS|FAIL|SKIP): \S")


@dataclass(frozen=True)
class Said:
    """Counts as a runner gives them; `errors` also holds what failed outside of tests."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    words: str = ""

    def __add__(self, other: "Said") -> "Said":
        return Said(
            self.passed + other.passed,
            self.failed + other.failed,
            self.errors + other.errors,
            self.skipped + other.skipped,
            f"{self.words} + {other.words}",
        )


def said(runner: str, output: str) -> Said | None:
    """The runner's own counts of the whole run; null if it gives none, as after a failed build.

    Args:
        runner: the name by which nanobench.verify.runners knows it.
        output: all that it wrote to stdout and stderr.

    Raises:
        KeyError: this module does not know the runner.
    """
    found = list(_READERS[runner](_COLOUR.sub("", output).replace("\r\n", "\n")))
    return reduce(lambda one, other: one + other, found) if found else None


def _pytest(output: str) -> Iterator[Said]:
    lines = _PYTEST.findall(output)
    if lines:
        count = _counts(lines[-1])
        yield Said(
            passed=count("passed", "xpassed"),
            failed=count("failed"),
            errors=count("error", "errors"),
            skipped=count("skipped", "xfailed"),
            words=lines[-1],
        )


def _javascript(line: re.Pattern[str]) -> Callable[[str], Iterator[Said]]:
    def read(output: str) -> Iterator[Said]:
        for words in line.findall(output)[-1:]:
            count = _counts(words)
            skipped = count("skipped", "todo")
            yield Said(count("passed"), count("failed"), 0, skipped, words)

    return read


def _cargo(output: str) -> Iterator[Said]:
    for words in _CARGO.findall(output):
        count = _counts(words)
        passed = count("passed", "measured")
        yield Said(passed, count("failed"), 0, count("ignored"), words.split("; 0 measured")[0])


def _maven(output: str) -> Iterator[Said]:
    """One line for each module; those of single classes go on behind the counts."""
    for match in _MAVEN.finditer(output):
        run, failed, errors, skipped = map(int, match.groups())
        words = match[0].partition("] ")[2]
        yield Said(run - failed - errors - skipped, failed, errors, skipped, words)


def _go(output: str) -> Iterator[Said]:
    """Go has no summary but a line for every test."""
    marks = [
        match[1]
        for line in output.splitlines()
        if line.startswith("{") and (match := _GO.match(_printed(line)))
    ]
    if marks:
        passed, failed, skipped = (marks.count(mark) for mark in ("PASS", "FAIL", "SKIP"))
        words = f"{passed} × --- PASS, {failed} × --- FAIL, {skipped} × --- SKIP"  # noqa: RUF001
        yield Said(passed, failed, 0, skipped, words)


def _printed(line: str) -> str:
    try:
        event = json.loads(line)
    except ValueError:
        return ""
    return str(event.get("Output", "")) if isinstance(event, dict) else ""


def _counts(words: str) -> Callable[..., int]:
    found = {word: int(number) for number, word in _WORDS.findall(words)}
    return lambda *names: sum(found.get(name, 0) for name in names)


_READERS: dict[str, Callable[[str], Iterator[Said]]] = {
    "pytest": _pytest,
    "vitest": _javascript(_VITEST),
    "jest": _javascript(_JEST),
    "cargo": _cargo,
    "maven": _maven,
    "go": _go,
}
