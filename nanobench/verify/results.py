"""What a result file says, whatever wrote it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.model.text import clean

MESSAGE_LIMIT = 2000
DETAILS_LIMIT = 4000
LINE_LIMIT = 500
TESTS_LIMIT = 300_000
_FIELDS = set(TestOutcome.model_fields)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}\b")


class ParseError(Exception):
    """A result file that cannot be read as what it should be.

    Args:
        reason: one sentence without a final full stop.
        truncated: the file ends too early, as when its writer was killed.
    """

    def __init__(self, reason: str, *, truncated: bool = False) -> None:
        super().__init__(reason)
        self.truncated = truncated


@dataclass(frozen=True)
class SuiteError:
    """A failure that belongs to no test: a file that could not be collected or loaded.

    `file` is the part of a test id before `::` that the lost tests would have had (a path, or
    a dotted module for pytest); null when the failure concerns the whole suite.
    """

    file: str | None
    type: str | None
    message: str
    details: str | None = None

    def line(self) -> str:
        """One line for people."""
        first = clean(self.message.strip().partition("\n")[0][:LINE_LIMIT])
        return f"{self.file}: {first}" if self.file else first

    def concerns(self, test_id: str) -> bool:
        """Whether the test of this id would have come from the file."""
        if self.file is None:
            return True
        origin = test_id.partition("::")[0]
        return origin == self.file or origin.startswith(self.file + ".")


@dataclass(frozen=True)
class ParsedResult:
    """Tests in the order of the file, and the failures that belong to none of them."""

    tests: tuple[TestOutcome, ...]
    suite_errors: tuple[SuiteError, ...] = ()

    @property
    def errors(self) -> tuple[str, ...]:
        """The suite errors, one line each."""
        return tuple(error.line() for error in self.suite_errors)

    def without(self, root: str) -> "ParsedResult":
        """The same with texts that do not tell where it ran: relative paths, no addresses."""
        return ParsedResult(
            tuple(_without_root(test, root) for test in self.tests),
            tuple(
                replace(
                    error,
                    message=_strip(error.message, root) or "",
                    details=_strip(error.details, root),
                )
                for error in self.suite_errors
            ),
        )


@dataclass(frozen=True)
class Failure:
    """Why a test did not pass, as far as its runner says."""

    type: str | None = None
    message: str | None = None
    details: str | None = None


def outcome(
    test_id: str, status: TestStatus, duration: float | None, failure: Failure | None = None
) -> TestOutcome:
    """An outcome with its texts cleaned and bounded as the record wants them."""
    failure = failure or Failure()
    # Without validation, which these values need not, a test takes a third of the memory.
    return TestOutcome.model_construct(
        _FIELDS,
        id=clean(test_id),
        status=status,
        duration_seconds=duration if duration is not None and 0 <= duration < 1e9 else None,
        error_type=failure.type,
        message=bounded(failure.message, MESSAGE_LIMIT),
        details=bounded(failure.details, DETAILS_LIMIT),
    )


def bounded(text: str | None, limit: int) -> str | None:
    """Stripped text of at most `limit` characters; the middle goes, both ends tell more."""
    if text is None or not text.strip():
        return None
    text = clean(text).strip()
    if len(text) <= limit:
        return text
    gap = "\n[...]\n"
    head = (limit - len(gap)) // 2
    return text[:head] + gap + text[len(text) - (limit - len(gap) - head) :]


def _without_root(test: TestOutcome, root: str) -> TestOutcome:
    if test.message is None and test.details is None:
        return test
    texts = {"message": _strip(test.message, root), "details": _strip(test.details, root)}
    return test.model_copy(update=texts)


def _strip(text: str | None, root: str) -> str | None:
    if text is None:
        return None
    text = _ADDRESS.sub("0x...", text)
    return text if root == "/" else text.replace(f"file://{root}/", "").replace(f"{root}/", "")


def numbered(tests: Iterable[TestOutcome]) -> Iterator[TestOutcome]:
    """Keep tests of the same id apart: the second becomes `id #2`.

    Raises:
        ParseError: there are more than `TESTS_LIMIT`.
    """
    seen: Counter[str] = Counter()
    for place, test in enumerate(tests, start=1):
        check_number(place)
        seen[test.id] += 1
        count = seen[test.id]
        yield test if count == 1 else test.model_copy(update={"id": f"{test.id} #{count}"})


def check_number(tests: int) -> None:
    """Refuse a result with too many tests to be held in memory.

    Raises:
        ParseError: there are more than `TESTS_LIMIT`.
    """
    if tests > TESTS_LIMIT:
        raise ParseError(f"there are more than {TESTS_LIMIT} tests")


def relative(path: str, root: str) -> str:
    """A path as the repository knows it; of a path outside, only the name (no machine path)."""
    pure = PurePosixPath(path.removeprefix("file://"))
    if not pure.is_absolute():
        return str(pure)
    try:
        return str(pure.relative_to(root))
    except ValueError:
        return pure.name
