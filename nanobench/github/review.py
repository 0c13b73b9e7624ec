"""One review per pull request and purpose: found again, and updated in place.

A review is ours if it carries the hidden marker and was written by the login that writes now:
anyone can copy a marker. Two jobs that write at once may both find nothing and both create one;
whoever looks last keeps the oldest and points the others to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanobench.errors import UsageError
from nanobench.github.actions import utf16_bytes
from nanobench.report.budget import Part, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from github.PullRequest import PullRequest
    from github.PullRequestReview import PullRequestReview

    from nanobench.github.client import Client

# GitHub refuses 65,536 characters and more. Counted in UTF-16, which never counts fewer.
BODY_LIMIT = 60_000
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True)
class Published:
    """Where a review or an issue stands, and what was done."""

    url: str
    action: str


def marker(kind: str, key: str) -> str:
    """The hidden first line of what NanoBench writes, by kind and key.

    Raises:
        UsageError: the key is none.
    """
    if not _KEY.fullmatch(key):
        raise UsageError(
            "a key is made of small letters, digits and dashes, 64 at most", where=f"--key {key}"
        )
    return f"<!-- nanobench:{kind} {key} -->"


def body(mark: str, parts: Sequence[Part], where: str) -> str:
    """A text that GitHub takes, with its marker; `where` points to what was left out."""
    return f"{mark}\n{fit(parts, BODY_LIMIT - len(mark) - 1, _units, where)}"


def post_review(client: Client, number: int, mark: str, text: str) -> Published:
    """Create the review of a pull request, or update the one that stands.

    Raises:
        InfrastructureError: GitHub refuses or fails.
    """
    return client.run(
        lambda: _upsert(client, number, mark, text), f"post a review on pull request {number}"
    )


def _upsert(client: Client, number: int, mark: str, text: str) -> Published:
    """Safe to repeat: it looks before it writes, and again after it created something."""
    pull = client.repository.get_pull(number)
    found = _ours(client, pull, mark)
    if not found:
        created = pull.create_review(body=text, event="COMMENT")
        later = {review.id: review for review in (created, *_ours(client, pull, mark, created))}
        found = [later[key] for key in sorted(later)]
        if len(found) == 1:
            return Published(created.html_url, "created")
    first, *copies = found
    if first.body != text:
        first.edit(text)
    for copy in copies:
        copy.edit(f"This result now stands in [another review]({first.html_url}).")
    return Published(first.html_url, "updated")


def _ours(
    client: Client, pull: PullRequest, mark: str, like: PullRequestReview | None = None
) -> list[PullRequestReview]:
    """Reviews with the marker by who writes now (or by who wrote `like`), the oldest first."""
    login = like.user.login if like else client.login
    return sorted(
        (
            review
            for review in pull.get_reviews()
            if (review.body or "").startswith(mark) and _author(review) == login
        ),
        key=lambda review: review.id,
    )


def _author(review: PullRequestReview) -> str | None:
    return review.user.login if review.user else None


def _units(text: str) -> int:
    return utf16_bytes(text) // 2
