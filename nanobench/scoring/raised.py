"""Which exception ended a test, read from what its runner wrote about it.

The exception must stand where the runner puts it: at the head of the message, or at the head of
the last error in the details. Text that only quotes an exception (an assertion about an error
message, `pytest.raises`, the cause of another exception) is not one.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from nanobench.model.signals import TestOutcome

Runtime = Literal["python", "javascript", "go", "rust", "java"]

RUNTIMES: Mapping[str, Runtime] = MappingProxyType(
    {
        "python": "python",
        "javascript": "javascript",
        "typescript": "javascript",
        "svelte": "javascript",
        "vue": "javascript",
        "go": "go",
        "rust": "rust",
        "java": "java",
    }
)
"""What runs the tests of a suite, by its language in lower case."""


@dataclass(frozen=True)
class Raised:
    """An exception: its name without module path, and its message (may have several lines).

    The name is empty where a runner keeps only the message (Vitest, of type checks and imports).
    """

    name: str
    text: str

    @property
    def is_assertion(self) -> bool:
        """Whether the test says by it that a value is not as it should be."""
        return _ASSERTION.fullmatch(self.name) is not None


# Assertions by other names: `pytest.fail`, JUnit 4, opentest4j and AssertJ, Mockito.
_ASSERTION = re.compile(
    r"Assert\w*|Failed|\w*ComparisonFailure|\w*MultipleFailuresError|SoftAssertionError"
    r"|WantedButNotInvoked|NeverWantedButInvoked|Too(?:Many|Few|Little)ActualInvocations"
    r"|ArgumentsAreDifferent|NoInteractionsWanted"
)
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TYPE_NAME = re.compile(r"(?:\w+[.$])*(?P<name>[A-Z]\w*)\Z")

# pytest's JUnit message of a fixture that fails.
_FIXTURE = re.compile(r'failed on (?:setup|teardown) with "(?P<error>.*)"\Z', re.DOTALL)
_PYTHON_HEAD = re.compile(r"(?:\w+\.)*(?P<name>[A-Z]\w*)(?:: (?P<text>.*)|\Z)", re.DOTALL)
_PYTEST_LINE = re.compile(r"E(?: {3,}(?P<text>.*)| *\Z)")
_PYTEST_MARK = re.compile(r"^E(?: {3}|$)", re.MULTILINE)
_BARE_ASSERT = re.compile(r"assert\b|\[XPASS\(strict\)\]")
_TRACEBACK = "Traceback (most recent call last):"
_TRACEBACK_HEAD = re.compile(
    r"(?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt|Iteration|Warning|Failed)(?:: |\Z)"
)

# `TypeError: text`, `TypeError [ERR_CODE]: text`, `Uncaught TypeError: text`.
_SCRIPT_HEAD = re.compile(r"(?:Uncaught )?(?P<name>[A-Z]\w*)(?: \[\w+\])?: (?P<text>.*)", re.DOTALL)
# node:test wraps what a test threw: `cause: TypeError: text`, `cause: TypeError [Error]: text`.
_NODE_CAUSE = re.compile(r"^  cause: (?P<error>[A-Z]\w*(?: \[\w+\])?: .*)$", re.MULTILINE)
# Jest's assertions, and Vitest's about snapshots, counts and promises, are plain errors.
_SCRIPT_ASSERTION = re.compile(
    r"expect(?:\(|\.)|Snapshot `|expected (?:number of|any number of) assertion"
    r"|promise (?:resolved|rejected) "
)
_MOCHA_HOOK = re.compile(
    r'\A[^\n]*"(?:before|after) (?:each|all)" hook(?:: [^\n]*?)?(?: (?:for|in) "[^\n]*?")?: '
    r"(?=[A-Z]\w*(?: \[\w+\])?: )"
)

# The runtime prints it at the end; a test that recovers it prints it as well.
_GO_PANIC = re.compile(r"^\s*panic: (?P<text>.*?)(?: \[recovered[^\]\n]*\])?$", re.MULTILINE)
# Before Rust 1.73 the message stood in front of the place, in quotation marks.
_RUST_PANIC = re.compile(
    r"^thread '[^\n]*' (?:\(\d+\) )?panicked at "
    r"(?:'(?P<before>(?s:.*?))', [^\n]+:\d+|[^\n]+:\d+:\n(?P<after>.*))$",
    re.MULTILINE,
)
_RUST_NO_PANIC = re.compile(r"note: test did not panic as expected")
_JAVA_HEAD = re.compile(r"(?:\w+[.$])*(?P<name>[A-Z]\w*)(?:: (?P<text>.*)|\Z)", re.DOTALL)
_JAVA_CAUSE = re.compile(r"^Caused by: (?P<error>.*)$", re.MULTILINE)
# What says nothing of its own: the JVM, reflection and executors wrap what was thrown in them.
_JAVA_CARRIERS = frozenset(
    {
        "CompletionException",
        "ExceptionInInitializerError",
        "ExecutionException",
        "InvocationTargetException",
        "UndeclaredThrowableException",
    }
)


def raised(language: str, test: TestOutcome) -> Raised | None:
    """The exception that ended `test`, or None if none can be told.

    Args:
        language: of the suite; upper and lower case are the same.
        test: an outcome in any state.
    """
    runtime = RUNTIMES.get(language.casefold())
    if runtime is None:
        return None
    message = ANSI.sub("", test.message or "").strip()
    details = ANSI.sub("", test.details or "")
    found = _READERS[runtime](_exception_name(test.error_type), message, details)
    if found is None and runtime == "go" and test.status == "failed":
        return Raised("AssertionError", message)  # Go's tests fail by saying so, not by a panic
    return found


def _exception_name(error_type: str | None) -> str | None:
    """The type as an exception's name; None for a runner's own word (`testCodeFailure`)."""
    found = _TYPE_NAME.match(error_type or "")
    return found["name"] if found else None


def _from_head(head: re.Match[str] | None) -> Raised | None:
    return Raised(head["name"], head["text"] or "") if head else None


def _typed(name: str, message: str, head: Raised | None) -> Raised:
    """The runner named the exception; the message may repeat the name."""
    return head if head and head.name == name else Raised(name, message)


def _read_python(name: str | None, message: str, details: str) -> Raised | None:
    fixture = _FIXTURE.match(message)
    message = fixture["error"] if fixture else message
    head = _from_head(_PYTHON_HEAD.match(message))
    if name:
        return _with_rest(_typed(name, message, head), details)
    if _BARE_ASSERT.match(message):  # pytest shows a rewritten assertion without its type
        return Raised("AssertionError", message)
    return head or _python_details(details)


def _with_rest(error: Raised, details: str) -> Raised:
    """A message of one line whose further lines stand in a command's output (pydantic's)."""
    if "\n" in error.text:
        return error
    plain = _PYTEST_MARK.sub("", details)
    _, found, after = plain.rpartition(f"{error.name}: {error.text}\n")
    rest = after.partition("\n\n")[0]
    told = found and rest and not rest.startswith("\n")  # else pytest's place of the error follows
    return Raised(error.name, f"{error.text}\n{rest}") if told else error


def _python_details(details: str) -> Raised | None:
    """The last `E` block of pytest, else the head after the last traceback."""
    blocks: list[list[str]] = []
    inside = False
    for line in details.splitlines():
        marked = _PYTEST_LINE.match(line)
        if marked and not inside:
            blocks.append([])
        if marked:
            blocks[-1].append(marked["text"] or "")
        inside = marked is not None
    if blocks:
        return _from_head(_PYTHON_HEAD.match("\n".join(blocks[-1])))
    lines = details.rpartition(_TRACEBACK)[2].splitlines()
    heads = [at for at, line in enumerate(lines) if _TRACEBACK_HEAD.match(line)]
    return _from_head(_PYTHON_HEAD.match("\n".join(lines[heads[0] :]))) if heads else None


def _read_script(name: str | None, message: str, details: str) -> Raised | None:
    found = _script_error(name, _MOCHA_HOOK.sub("", message), details)
    if found and found.name == "Error" and _SCRIPT_ASSERTION.match(found.text):
        return Raised("AssertionError", found.text)
    return found


def _script_error(name: str | None, message: str, details: str) -> Raised | None:
    head = _from_head(_SCRIPT_HEAD.match(message))
    if name and name != "Error":
        return _typed(name, message, head)
    if head and head.name != "Error":
        return head
    cause = _NODE_CAUSE.search(details)
    if cause:
        return _from_head(_SCRIPT_HEAD.match(cause["error"]))
    heads = (_from_head(_SCRIPT_HEAD.match(line)) for line in details.splitlines())
    found = next((found for found in heads if found), head)
    if found is None and name is None and message and details.strip() in ("", message):
        return Raised("", message)
    return found


def _read_go(name: str | None, message: str, details: str) -> Raised | None:
    for text in (details, message):
        panics = list(_GO_PANIC.finditer(text))
        if panics:
            return Raised("panic", panics[0]["text"])
    return None


def _read_rust(name: str | None, message: str, details: str) -> Raised | None:
    panic = _RUST_PANIC.search(details) or _RUST_PANIC.search(message)
    if panic is None:
        return Raised("AssertionError", message) if _RUST_NO_PANIC.match(message) else None
    text = panic["before"] or panic["after"] or ""
    return Raised("AssertionError" if text.startswith("assertion") else "panic", text)


def _read_java(name: str | None, message: str, details: str) -> Raised | None:
    """JUnit's reports name the type apart; a stack begins with it."""
    head = _from_head(_JAVA_HEAD.match(message))
    if name:
        found: Raised | None = _typed(name, message, head)
    else:
        found = head or _from_head(_JAVA_HEAD.match(details.strip().partition("\n")[0]))
    for cause in _JAVA_CAUSE.finditer(details):
        if found is None or found.name not in _JAVA_CARRIERS:
            break
        found = _from_head(_JAVA_HEAD.match(cause["error"])) or found
    return found


_READERS: Mapping[Runtime, Callable[[str | None, str, str], Raised | None]] = MappingProxyType(
    {
        "python": _read_python,
        "javascript": _read_script,
        "go": _read_go,
        "rust": _read_rust,
        "java": _read_java,
    }
)
