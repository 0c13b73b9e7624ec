"""Making a test command write its result file, without changing what it runs.

Works on the last simple command of the shell text (`cd ui && FLAG=1 npx vitest run x`); the
text around it stays as it is, so that the shell expands what it would have expanded.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nanobench.errors import InvalidInputError
from nanobench.model.task import Suite

PLACEHOLDER = "{OUT}"

_WORD = re.compile(
    r"""(?:\d*[<>]+&\d+|&>+|[^\s'"\\;&|()]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""", re.DOTALL
)
_SEPARATOR = re.compile(r"&&|\|\||\||;|&|\n|[()]")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*\+?=")
_PYTHON = re.compile(r"^python[\d.]*$")
_LAUNCHERS = {"npx", "pnpm", "yarn", "npm", "bunx", "uv", "poetry", "pdm", "hatch", "env"}
_SCRIPT_LAUNCHERS = {"pnpm", "yarn", "npm"}  # whose `run` names a script of package.json


@dataclass(frozen=True)
class Adapted:
    """A command that writes its results.

    `result_path` is where, as the command sees it; `runner` is null when it is not recognised.
    """

    command: str
    format: str
    result_path: str
    removed_options: tuple[str, ...]
    runner: str | None


@dataclass(frozen=True)
class _Word:
    start: int
    end: int
    value: str  # without quotes, not expanded


@dataclass(frozen=True)
class _Runner:
    """How one test runner is told to write its results, and which options stop it early."""

    name: str
    format: str
    programs: frozenset[str]
    options: Callable[[str], str]  # from the quoted result path
    stops: re.Pattern[str]  # a whole word to remove
    stop_takes_value: re.Pattern[str]  # of these, the ones whose value is the next word
    marker: str | None = None  # an option that must be present; ours are put right behind it


_NEVER = re.compile(r"(?!)")
_RUNNERS = (
    _Runner(
        name="pytest",
        format="junit",
        programs=frozenset({"pytest", "py.test"}),
        # --maxfail=0 overrides a stop that the project's own configuration asks for.
        options=lambda out: f"--junitxml={out} --maxfail=0",
        stops=re.compile(
            r"-[qvsl]*x[qvsl]*|--exitfirst|--maxfail(=.*)?|--(sw|stepwise)(-skip|-reset)?"
        ),
        stop_takes_value=re.compile(r"--maxfail"),
    ),
    _Runner(
        name="vitest",
        format="vitest-json",
        programs=frozenset({"vitest"}),
        options=lambda out: f"--reporter=json --outputFile={out}",
        stops=re.compile(r"--bail(=.*)?"),
        stop_takes_value=re.compile(r"--bail"),
    ),
    _Runner(
        name="jest",
        format="jest-json",
        programs=frozenset({"jest"}),
        options=lambda out: f"--json --outputFile={out}",
        stops=re.compile(r"--bail(=.*)?|-b"),
        stop_takes_value=re.compile(r"--bail|-b"),
    ),
    _Runner(
        name="node",
        format="junit",
        programs=frozenset({"node", "tsx"}),
        # The second reporter shows people, and `traces.of_node_file`, what the first leaves out.
        options=lambda out: (
            f"--test-reporter=junit --test-reporter-destination={out}"
            " --test-reporter=spec --test-reporter-destination=stdout"
        ),
        stops=_NEVER,
        stop_takes_value=_NEVER,
        marker="--test",
    ),
)


def adapt(suite: Suite, result_path: str) -> Adapted:
    """The command of a suite, writing its results to `result_path`.

    Options that stop at the first failure are removed: they would falsify shares (SPEC 6).

    Raises:
        InvalidInputError: the command is opaque and the suite does not say where and in which
            format its results are.
    """
    words = _last_command(suite.command)
    found = _recognise(words)
    runner, index = found if found else (None, 0)
    kept, removed = _without_stops(suite.command, words[index:], runner)
    quoted = shlex.quote(result_path)
    if PLACEHOLDER in suite.command:
        command = kept.replace(PLACEHOLDER, quoted)
    elif suite.result_path is not None:
        command = kept
    elif runner is None:
        raise _opaque(suite)
    else:
        command = _insert(kept, runner, runner.options(quoted))
    chosen = suite.format or (runner.format if runner else None)
    if chosen is None:
        raise InvalidInputError(
            f"suite {suite.name!r} does not say in which format its results are",
            where=f"command: {suite.command}",
            remedy="add 'format' to the suite",
        )
    return Adapted(command, chosen, result_path, removed, runner.name if runner else None)


def _opaque(suite: Suite) -> InvalidInputError:
    return InvalidInputError(
        f"the command of suite {suite.name!r} does not show which test runner it starts",
        where=f"command: {suite.command}",
        remedy="name the runner in the command (pytest, vitest, jest, node --test), or put "
        "{OUT} where the runner takes its result file, or add 'result_path', and say 'format'",
    )


def _last_command(text: str) -> list[_Word]:
    """The words of the last simple command."""
    words: list[_Word] = []
    position = 0
    ended = False
    while position < len(text):
        word = _WORD.match(text, position)
        if word:
            words = [] if ended else words
            ended = False
            words.append(_Word(word.start(), word.end(), _unquoted(word[0])))
            position = word.end()
            continue
        separator = _SEPARATOR.match(text, position)
        ended = ended or separator is not None
        position = separator.end() if separator else position + 1
    return words


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word))
    except ValueError:  # an unclosed quotation mark; the shell will say so
        return word


