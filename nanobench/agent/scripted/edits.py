"""Changes of a repository as calls of the agent's own tools.

Text goes through `read_file` and `write_file`, as an agent would do it. What those tools
cannot carry (binary content, modes, links, odd names) goes through `execute_bash`. Limits and
checks named here are those of Nanocoder 1.29 and 1.30.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from posixpath import dirname

from nanobench.agent.scripted.script import Act, ToolCall
from nanobench.workspace.changes import EXECUTABLE, REGULAR, SYMLINK, Change
from nanobench.workspace.paths import parents

_LONGEST_LINE = 10_000  # UTF-16 units; read_file refuses longer ones as minified
_LARGEST_TEXT = 1_000_000  # bytes; larger files are written in pieces
_SHELL_PIECE = 72_000  # bytes, 96,000 in base64: Linux takes 128 KiB in one argument
_CONVERTED = (b".pdf", b".docx")  # read_file shows a conversion of these, not the file
_PLAIN_NAME = re.compile(rb"[A-Za-z0-9._/+@-]+")
_BLOCKED_WORD = re.compile("(mk)(fs)", re.IGNORECASE)  # execute_bash refuses any `mkfs`
_CALLS_PER_STEP = 32
_BYTES_PER_STEP = 1_000_000


@dataclass(frozen=True)
class BaseTree:
    """The tree that the edits start from: its paths, and the content of each file."""

    paths: frozenset[bytes]
    blob: Callable[[bytes], bytes]

    def directories(self) -> set[bytes]:
        """All directories of the tree, without the root."""
        return {parent for path in self.paths for parent in parents(path)}


def edit_calls(changes: Iterable[Change], base: BaseTree) -> tuple[ToolCall, ...]:
    """The calls that turn the base tree into the changed one: deletions first, then by path."""
    ordered = sorted(changes, key=lambda change: change.path)
    deleted = [change for change in ordered if change.mode is None]
    written = [change for change in ordered if change.mode is not None]
    calls = [_delete(change) for change in deleted]
    emptied = {parent for change in deleted for parent in parents(change.path)}
    known = base.directories()
    for change in written:
        if change.path in emptied:
            calls.append(_shell(f'{_variable("p", change.path)} && rm -rf -- "$p"'))
            known.discard(change.path)
        parent = dirname(change.path)
        if parent and parent not in known:
            calls.append(_make_directory(parent))
            known.update(parents(change.path))
        calls.extend(_write(change, base))
    return tuple(calls)


def pack(calls: Iterable[ToolCall]) -> tuple[Act, ...]:
    """Turns of a bounded number of calls and bytes, so that a large change needs few of them."""
    steps: list[Act] = []
    batch: list[ToolCall] = []
    size = 0
    for call in calls:
        weight = sum(len(value) for value in call.arguments.values())
        if batch and (len(batch) == _CALLS_PER_STEP or size + weight > _BYTES_PER_STEP):
            steps.append(Act(tuple(batch)))
            batch, size = [], 0
        batch.append(call)
        size += weight
    return (*steps, Act(tuple(batch))) if batch else tuple(steps)


def by_shell(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    """The same changes without the agent's tools for files."""
    for call in calls:
        path = call.arguments.get("path", "").encode()
        if call.name == "write_file":
            yield from _write_by_shell(path, call.arguments["content"].encode())
        elif call.name == "file_op":
            remove = call.arguments["operation"] == "delete"
            yield _remove(path) if remove else _make_by_shell(path)
        elif call.name != "read_file":
            yield call


def _delete(change: Change) -> ToolCall:
    name = _tool_name(change.path)
    if name is None or change.base_mode == SYMLINK:  # file_op follows links
        return _remove(change.path)
    return ToolCall("file_op", {"operation": "delete", "path": name})


def _make_directory(path: bytes) -> ToolCall:
    name = _tool_name(path)
    if name is None:
        return _make_by_shell(path)
    return ToolCall("file_op", {"operation": "mkdir", "path": name})


def _remove(path: bytes) -> ToolCall:
    return _shell(f'{_variable("p", path)} && rm -f -- "$p"')


def _make_by_shell(path: bytes) -> ToolCall:
    return _shell(f'{_variable("p", path)} && mkdir -p -- "$p"')


def _write(change: Change, base: BaseTree) -> Iterator[ToolCall]:
    assert change.content is not None  # noqa: S101 - `edit_calls` sent deletions elsewhere
    place = _variable("p", change.path)
    if change.mode == SYMLINK:
        target = _variable("t", change.content, prefix=b"")
        yield _shell(f'{place} && {target} && rm -f -- "$p" && ln -s -- "$t" "$p"')
        return
    before = base.blob(change.path) if change.base_mode in (REGULAR, EXECUTABLE) else None
    if change.base_mode == SYMLINK:
        yield _shell(f'{place} && rm -f -- "$p"')
    if change.content != before:
        yield from _write_content(change.path, change.content, before)
    executable = change.mode == EXECUTABLE
    if executable != (change.base_mode == EXECUTABLE):
        yield _shell(f'{place} && chmod {"755" if executable else "644"} -- "$p"')


def _write_content(path: bytes, content: bytes, before: bytes | None) -> Iterator[ToolCall]:
    name = _tool_name(path)
    text = _text(content)
    readable = before is None or _can_be_read(path, before)
    if name is None or text is None or not readable:
        yield from _write_by_shell(path, content)
        return
    if before is not None:
        yield ToolCall("read_file", {"path": name})
    yield ToolCall("write_file", {"path": name, "content": text})


def _write_by_shell(path: bytes, content: bytes) -> Iterator[ToolCall]:
    place = _variable("p", path)
    if not content:
        yield _shell(f'{place} && : > "$p"')
    for start in range(0, len(content), _SHELL_PIECE):
        piece = base64.b64encode(content[start : start + _SHELL_PIECE]).decode()
        piece = _BLOCKED_WORD.sub("\\1\n\\2", piece)  # base64 ignores line ends
        into = ">>" if start else ">"
        yield _shell(f"{place} && printf %s '{piece}' | base64 -d {into} \"$p\"")


def _text(content: bytes) -> str | None:
    """The content as `write_file` can carry it, or None."""
    if len(content) > _LARGEST_TEXT or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _can_be_read(path: bytes, content: bytes) -> bool:
    if path.lower().endswith(_CONVERTED):
        return False
    lines = content.decode(errors="replace").split("\n")
    return all(len(line.encode("utf-16-le")) // 2 <= _LONGEST_LINE for line in lines)


def _tool_name(path: bytes) -> str | None:
    """The path as the file tools take it, or None if they might refuse or change it."""
    try:
        name = path.decode()
    except UnicodeDecodeError:
        return None
    odd = not name.isprintable() or name != name.strip() or "\\" in name
    return None if odd or name.startswith("~") or re.match("[A-Za-z]:/", name) else name


def _variable(name: str, value: bytes, prefix: bytes = b"./") -> str:
    """A shell assignment of any bytes; the prefix keeps dashes from being options."""
    value = prefix + value
    if _PLAIN_NAME.fullmatch(value) and not _BLOCKED_WORD.search(value.decode()):
        return f"{name}='{value.decode()}'"
    octal = "".join(f"\\{byte:03o}" for byte in value)
    return f"{name}=$(printf '{octal}x') && {name}=${{{name}%x}}"  # x: $() eats line ends


def _shell(command: str) -> ToolCall:
    return ToolCall("execute_bash", {"command": command})
