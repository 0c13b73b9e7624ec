"""The exception that a traceback or a runner's message names.

Sources: pytest's `E   Type: text` lines and its closing `file:line: Type`; CPython's and V8's
last resp. first `Type: text` line; Node's `cause: Type [code]: text`.
"""

import re
import textwrap
from dataclasses import dataclass

_TYPE = r"(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Failure|Timeout|Exit|Interrupt|Warning)"
_HEAD = re.compile(rf"^(?P<type>{_TYPE})(?: \[[^\]\n]*\])?(?::[ \t]*(?P<text>.*))?$", re.MULTILINE)
_PYTEST_LINE = re.compile(r"^E[ \t]+(?P<rest>\S.*)$", re.MULTILINE)
_PYTEST_PLACE = re.compile(r"^[^\n]+:\d+: (?P<type>[A-Za-z_][\w.]*)$")
_PYTEST_PHASE = re.compile(r'^failed on (?:setup|teardown) with "(?P<inner>.*)"$', re.DOTALL)
_NODE_CAUSE = re.compile(
    rf"^[ \t]*cause: (?P<type>{_TYPE})(?: \[[^\]\n]*\])?(?::[ \t]*(?P<text>.*))?$", re.MULTILINE
)
_NODE_HOOK = re.compile(r"^failed running \w+ hook$")
_NODE_FAILING = re.compile(
    r"^test at (?P<file>[^\n]+):\d+:\d+\n✖ (?P<name>[^\n]+?)(?: \([\d.]+ms\))?\n"
    r"(?P<text>(?:  [^\n]*\n|\n)*)",
    re.MULTILINE,
)

_V8_MESSAGES = (
    (re.compile(r" is not a (?:function|constructor)\b| is not iterable\b"), "TypeError"),
    (re.compile(r"^Cannot (?:read|set) propert"), "TypeError"),
    (re.compile(r"^[\w$]+ is not defined$"), "ReferenceError"),
    (re.compile(r" does not provide an export named "), "SyntaxError"),
)
_NODE_MARKS = ("✔", "✖", "▶", "﹣", "⚠", "ℹ")  # noqa: RUF001 - as Node prints them

Named = tuple[str | None, str]


def of_pytest(message: str, details: str) -> Named:
    """Type and message of a pytest failure; the message begins with the type if pytest's does."""
    phase = _PYTEST_PHASE.match(message)
    message = phase["inner"] if phase else message
    place = _PYTEST_PLACE.match(details.strip().rpartition("\n")[2])
    if place:
        return place["type"], message
    named = _HEAD.match(message)
    if named:
        return named["type"], message
    return of_collection(message, details)


def of_collection(message: str, details: str) -> Named:
    """Type and message of a pytest collection error: the last exception among the `E` lines."""
    lines = [match["rest"] for match in _PYTEST_LINE.finditer(details)]
    for index in reversed(range(len(lines))):
        named = _HEAD.match(lines[index])
        if named:
            return named["type"], "\n".join(lines[index:])
    return None, lines[-1] if lines else message


def of_node(message: str, details: str) -> Named:
    """Type and message of a `node --test` failure; its report hides the cause in the details."""
    cause = _NODE_CAUSE.search(details)
    if cause:
        told = cause["text"] if _NODE_HOOK.match(message) and cause["text"] else message
        return cause["type"], f"{cause['type']}: {told}"
    return None, message


def of_javascript(text: str) -> Named:
    """Type and message of a stack, or of a report that has one (Jest's `●` paragraphs)."""
    for line in text.splitlines():
        named = _HEAD.match(line.strip())
        if named:
            return named["type"], line.strip()
    plain = (line.strip() for line in text.splitlines())
    return None, next((line for line in plain if line and not line.startswith("●")), "")


def of_load(text: str) -> Named:
    """Like `of_javascript`, for Vitest, which keeps of a file's error only the message of V8."""
    kind, message = of_javascript(text)
    if kind is None:
        for pattern, known in _V8_MESSAGES:
            if pattern.search(message):
                return known, f"{known}: {message}"
    return kind, message


def of_output(text: str) -> Named | None:
    """The last exception in a command's output, pytest's `E` lines included; None without one."""
    stripped = re.sub(r"^E[ \t]+", "", text, flags=re.MULTILINE)
    found = list(_HEAD.finditer(stripped))
    return (found[-1]["type"], found[-1][0]) if found else None


def of_node_file(output: str, file: str) -> tuple[str | None, str, str] | None:
    """Type, message and text of what ended a file under `node --test`.

    The runner's report says only "test failed"; its `spec` reporter prints what the file's
    process wrote just before the line of the file.

    Args:
        output: what the `spec` reporter wrote.
        file: path of the file, relative to the workspace.
    """
    block: list[str] = []
    for line in output.splitlines():
        if not line.startswith(_NODE_MARKS):
            block.append(line)
            continue
        name = re.sub(r" \([\d.]+ms\).*$", "", line[2:])
        if line[0] == "✖" and name and file.endswith(name.removeprefix("./")):
            text = "\n".join(block).strip()
            named = _HEAD.search(text)
            return (named["type"], named[0], text) if named else None
        block = []
    return None


@dataclass(frozen=True)
class NodeSuite:
    """A `describe` that failed itself, as when its `before` hook threw; its tests never ran."""

    file: str
    name: str
    type: str
    message: str
    text: str

    def holds(self, test_id: str) -> bool:
        """Whether the test of this id stands in it; Node before 24 writes ids without a file."""
        file, colons, title = test_id.rpartition("::")
        return (not colons or file == self.file) and f" > {self.name} > " in f" > {title}"


def of_node_suites(output: str) -> tuple[NodeSuite, ...]:
    """What failed under `node --test` with an exception, from its `spec` reporter's summary.

    Node's report has the tests that a failed hook cancelled, but not the hook's error.
    """
    found = []
    for block in _NODE_FAILING.finditer(output):
        text = textwrap.dedent(block["text"]).strip()
        named = _HEAD.match(text)
        if named:
            place = block["file"].removeprefix("./")
            found.append(NodeSuite(place, block["name"], named["type"], named[0], text))
    return tuple(found)
