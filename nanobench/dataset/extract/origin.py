"""Which public repository a clone is of."""

import re
from dataclasses import dataclass

from nanobench.dataset.clone import Clone
from nanobench.errors import UsageError
from nanobench.workspace.git import without_credentials

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
_SSH = re.compile(r"(?:ssh://)?git@(github\.com)[:/](.+)")
_HOST = "https://github.com/"
# Words by which GitHub closes an issue from a pull request's text.
_CLOSES = r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:#|%s/issues/)(\d+)\b"
_COMMENT = re.compile(r"(?s)<!--.*?-->")


@dataclass(frozen=True)
class Origin:
    """`owner/name`, and what git clones."""

    repo: str
    url: str

    @property
    def folder(self) -> str:
        """The folder of its task files."""
        return self.repo.replace("/", "-")

    def pull_url(self, number: int | None) -> str | None:
        """The page of a pull request, if the repository lies on GitHub."""
        on_github = number is not None and self.url.startswith(_HOST)
        return f"{self.url}/pull/{number}" if on_github else None

    def issue_url(self, message: str, pull: int | None) -> str | None:
        """The page of the issue that a commit closes, if the repository lies on GitHub."""
        number = closed_issue(message, self.url) if self.url.startswith(_HOST) else None
        return f"{self.url}/issues/{number}" if number not in (None, pull) else None


def closed_issue(text: str, url: str) -> int | None:
    """The first issue that GitHub closes for a text, outside of a template's comments.

    Args:
        url: of the repository.
    """
    found = re.search(_CLOSES % re.escape(url), _COMMENT.sub("", text))
    return int(found[1]) if found else None


def origin_of(clone: Clone, repo: str | None, url: str | None) -> Origin:
    """What was said, else what the clone was made from.

    A URL on GitHub is written in one way, and none holds a name or a password.

    Raises:
        UsageError: neither tells.
    """
    if url is None:
        made_from = clone.origin()
        url = f"{_HOST}{repo}" if repo else made_from and _public(made_from)
    else:
        public = _public(url)
        url = public if public.startswith(_HOST) else without_credentials(url)
    plain = (url or "").rstrip("/").removesuffix(".git")
    name = repo or "/".join(re.split(r"[/:]", plain)[-2:])
    if url is None or not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no 'owner/name'" if name else "the clone does not say where it is from",
            where=str(clone.path),
            remedy="name the repository with --repo OWNER/NAME (and --repo-url)",
        )
    return Origin(name, url)


def _public(url: str) -> str:
    ssh = _SSH.fullmatch(url)
    url = f"https://{ssh[1]}/{ssh[2]}" if ssh else without_credentials(url)
    return url.rstrip("/").removesuffix(".git")
