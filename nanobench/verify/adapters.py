"""Making a test command write its result file, without changing what it runs.

Works on the last simple command of the shell text (`cd ui && FLAG=1 npx vitest run x`); the
text around it stays as it is, so that the shell expands what it would have expanded.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from nanobench.errors import InvalidInputError
from nanobench.model.task import Suite
from nanobench.verify.runners import RUNNERS, Runner, clear_reports, collect_reports
from nanobench.verify.shell import Word, last_command

PLACEHOLDER = "{OUT}"

_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*\+?=")
_PYTHON = re.compile(r"^python[\d.]*$")
_LAUNCHERS = {"npx", "pnpm", "yarn", "npm", "bunx", "uv", "poetry", "pdm", "hatch", "env"}
_LAUNCHERS |= {"nyc", "c8", "cross-env", "xvfb-run", "composer"}
_SCRIPT_LAUNCHERS = {"pnpm", "yarn", "npm", "composer"}  # whose `run` names a script


@dataclass(frozen=True)
class Adapted:
    """A command that writes its results.

    `result_path` is where, as the command sees it: a file, or a directory of files. `before` and
    `after` are shell texts that run in front of the command and behind it; `runner` is null when
    it is not recognised.
    """

    command: str
    format: str
    result_path: str
    removed_options: tuple[str, ...]
    runner: str | None
    before: str = ""
    after: str = ""

    def script(self) -> str:
        """The whole shell text; it exits as the command does."""
        if not self.before and not self.after:
            return self.command
        return f"{self.before}\n(\n{self.command}\n)\nstatus=$?\n{self.after}\nexit $status"


@dataclass(frozen=True)
class _Found:
    """A runner, the words of its command from the program on, and the word for its options."""

    runner: Runner
    words: Sequence[Word]
    place: int


def adapt(suite: Suite, result_path: str) -> Adapted:
    """The command of a suite, writing its results to `result_path`.

    Options that stop at the first failure are removed: they would falsify shares (SPEC 6).

    Raises:
        InvalidInputError: the command is opaque and the suite does not say where and in which
            format its results are.
    """
    found = _recognise(last_command(suite.command))
    kept, removed = _without_stops(suite.command, found)
    quoted = shlex.quote(result_path)
    before = after = ""
    if PLACEHOLDER in suite.command:
        command = kept.replace(PLACEHOLDER, quoted)
    elif suite.result_path is not None:
        command = kept
    elif found is None:
        raise _opaque(suite)
    else:
        command = _insert(kept, quoted)
        before, after = _around(found.runner, quoted)
    chosen = suite.format or (_format(found) if found else None)
    if chosen is None:
        raise InvalidInputError(
            f"suite {suite.name!r} does not say in which format its results are",
            where=f"command: {suite.command}",
            remedy="add 'format' to the suite",
        )
    runner = found.runner.name if found else None
    return Adapted(command, chosen, result_path, removed, runner, before, after)


def _opaque(suite: Suite) -> InvalidInputError:
    names = ", ".join(sorted({name for runner in RUNNERS for name in runner.programs}))
    return InvalidInputError(
        f"the command of suite {suite.name!r} does not show which test runner it starts",
        where=f"command: {suite.command}",
        remedy=f"name the runner in the command ({names}), or put {{OUT}} where the runner takes "
        "its result file, or add 'result_path', and say 'format'",
    )


def _format(found: _Found) -> str:
    values = " ".join(word.value for word in found.words)
    if found.runner.name == "cargo" and re.search(r"--format[ =]json\b", values):
        return "libtest-json"
    return found.runner.format


def _around(runner: Runner, out: str) -> tuple[str, str]:
    """What runs in front of the command and behind it."""
    before = runner.before(out) if runner.before else ""
    if runner.reports:
        return clear_reports(runner.reports), collect_reports(runner.reports, out)
    return before, f"cat -- {out} 2>/dev/null" if runner.output != "none" else ""


def _recognise(words: Sequence[Word]) -> _Found | None:
    """The runner of a simple command."""
    values = [word.value for word in words]
    start = 0
    while start < len(values) and _ASSIGNMENT.match(values[start]):
        start += 1
    if start == len(values):
        return None
    program = _basename(values[start])
    candidates: Sequence[int] = (start,)
    if _PYTHON.match(program):
        candidates = [i + 1 for i, value in enumerate(values[:-1]) if value == "-m"][:1]
    elif program in _LAUNCHERS:
        if program in _SCRIPT_LAUNCHERS and "run" in values[start + 1 : start + 2]:
            return None
        candidates = range(start + 1, len(values))
    for index in candidates:
        for runner in RUNNERS:
            if _basename(values[index]) in runner.programs:
                place = runner.place(values[index:])
                if place is not None:
                    return _Found(runner, words[index:], place)
    return None


def _basename(value: str) -> str:
    return value.rpartition("/")[2]


def _without_stops(text: str, found: _Found | None) -> tuple[str, tuple[str, ...]]:
    """The text without the runner's options to stop early, and what was removed."""
    if found is None:
        return text, ()
    runner, values = found.runner, [word.value for word in found.words]
    removed: list[str] = []
    cuts: list[tuple[int, int, str]] = []
    for index, word in enumerate(found.words):
        if not runner.stops.fullmatch(word.value):
            continue
        last = word
        if runner.stop_takes_value.fullmatch(word.value) and index + 1 < len(found.words):
            following = found.words[index + 1]
            last = following if following.value.isdigit() else word
        option = text[word.start : last.end]
        instead = runner.instead(option, values)
        if instead != option:
            removed.append(option)
            cuts.append((word.start, last.end, instead))
    for start, end, instead in reversed(cuts):
        before = text[:start] if instead else text[:start].rstrip(" \t")
        text = before + instead + text[end:]
    return text, tuple(removed)


def _insert(text: str, out: str) -> str:
    """Put the options where the runner reads options, and send its output to the file."""
    found = _recognise(last_command(text))
    assert found is not None  # noqa: S101 - removing options does not hide the runner
    runner, words = found.runner, found.words
    if runner.output != "none":
        end, both = words[-1].end, " 2>&1" if runner.output == "both" else ""
        text = f"{text[:end]} > {out}{both}{text[end:]}"
    options = runner.options(out, [word.value for word in words])
    if not options:
        return text
    if not runner.at_end:
        place = words[found.place].end
        return f"{text[:place]} {options}{text[place:]}"
    for word in words:
        if word.value == "--":
            return f"{text[: word.start]}{options} {text[word.start :]}"
    place = words[-1].end
    return f"{text[:place]} {options}{text[place:]}"
