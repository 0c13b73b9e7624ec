"""What becomes of results on GitHub: always a summary, and a comment where one may stand.

The summary is written before GitHub is asked anything, so that nothing is lost when it refuses. To
post is never more important than the results: what GitHub refuses is told, and fails nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nanobench.errors import NanobenchError
from nanobench.files import make_directory, write_atomic
from nanobench.github.actions import summary_room, write_summary
from nanobench.github.client import Client, open_client
from nanobench.github.context import Context
from nanobench.github.pull_requests import verified_number
from nanobench.github.review import body, marker, post_review
from nanobench.report.budget import fit

if TYPE_CHECKING:
    from nanobench.report.budget import Part

_FORK = (
    "a pull request from a fork has a token that can only read: the summary holds the result "
    "(docs/github.md shows how a second stage can post it)"
)
_STALE = "the pull request has moved on or is closed: a result of an older commit is not posted"
_NO_PULL_REQUEST = "this event has no pull request: the summary holds the result"


@dataclass(frozen=True)
class Page:
    """What is to be published.

    Attributes:
        key: tells several comments on one pull request apart.
        parts: of the comment, in order.
        where: Markdown that tells where to find what was left out.
        named: the pull request that the user names.
        claimed: the pull request that a foreign artifact claims; never believed, see `_number`.
        summary_only: no comment is asked for.
    """

    key: str
    parts: Sequence[Part]
    where: str
    named: int | None = None
    claimed: int | None = None
    summary_only: bool = False


@dataclass(frozen=True)
class Outcome:
    """What was done: `action` is created, updated, skipped or failed; `told` is for people."""

    action: str
    told: str
    url: str = ""


def write_page(environ: Mapping[str, str], page: Page, file: Path | None) -> None:
    """Put the page into the summary of the job, and into a file if one is named.

    Raises:
        StateError: one of them cannot be written.
    """
    text = fit(page.parts, summary_room(environ), lambda part: len(part.encode()), page.where)
    write_summary(environ, text)
    if file is not None:
        make_directory(file.parent)
        write_atomic(file, body(marker("review", page.key), page.parts, page.where) + "\n")


def publish(
    environ: Mapping[str, str], context: Context, page: Page, author: str | None
) -> Outcome:
    """Post the page where it belongs; whatever GitHub refuses comes back as words.

    Raises:
        UsageError: the key is none.
    """
    mark = marker("review", page.key)
    text = body(mark, page.parts, page.where)
    if page.summary_only:
        return Outcome("skipped", "no comment is asked for: the summary holds the result")
    if context.read_only:
        return Outcome("skipped", _FORK)
    if not _has_pull_request(context, page):
        return Outcome("skipped", _NO_PULL_REQUEST)
    try:
        client = open_client(environ, context, author)
        number = _number(client, context, page)
        if number is None:
            return Outcome("skipped", _STALE)
        posted = post_review(client, number, mark, text)
    except NanobenchError as error:
        return Outcome("failed", str(error))
    return Outcome(posted.action, f"review {posted.action}: {posted.url}", posted.url)


def _has_pull_request(context: Context, page: Page) -> bool:
    if context.triggered_by is not None:
        return context.triggered_by.event == "pull_request"
    return bool(context.pull_request or page.named)


def _number(client: Client, context: Context, page: Page) -> int | None:
    """The pull request to post on; of a run that foreign code had a hand in, GitHub is asked."""
    if context.triggered_by is not None:
        return verified_number(client, context.triggered_by, page.named or page.claimed)
    if page.named is not None or context.pull_request is None:
        return page.named
    return context.pull_request.number
