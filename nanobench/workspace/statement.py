"""The problem statement of a task: text in the task file, or a pinned source (SPEC T2)."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from nanobench.errors import HashMismatchError, InvalidInputError
from nanobench.model.task import Selection, StatementSource, Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.git import run_git

_FIELD = "problem_statement"
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_LINKED = 0o120000


def resolve_statement(task: Task, cache: ObjectCache) -> str:
    """The statement that is given to the agent.

    A string is taken as it stands. A source is read from the pinned repository, LF line ends,
    selected, stripped, and checked against its hash.

    Raises:
        HashMismatchError: the text does not have the hash that the task states.
        InvalidInputError: the source cannot be run, or what it points to is not there.
        RepositoryError: the commit cannot be had.
    """
    source = task.problem_statement
    if isinstance(source, str):
        return source
    where = f"task {task.task_id}, {_FIELD}"
    text = selected(_read(task, source, cache, where), source.select, where)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if digest != source.sha256:
        raise HashMismatchError(
            f"the statement has the SHA-256 {digest}, the task states {source.sha256}",
            where=f"{where}.sha256",
            remedy="check commit, path and select; a published task's hash never changes",
        )
    return text


def selected(content: bytes, selection: Selection | None, where: str) -> str:
    """The part of a source that is a statement, as its hash is taken: LF line ends, stripped.

    Raises:
        InvalidInputError: the source is not UTF-8, or the selected part is not in it.
    """
    text = _normal(content, where)
    if selection is not None:
        text = _select(text, selection, where)
    return text.strip()


def paragraphs(text: str) -> list[str]:
    """The paragraphs that a selection counts."""
    return [part for part in _BLANK.split(text.strip()) if part.strip()]


def _read(task: Task, source: StatementSource, cache: ObjectCache, where: str) -> bytes:
    commit = source.commit or task.base_commit
    if source.from_ == "commit_message":
        return cache.reading(
            task.repo_url, [commit], lambda git_dir: commit_message(git_dir, commit)
        )
    if source.from_ == "file":
        path = source.path or ""
        found = cache.reading(task.repo_url, [commit], lambda git_dir: _file(git_dir, commit, path))
        if found is None:
            raise InvalidInputError(
                f"there is no file {path!r} at commit {commit}", where=f"{where}.path"
            )
        return found
    raise InvalidInputError(
        f"a statement from {source.from_!r} cannot be run, since others can edit it",
        where=f"{where}.from",
        remedy="use a string, 'commit_message' or 'file'",
    )


def commit_message(git_dir: Path, commit: str) -> bytes:
    """The message of a commit, as UTF-8."""
    options = ("-1", "--no-show-signature", "--encoding=UTF-8", "--format=%B")
    return run_git("log", *options, commit, git_dir=git_dir)


def _file(git_dir: Path, commit: str, path: str) -> bytes | None:
    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    listing = run_git("ls-tree", "-z", commit, "--", path, git_dir=git_dir, env=literal)
    head = listing.partition(b"\t")[0].split()
    if len(head) != 3 or head[1] != b"blob" or int(head[0], 8) == _LINKED:
        return None
    return run_git("cat-file", "blob", head[2].decode(), git_dir=git_dir)


def _normal(content: bytes, where: str) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise InvalidInputError("the statement is not UTF-8 text", where=where) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _select(text: str, selection: Selection, where: str) -> str:
    if selection.heading is not None:
        section = _section(text, selection.heading)
        if section is None:
            raise InvalidInputError(
                f"the source has no heading {selection.heading!r}", where=f"{where}.select.heading"
            )
        text = section
    if selection.paragraphs is not None:
        first, last = selection.paragraphs
        found = paragraphs(text)
        if not first <= last <= len(found):
            raise InvalidInputError(
                f"paragraphs {first} to {last} are asked for, the source has {len(found)}",
                where=f"{where}.select.paragraphs",
            )
        text = "\n\n".join(found[first - 1 : last])
    if not text.strip():
        raise InvalidInputError("the selected part is empty", where=f"{where}.select")
    return text


def _section(text: str, heading: str) -> str | None:
    """What stands under a heading, up to the next one of the same or a higher level."""
    lines = text.split("\n")
    start, opened = None, 0
    for line, end, level, title in _headings(lines):
        if start is not None and level <= opened:
            return "\n".join(lines[start:line])
        if start is None and title == heading:
            start, opened = end, level
    return None if start is None else "\n".join(lines[start:])


def _headings(lines: list[str]) -> Iterator[tuple[int, int, int, str]]:
    """First line, line after, level and title of each heading outside fenced code."""
    fence = ""
    for number, line in enumerate(lines):
        marker = _FENCE.match(line)
        if fence:
            if marker and marker[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif marker:
            fence = marker[1]
        elif atx := _ATX.fullmatch(line):
            yield number, number + 1, len(atx[1]), (atx[2] or "").strip()
        elif number and (under := _SETEXT.fullmatch(line)) and _is_title(lines, number - 1):
            yield number - 1, number + 1, 1 if under[1][0] == "=" else 2, lines[number - 1].strip()


def _is_title(lines: list[str], number: int) -> bool:
    """Whether a line is a paragraph of its own, so that an underline makes it a heading."""
    line = lines[number]
    alone = number == 0 or not lines[number - 1].strip()
    return alone and bool(line.strip()) and _ATX.fullmatch(line) is None
