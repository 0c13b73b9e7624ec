"""The commit message as the statement of a task: which paragraphs, and their hash."""

import hashlib
import re

from nanobench.dataset.clone import Clone, Commit
from nanobench.model.task import Selection, StatementSource
from nanobench.workspace.statement import commit_message, paragraphs, selected

_TRAILER_ONLY = re.compile(
    r"(?i)(co-authored-by|signed-off-by|reviewed-by|acked-by|tested-by|reported-by|helped-by"
    r"|suggested-by|change-id|reviewed-on|cc|pr-url|refs?|git-svn-id|piperorigin-revid): \S"
)
_RULE = re.compile(r"[-*_]{3,}")


def statement_source(
    clone: Clone, commit: Commit, wanted: tuple[int, int] | None
) -> tuple[StatementSource, str]:
    """The source of the statement, and its text.

    Without `wanted` (first and last paragraph, from 1) all paragraphs are taken but the line that
    GitHub writes over a merge commit, and what names people at the end.

    Raises:
        InvalidInputError: the message is not UTF-8, or lacks a paragraph.
    """
    message = commit_message(clone.view, commit.sha)
    where = f"the message of commit {commit.sha}"
    whole = selected(message, None, where)
    chosen = wanted or _chosen(commit, paragraphs(whole))
    selection = Selection(paragraphs=chosen) if chosen else None
    text = selected(message, selection, where)
    source = StatementSource(
        from_="commit_message",
        commit=commit.sha,
        select=selection,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
    return source, text


def _chosen(commit: Commit, found: list[str]) -> tuple[int, int] | None:
    """First and last paragraph; null for the whole message."""
    last = len(found)
    while last > 1 and _names_people(found[last - 1]):
        last -= 1
    merged = len(commit.parents) > 1 and commit.pull is not None
    first = 2 if merged and last > 1 else 1
    return None if (first, last) == (1, len(found)) else (first, last)


def _names_people(paragraph: str) -> bool:
    lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
    return all(_TRAILER_ONLY.match(line) or _RULE.fullmatch(line) for line in lines)
