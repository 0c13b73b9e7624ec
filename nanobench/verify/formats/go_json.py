"""The events of `go test -json`, one JSON object a line (`go doc test2json`).

Ids: `import path::TestName/subtest`. Tests are told by package in the order of its name, then
in the order in which they began: packages run side by side. What go 1.23 and older print of a
failed build stands between the events as plain text.
"""

from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.model.text import clean
from nanobench.verify.failures import of_build
from nanobench.verify.formats.documents import number_of, text_of
from nanobench.verify.formats.lines import Excerpt, json_lines
from nanobench.verify.panics import of_go_test
from nanobench.verify.results import (
    DETAILS_LIMIT,
    Failure,
    ParsedResult,
    ParseError,
    SuiteError,
    bounded,
    numbered,
    outcome,
)

_ENDINGS: dict[str, TestStatus] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_UNFINISHED = "the test began and did not end"


@dataclass
class _Test:
    name: str
    status: TestStatus | None = None
    seconds: float | None = None
    output: Excerpt | None = field(default_factory=lambda: Excerpt(DETAILS_LIMIT))


@dataclass
class _Package:
    name: str
    tests: list[_Test] = field(default_factory=list)
    running: dict[str, _Test] = field(default_factory=dict)
    output: Excerpt = field(default_factory=lambda: Excerpt(2 * DETAILS_LIMIT))
    ending: str | None = None
    failed_build: str | None = None


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read `go test -json`.

    Raises:
        ParseError: the file is not in UTF-8 or holds no event.
    """
    reader = _Reader()
    for item in json_lines(stream):
        if isinstance(item, str):
            reader.plain.add(item + "\n")
        else:
            reader.add(item)
    if not reader.packages and not reader.builds:
        raise ParseError("the file holds no event of `go test -json`", truncated=True)
    packages = [package for _, package in sorted(reader.packages.items())]
    tests = (test for package in packages for test in _outcomes(package))
    errors = tuple(error for package in packages if (error := reader.error_of(package)))
    return ParsedResult(tuple(numbered(tests)), errors)


class _Reader:
    """Gathers events by package."""

    def __init__(self) -> None:
        self.packages: dict[str, _Package] = {}
        self.builds: dict[str, Excerpt] = {}
        self.plain = Excerpt(4 * DETAILS_LIMIT)

    def add(self, event: dict[str, Any]) -> None:
        action, name = text_of(event, "Action"), text_of(event, "Package")
        if action == "build-output":
            build = self.builds.setdefault(text_of(event, "ImportPath"), Excerpt(4 * DETAILS_LIMIT))
            build.add(text_of(event, "Output"))
        if not action or not name:
            return
        package = self.packages.setdefault(name, _Package(name))
        test = text_of(event, "Test")
        if test:
            _add_test(package, test, action, event)
        elif action == "output":
            package.output.add(text_of(event, "Output"))
        elif action in _ENDINGS:
            package.ending = action
            package.failed_build = text_of(event, "FailedBuild") or None

    def error_of(self, package: _Package) -> SuiteError | None:
        """Why a package failed, if not because of tests that ran to their end."""
        output = package.output.text()
        build_failed = "[build failed]" in output or "[setup failed]" in output
        if package.failed_build or build_failed:
            return self._build_error(package)
        lost = [test for test in package.tests if test.status is None]
        failed = any(test.status == "failed" for test in package.tests)
        if package.ending == "fail" and (lost or not failed):
            texts = [test.output.text() for test in lost if test.output] + [output]
            details = "\n".join(texts)
            kind, message = of_go_test(details)
            message = message or "the package failed outside its tests"
        elif package.ending is None:
            kind, message, details = None, "the results of the package end early", output
        else:
            return None
        return SuiteError(clean(package.name), kind, message, bounded(details, DETAILS_LIMIT))

    def _build_error(self, package: _Package) -> SuiteError:
        build = self.builds.get(package.failed_build or "")
        text = build.text() if build else _section(self.plain.text(), package.name)
        found = of_build("go", text)
        if found:
            return replace(found, file=clean(package.name))
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        message = "\n".join(lines[:3]) or package.output.text().strip()
        return SuiteError(clean(package.name), None, message, bounded(text, DETAILS_LIMIT))


def _add_test(package: _Package, name: str, action: str, event: dict[str, Any]) -> None:
    if action in ("run", "bench") and name not in package.running:
        package.running[name] = _Test(name)
        package.tests.append(package.running[name])
    test = package.running.get(name)
    if test is None:
        return
    if action == "output" and test.output:
        test.output.add(text_of(event, "Output"))
    if action in _ENDINGS:
        test.status = _ENDINGS[action]
        test.seconds = number_of(event, "Elapsed")
        if test.status == "passed":
            test.output = None
        del package.running[name]  # `-count=2` begins it again


def _outcomes(package: _Package) -> list[TestOutcome]:
    return [_outcome(package.name, test) for test in package.tests]


def _outcome(package: str, test: _Test) -> TestOutcome:
    test_id = f"{package}::{test.name}"
    if test.status == "passed":
        return outcome(test_id, "passed", test.seconds)
    output = test.output.text() if test.output else ""
    kind, message = of_go_test(output)
    if test.status is None:
        return outcome(test_id, "error", None, Failure(kind, message or _UNFINISHED, output))
    details = output if test.status == "failed" else None
    return outcome(test_id, test.status, test.seconds, Failure(kind, message, details))


def _section(text: str, package: str) -> str:
    """What stands below `# package` in the output of a build, up to the next package."""
    blocks = ("\n" + text).split("\n# ")
    for block in blocks[1:]:
        head, _, body = block.partition("\n")
        if head.split(" ")[0].removesuffix("_test") == package:
            return body
    return text
