"""What the two formats of Rust's libtest share: programs, documentation tests, failures.

Ids: `program::path::name`. Cargo names a program as it starts it: `Running unittests src/lib.rs
(target/debug/deps/demo-<hash>)` gives `demo/src/lib.rs`. The name of a documentation test holds
its line, which any edit above moves: it is left out, and tests that then have one name are told
in the order of their lines.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.verify.panics import of_rust_test, without_thread_numbers
from nanobench.verify.results import Failure, outcome

_RUNNING = re.compile(
    r"^ +Running (?:unittests |tests |benches )?(?P<path>\S.*?) "
    r"\((?:.*[/\\])?(?P<name>[^/\\]+?)-[0-9a-f]{16}(?:\.\w+)?\)$"
)
_RUNNING_OLD = re.compile(r"^ +Running (?:.*[/\\])?(?P<name>[^/\\\s]+?)-[0-9a-f]{16}(?:\.exe)?$")
_DOCUMENTATION = re.compile(r"^ +Doc-tests (?P<name>\S+)$")
_LINE = re.compile(r" \(line (?P<line>\d+)\)")
_EXPECTS_PANIC = " - should panic"


@dataclass
class Told:
    """A test as libtest tells it."""

    program: str
    name: str
    status: TestStatus
    seconds: float | None = None
    reason: str | None = None
    output: str | None = None


def program_of(line: str) -> str | None:
    """The label of the program that a line of cargo says it starts."""
    found = _RUNNING.match(line)
    if found:
        place = found["path"].rpartition(" ")[2]
        return f"{found['name']}/{place}"
    old = _RUNNING_OLD.match(line)
    if old:
        return old["name"]
    documentation = _DOCUMENTATION.match(line)
    return f"{documentation['name']} documentation" if documentation else None


def outcomes(tests: Iterable[Told]) -> Iterator[TestOutcome]:
    """The tests by program in the order of their names: libtest tells them as they end."""
    order: dict[str, int] = {}
    listed = list(tests)
    for test in listed:
        order.setdefault(test.program, len(order))
    for test in sorted(listed, key=lambda t: (order[t.program], *_key(t.name))):
        name = _LINE.sub("", test.name).removesuffix(_EXPECTS_PANIC)
        test_id = f"{test.program}::{name}" if test.program else name
        failure = None
        if test.status in ("failed", "error"):
            text = without_thread_numbers(test.output or "")
            kind, message = of_rust_test(text)
            failure = Failure(kind, message or test.reason, text)
        elif test.status == "skipped":
            failure = Failure(None, test.reason)
        yield outcome(test_id, test.status, test.seconds, failure)


def _key(name: str) -> tuple[str, int, str]:
    line = _LINE.search(name)
    return _LINE.sub("", name), int(line["line"][:9]) if line else 0, name
