"""One issue per finding: opened once, kept up to date, and left alone when a person closed it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanobench.github.review import Published, body, marker
from nanobench.report.budget import Part

if TYPE_CHECKING:
    from github.Issue import Issue

    from nanobench.github.client import Client

LABEL = "nanobench"


@dataclass(frozen=True)
class Finding:
    """What a scheduled job wants people to look at; `parts` are Markdown without foreign markup."""

    key: str
    title: str
    parts: tuple[Part, ...]
    where: str


def post_finding(client: Client, finding: Finding) -> Published:
    """Open the issue of a finding, or update it.

    An issue that a person closed is opened again only if the finding says something new.

    Raises:
        UsageError: the key is none.
        InfrastructureError: GitHub refuses or fails.
    """
    mark = marker("finding", finding.key)
    text = body(mark, finding.parts, finding.where)
    digest = hashlib.sha256(text.encode()).hexdigest()
    seal = f"<!-- content {digest} -->"  # GitHub may change blanks and line ends of the text
    text = f"{text}\n\n{seal}"
    return client.run(lambda: _upsert(client, finding.title, (mark, seal), text), "post a finding")


def _upsert(client: Client, title: str, signs: tuple[str, str], text: str) -> Published:
    mark, seal = signs
    found = _ours(client, mark)
    if found is None:
        created = client.repository.create_issue(title=title, body=text, labels=[LABEL])
        return Published(created.html_url, "created")
    if seal in (found.body or ""):
        return Published(found.html_url, "unchanged")
    found.edit(title=title, body=text, state="open")
    return Published(found.html_url, "updated")


def _ours(client: Client, mark: str) -> Issue | None:
    """The newest of our issues with the marker, open or closed."""
    login = client.login
    for issue in client.repository.get_issues(state="all", labels=[LABEL]):
        ours = issue.user is not None and issue.user.login == login
        # A listed issue does not say that it is no pull request; its address does.
        if ours and "/issues/" in issue.html_url and (issue.body or "").startswith(mark):
            return issue
    return None
