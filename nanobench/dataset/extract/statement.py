"""The commit message as the statement of a task: which paragraphs, and their hash."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from nanobench.dataset.clone import Clone, Commit
from nanobench.dataset.extract.template import fills_a_form, says_nothing, without_markup
from nanobench.model.task import Selection, StatementSource
from nanobench.workspace.statement import commit_message, paragraphs, selected


@dataclass(frozen=True)
class Statement:
    """A part of a commit message.

    Args:
        text: the statement.
        message: all paragraphs of the message.
        chosen: the first and the last that the statement has, counted from 1.
    """

    source: StatementSource
    text: str
    message: tuple[str, ...]
    chosen: tuple[int, int]

    @property
    def forms(self) -> list[int]:
        """The numbers of chosen paragraphs that a template asked for."""
        first, last = self.chosen
        marked = list(enumerate(without_markup(self.message), 1))[first - 1 : last]
        return [number for number, words in marked if fills_a_form(words)]


def statement_source(clone: Clone, commit: Commit, wanted: tuple[int, int] | None) -> Statement:
    """The statement of a change.

    Without `wanted` (first and last paragraph, from 1) all paragraphs are taken but the line that
    GitHub writes over a merge commit, and at the end what names people or says nothing.

    Raises:
        InvalidInputError: the message is not UTF-8, or lacks a paragraph.
    """
    message = commit_message(clone.view, commit.sha)
    where = f"the message of commit {commit.sha}"
    found = paragraphs(selected(message, None, where))
    chosen = wanted or _chosen(commit, found)
    whole = chosen == (1, len(found)) and wanted is None
    selection = None if whole else Selection(paragraphs=chosen)
    text = selected(message, selection, where)
    source = StatementSource(
        from_="commit_message",
        commit=commit.sha,
        select=selection,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
    return Statement(source, text, tuple(found), chosen)


def _chosen(commit: Commit, found: Sequence[str]) -> tuple[int, int]:
    first = 2 if commit.title != commit.subject else 1
    last = len(found)
    words = without_markup(found)
    while last > first and says_nothing(words[last - 1]):
        last -= 1
    return first, last