def _recognise(words: Sequence[_Word]) -> tuple[_Runner, int] | None:
    """The runner of a simple command, and the index of the word that names it."""
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
        for runner in _RUNNERS:
            if _basename(values[index]) in runner.programs and (
                runner.marker is None or runner.marker in values[index:]
            ):
                return runner, index
    return None


def _basename(value: str) -> str:
    return value.rpartition("/")[2]


def _without_stops(
    text: str, words: Sequence[_Word], runner: _Runner | None
) -> tuple[str, tuple[str, ...]]:
    """The text without the runner's options to stop early, and what was removed."""
    removed: list[str] = []
    cuts: list[tuple[int, int]] = []
    for index, word in enumerate(words if runner else ()):
        assert runner is not None  # noqa: S101 - the loop is empty without one
        if not runner.stops.fullmatch(word.value):
            continue
        last = word
        if runner.stop_takes_value.fullmatch(word.value) and index + 1 < len(words):
            following = words[index + 1]
            last = following if following.value.isdigit() else word
        removed.append(text[word.start : last.end])
        cuts.append((word.start, last.end))
    for start, end in reversed(cuts):
        kept_flags = _other_flags(text[start:end])
        before = text[:start] if kept_flags else text[:start].rstrip(" \t")
        text = before + kept_flags + text[end:]
    return text, tuple(removed)


def _other_flags(option: str) -> str:
    """What is left of pytest's joined short options such as `-qx`."""
    if re.fullmatch(r"-[a-z]{2,}", option):
        rest = option[1:].replace("x", "")
        return f"-{rest}" if rest else ""
    return ""


def _insert(text: str, runner: _Runner, options: str) -> str:
    """Put the options where the runner reads options: before its operands or at the end."""
    words = _last_command(text)
    found = _recognise(words)
    assert found is not None  # noqa: S101 - removing options does not hide the runner
    tail = words[found[1] :]
    if runner.marker is not None:
        place = next(word.end for word in tail if word.value == runner.marker)
        return f"{text[:place]} {options}{text[place:]}"
    for word in tail:
        if word.value == "--":
            return f"{text[: word.start]}{options} {text[word.start :]}"
    place = tail[-1].end
    return f"{text[:place]} {options}{text[place:]}"
