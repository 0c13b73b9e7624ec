"""How test runners are told to write their results, and which options stop them early."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from nanobench.model.task import ResultFormat

Options = Callable[[str, Sequence[str]], str]
"""From the quoted result path and the words of the command to the options that are added."""

NEVER = re.compile(r"(?!)")
_JUNIT_FILES = "TEST-*.xml"
# Beside those of Surefire, TestNG writes reports of its own on the same tests: `junitreports`.
_NO_REPORTS = (".git", "node_modules", "junitreports")


@dataclass(frozen=True)
class Runner:
    """One test runner.

    Attributes:
        subcommands: words that must follow the program, options between them aside.
        marker: an option that must be present.
        options: put behind the marker or the last subcommand, or, if `at_end`, behind the last
            word (before a `--`).
        stops: whole words to remove: they stop early, or hide single results.
        stop_takes_value: of these, the ones whose value is the next word.
        instead: what takes the place of a removed word, from that word and all words.
        output: which streams are the result; they are shown to people afterwards.
        reports: directories in which the runner writes JUnit files, as patterns of `find`.
        before: shell text to run first, from the quoted result path.
    """

    name: str
    format: ResultFormat
    programs: frozenset[str]
    options: Options
    stops: re.Pattern[str] = NEVER
    stop_takes_value: re.Pattern[str] = NEVER
    instead: Callable[[str, Sequence[str]], str] = lambda _, __: ""
    subcommands: tuple[frozenset[str], ...] = ()
    marker: str | None = None
    at_end: bool = True
    output: Literal["none", "stdout", "both"] = "none"
    reports: tuple[str, ...] = ()
    before: Callable[[str], str] | None = None

    def place(self, values: Sequence[str]) -> int | None:
        """Index of the word behind which its options go; null if the words are not its own.

        Args:
            values: the words from the program on.
        """
        if self.marker is not None:
            return values.index(self.marker) if self.marker in values else None
        index = 0
        for names in self.subcommands:
            index += 1
            while index < len(values) and values[index].startswith(("-", "+")):
                index += 1
            if index >= len(values) or values[index] not in names:
                return None
        return index


def _pytest_flags(option: str, _: Sequence[str]) -> str:
    """What is left of joined short options such as `-qx`."""
    rest = option[1:].replace("x", "") if re.fullmatch(r"-[a-z]{2,}", option) else ""
    return f"-{rest}" if rest else ""


_IN_ONE_PROCESS = re.compile(r"--(?:experimental-)?test-isolation[= ]none\b")
# A file ends a second after its last test, if something that it left open keeps it from ending.
_NODE_ENDS = (
    'data:text/javascript,import{after}from"node:test";process.env.NODE_TEST_CONTEXT'
    "&&after(()=>{setTimeout(()=>process.exit(),1e3).unref()})"
)


def _node_ends(option: str, words: Sequence[str]) -> str:
    """The file of a forced exit ends before its results have reached the runner.

    https://github.com/nodejs/node/issues/64833; not so where all files run in one process.
    """
    in_one_process = _IN_ONE_PROCESS.search(" ".join(words))
    return option if in_one_process else f"--import {shlex.quote(_NODE_ENDS)}"


def _unless(given: re.Pattern[str], option: str) -> Options:
    """The option, unless the command has one that matches: some may be given only once."""
    return lambda _, words: "" if any(given.fullmatch(word) for word in words) else option


def _go(_: str, words: Sequence[str]) -> str:
    # Results that Go kept from an earlier run would prove nothing.
    counted = any(re.fullmatch(r"--?(?:test\.)?count(?:=.*)?", word) for word in words)
    return "-json" if counted else "-json -count=1"


def _gradle(_: str, words: Sequence[str]) -> str:
    wanted = ("--continue", "--no-build-cache")  # a cache gives results without a run
    return " ".join(option for option in wanted if option not in words)


def _nextest(out: str, words: Sequence[str]) -> str:
    keeps_on = "" if "--no-fail-fast" in words else "--no-fail-fast "
    return f"{keeps_on}--tool-config-file nanobench:{out}.toml"


def _nextest_configuration(out: str) -> str:
    template = shlex.quote('[profile.default.junit]\npath = "%s"\n')
    return f"printf {template} {out} > {out}.toml"


_FAIL_FAST = re.compile(r"--no-fail-fast")

RUNNERS = (
    Runner(
        name="pytest",
        format="junit",
        programs=frozenset({"pytest", "py.test"}),
        # --maxfail=0 overrides a stop that the project's own configuration asks for.
        options=lambda out, _: f"--junitxml={out} --maxfail=0",
        stops=re.compile(
            r"-[qvsl]*x[qvsl]*|--exitfirst|--maxfail(=.*)?|--(sw|stepwise)(-skip|-reset)?"
        ),
        stop_takes_value=re.compile(r"--maxfail"),
        instead=_pytest_flags,
    ),
    Runner(
        name="vitest",
        format="vitest-json",
        programs=frozenset({"vitest"}),
        options=lambda out, _: f"--reporter=json --outputFile={out}",
        stops=re.compile(r"--bail(=.*)?"),
        stop_takes_value=re.compile(r"--bail"),
    ),
    Runner(
        name="jest",
        format="jest-json",
        programs=frozenset({"jest"}),
        options=lambda out, _: f"--json --outputFile={out}",
        stops=re.compile(r"--bail(=.*)?|-b"),
        stop_takes_value=re.compile(r"--bail|-b"),
    ),
    Runner(
        name="mocha",
        format="mocha-json",
        programs=frozenset({"mocha", "_mocha"}),
        options=lambda out, _: f"--reporter json --reporter-option output={out}",
        stops=re.compile(r"--bail|-b"),
    ),
    Runner(
        name="node",
        format="junit",
        programs=frozenset({"node", "tsx"}),
        # The second reporter shows people, and `traces.of_node_file`, what the first leaves out.
        options=lambda out, _: (
            f"--test-reporter=junit --test-reporter-destination={out}"
            " --test-reporter=spec --test-reporter-destination=stdout"
        ),
        stops=re.compile(r"--test-force-exit"),
        instead=_node_ends,
        marker="--test",
        at_end=False,
    ),
    Runner(
        name="go",
        format="go-json",
        programs=frozenset({"go"}),
        subcommands=(frozenset({"test"}),),
        options=_go,
        stops=re.compile(r"--?(?:test\.)?failfast(?:=.*)?"),
        at_end=False,
        output="both",  # Go 1.23 and older tell a failed build on stderr only
    ),
    Runner(
        name="gotestsum",
        format="junit",
        programs=frozenset({"gotestsum"}),
        options=lambda out, _: f"--junitfile={out}",
        stops=re.compile(r"--?(?:test\.)?failfast(?:=.*)?|--max-fails=.*"),
        at_end=False,
    ),
    Runner(
        name="cargo-nextest",
        format="junit",
        programs=frozenset({"cargo", "cargo-nextest"}),
        subcommands=(frozenset({"nextest"}), frozenset({"run", "r"})),
        options=_nextest,
        stops=re.compile(r"--fail-fast|--ff|--max-fail(=.*)?"),
        stop_takes_value=re.compile(r"--max-fail"),
        at_end=False,
        before=_nextest_configuration,
    ),
    Runner(
        name="cargo",
        format="cargo-text",
        programs=frozenset({"cargo"}),
        subcommands=(frozenset({"test", "t"}),),
        options=_unless(_FAIL_FAST, "--no-fail-fast"),
        stops=re.compile(r"-q|--quiet|--format=(?:terse|junit)"),
        at_end=False,
        output="both",
    ),
    Runner(
        name="maven",
        format="junit",
        programs=frozenset({"mvn", "mvnw", "mvnd"}),
        options=_unless(re.compile(r"-f(?:ae|n)|--fail-(?:at-end|never)"), "--fail-at-end"),
        stops=re.compile(r"-ff|--fail-fast|-D(?:surefire|failsafe)\.skipAfterFailureCount=.*"),
        reports=("*/surefire-reports/*", "*/failsafe-reports/*"),
    ),
    Runner(
        name="gradle",
        format="junit",
        programs=frozenset({"gradle", "gradlew"}),
        options=_gradle,
        stops=re.compile(r"--fail-fast|--no-continue"),
        reports=("*/test-results/*",),
    ),
    Runner(
        name="ctest",
        format="junit",
        programs=frozenset({"ctest"}),
        options=lambda out, _: f"--output-junit {out}",
        stops=re.compile(r"--stop-on-failure"),
    ),
    Runner(
        name="phpunit",
        format="junit",
        programs=frozenset({"phpunit"}),
        options=lambda out, _: f"--log-junit {out}",
        stops=re.compile(r"--stop-on-[a-z]+(?:=.*)?"),
    ),
    Runner(
        name="tap",
        format="tap",
        programs=frozenset({"tape"}),
        options=lambda *_: "",
        output="stdout",
    ),
    Runner(
        name="ava",
        format="tap",
        programs=frozenset({"ava"}),
        options=_unless(re.compile(r"--tap|-t"), "--tap"),
        stops=re.compile(r"--fail-fast"),
        output="stdout",
    ),
    Runner(
        name="bats",
        format="tap",
        programs=frozenset({"bats"}),
        options=lambda *_: "--formatter tap",
        at_end=False,
        output="stdout",
    ),
)


def clear_reports(patterns: Sequence[str]) -> str:
    """Shell text that removes reports that an earlier run, or the agent, left below here."""
    return f"{_find(patterns)} -exec rm -f {{}} +"


def collect_reports(patterns: Sequence[str], out: str) -> str:
    """Shell text that copies the reports below here into the directory `out` (quoted).

    Links are copied as links, which nobody follows afterwards.
    """
    copy = 'for f do mkdir -p "$0/${f%/*}" && cp -P "$f" "$0/$f"; done'
    return f"{_find(patterns)} -exec sh -c '{copy}' {out} {{}} +"


def _find(patterns: Sequence[str]) -> str:
    paths = " -o ".join(f"-path '{pattern}'" for pattern in patterns)
    pruned = " -o ".join(f"-name {name}" for name in _NO_REPORTS)
    return f"find . \\( {pruned} \\) -prune -o -type f -name '{_JUNIT_FILES}' \\( {paths} \\)"
