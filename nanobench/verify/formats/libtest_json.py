"""The JSON of libtest (`-Z unstable-options --format json`) and of nextest's `libtest-json`.

Ids as in the text of `cargo test` where the lines of cargo that name its programs stand between
the events (stdout and stderr together); nextest says `package::program$name` itself.
"""

from typing import Any, BinaryIO

from nanobench.model.signals import TestStatus
from nanobench.model.text import clean
from nanobench.verify.failures import of_build
from nanobench.verify.formats.documents import number_of, text_of
from nanobench.verify.formats.libtest import Told, outcomes, program_of
from nanobench.verify.formats.lines import Excerpt, json_lines, without_colours
from nanobench.verify.results import (
    DETAILS_LIMIT,
    ParsedResult,
    ParseError,
    SuiteError,
    numbered,
)

_STATUS: dict[str, TestStatus] = {
    "ok": "passed",
    "failed": "failed",
    "ignored": "skipped",
    "timeout": "failed",
}


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read libtest's JSON.

    Raises:
        ParseError: the file is not in UTF-8, or holds no event and no error of a build.
    """
    reader = _Reader()
    for item in json_lines(stream):
        if isinstance(item, str):
            reader.add_line(without_colours(item))
        elif item.get("type") == "suite":
            reader.add_suite(item)
        elif item.get("type") == "test":
            reader.add_test(item)
    return reader.result()


class _Reader:
    def __init__(self) -> None:
        self._label = ""
        self._tests: list[Told] = []
        self._running: dict[str, None] = {}
        self._open = self._seen = False
        self._errors: list[SuiteError] = []
        self._plain = Excerpt(8 * DETAILS_LIMIT)

    def add_line(self, line: str) -> None:
        label = program_of(line)
        if label:
            self._interrupted()
            self._label = label
        else:
            self._plain.add(line + "\n")

    def add_suite(self, event: dict[str, Any]) -> None:
        self._seen = True
        if event.get("event") == "started":
            self._interrupted()
            self._open = True
        else:
            self._open = False
            self._running.clear()

    def add_test(self, event: dict[str, Any]) -> None:
        name, kind = text_of(event, "name"), text_of(event, "event")
        if kind == "started":
            self._running[name] = None
        status = _STATUS.get(kind)
        if status is None or not name:
            return
        self._running.pop(name, None)
        program, dollar, inner = name.partition("$")
        self._tests.append(
            Told(
                program if dollar else self._label,
                inner if dollar else name,
                status,
                number_of(event, "exec_time"),
                text_of(event, "message") or text_of(event, "reason") or None,
                text_of(event, "stdout") or None,
            )
        )

    def result(self) -> ParsedResult:
        self._interrupted()
        error = of_build("rust", self._plain.text())
        if error:
            self._errors.append(error)
        if not self._seen and not self._errors:
            raise ParseError("the file holds no event of libtest", truncated=True)
        return ParsedResult(tuple(numbered(outcomes(self._tests))), tuple(self._errors))

    def _interrupted(self) -> None:
        if self._open:
            names = ", ".join(self._running) or "no test"
            message = clean(f"the test program ended early while it ran {names}"[:DETAILS_LIMIT])
            self._errors.append(SuiteError(self._label or None, "crash", message))
        self._open = False
        self._running.clear()
