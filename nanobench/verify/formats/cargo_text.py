"""What `cargo test` prints, stdout and stderr together: stable Rust has nothing else to read.

Only lines between libtest's own `running N tests` and `failures:` count, and their numbers must
agree with libtest's `test result:`: otherwise the suite has an error that says so.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import BinaryIO

from nanobench.model.signals import TestStatus
from nanobench.model.text import clean
from nanobench.verify.failures import of_build
from nanobench.verify.formats.libtest import Told, outcomes, program_of
from nanobench.verify.formats.lines import Excerpt, text_lines, without_colours
from nanobench.verify.results import (
    DETAILS_LIMIT,
    ParsedResult,
    ParseError,
    SuiteError,
    numbered,
)

_BEGIN = re.compile(r"^running (?P<count>\d+) tests?$")
_RESULT = re.compile(
    r"test (?P<name>(?:(?! \.\.\. ).)+) \.\.\. (?P<status>ok|FAILED|ignored(?:, (?P<reason>.*))?)"
    r"(?: <[\d.]+m?s>)?$"
)
_STARTED = re.compile(r"^test (?P<name>(?:(?! \.\.\. ).)+) \.\.\. ")
_LATE = re.compile(r"^(?P<status>ok|FAILED|ignored)$")
_BENCH = re.compile(r"^test (?P<name>.+?) \.\.\. bench: +(?P<reason>.*)$")
_SECTION = re.compile(r"^---- (?P<name>.+?) (?:stdout|stderr) ----$")
_SUMMARY = re.compile(
    r"^test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; "
    r"(?P<ignored>\d+) ignored; (?P<measured>\d+) measured;"
)
_DIED = re.compile(r"process didn't exit successfully: .*\((?P<how>[^()]*)\)$")
_STATUS: dict[str, TestStatus] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


@dataclass
class _Program:
    """One test program that runs, from `running N tests` to `test result:`."""

    label: str
    announced: int
    tests: dict[str, Told] = field(default_factory=dict)
    started: str | None = None
    in_failures: bool = False
    section: str | None = None
    outputs: dict[str, Excerpt] = field(default_factory=dict)


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read the output of `cargo test`.

    Raises:
        ParseError: the file is not in UTF-8, or cargo neither built nor ran anything.
    """
    reader = _Reader()
    for line in text_lines(stream):
        reader.add(without_colours(line))
    return reader.result()


class _Reader:
    def __init__(self) -> None:
        self._label = ""
        self._program: _Program | None = None
        self._tests: list[Told] = []
        self._errors: list[SuiteError] = []
        self._build = Excerpt(8 * DETAILS_LIMIT)
        self._seen = False

    def add(self, line: str) -> None:
        label = program_of(line)
        begin = _BEGIN.match(line)
        if label:
            self._interrupted()
            self._label, self._seen = label, True
        elif begin and not self._program:
            self._seen = True
            self._program = _Program(self._label, int(begin["count"][:9]))
        elif self._program is None:
            self._between(line)
        elif (summary := _SUMMARY.match(line)) and self._ends(self._program, summary):
            self._program = None
        elif self._program.in_failures:
            _read_failure(self._program, line)
        elif line == "failures:":
            self._program.in_failures = True
        elif line.startswith("error: test failed, to rerun"):
            self._interrupted()
        else:
            _read_result(self._program, line)

    def result(self) -> ParsedResult:
        self._interrupted()
        error = of_build("rust", self._build.text())
        if error:
            self._errors.append(error)
        if not self._seen and not self._errors:
            raise ParseError("the file holds no output of `cargo test`", truncated=True)
        return ParsedResult(tuple(numbered(outcomes(self._tests))), tuple(self._errors))

    def _between(self, line: str) -> None:
        died = _DIED.search(line)
        if died and self._errors and self._errors[-1].type == "crash":
            lost = self._errors.pop()
            message = f"the test program ended early: {died['how']}"
            self._errors.append(SuiteError(lost.file, "crash", clean(message), lost.details))
        else:
            self._build.add(line + "\n")

    def _ends(self, program: _Program, summary: re.Match[str]) -> bool:
        """Whether this is the program's own summary; what its tests print may look like one."""
        told = Counter(test.status for test in program.tests.values())
        passed = int(summary["passed"][:9]) + int(summary["measured"][:9])
        said = (passed, int(summary["failed"][:9]), int(summary["ignored"][:9]))
        found = (told["passed"], told["failed"], told["skipped"])
        if found == said:
            self._keep(program)
            return True
        if not program.in_failures:
            message = f"cargo counts {said} passed, failed, ignored, and tells {found}"
            self._errors.append(SuiteError(program.label or None, None, message))
            self._keep(program)
        return not program.in_failures

    def _interrupted(self) -> None:
        """The program that ran is gone without its `test result:`."""
        program, self._program = self._program, None
        if program is None:
            return
        missing = program.announced - len(program.tests)
        message = f"the test program ended early, {missing} of {program.announced} tests not told"
        self._errors.append(SuiteError(program.label or None, "crash", message))
        self._keep(program)

    def _keep(self, program: _Program) -> None:
        for test in program.tests.values():
            output = program.outputs.get(test.name)
            test.output = output.text() if output else None
            self._tests.append(test)


def _read_result(program: _Program, line: str) -> None:
    result, bench = _RESULT.search(line), _BENCH.match(line)
    late = _LATE.match(line) if program.started else None
    started = _STARTED.match(line)
    if result:
        status = _STATUS[result["status"].partition(",")[0]]
        _tell(program, result["name"], status, result["reason"])
    elif bench:
        _tell(program, bench["name"], "passed", bench["reason"])
    elif late and program.started:
        _tell(program, program.started, _STATUS[late["status"]], None)
    elif started:  # with `--nocapture` a test prints before its result
        program.started = started["name"]


def _tell(program: _Program, name: str, status: TestStatus, reason: str | None) -> None:
    program.tests[name] = Told(program.label, name, status, reason=reason)
    program.started = None


def _read_failure(program: _Program, line: str) -> None:
    section = _SECTION.match(line)
    if section:
        program.section = section["name"]
    elif line == "failures:":  # the list of names at the end
        program.section = None
    elif program.section is not None:
        name = _told_name(program, program.section)
        program.outputs.setdefault(name, Excerpt(DETAILS_LIMIT)).add(line + "\n")


def _told_name(program: _Program, name: str) -> str:
    """The name in the list of results, which says as well that a panic is expected."""
    return name if name in program.tests else f"{name} - should panic"
