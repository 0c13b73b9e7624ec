"""Files from GitHub: bounded, checked against their digest, and without the token elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import requests
from github.GithubException import GithubException

from nanobench.errors import HashMismatchError, InfrastructureError
from nanobench.files import state_error
from nanobench.github.archives import HostileArchiveError
from nanobench.github.client import TIMEOUT_SECONDS, Client

if TYPE_CHECKING:
    from requests.auth import AuthBase

MOST_BYTES = 256 * 1024 * 1024
_CHUNK = 256 * 1024
_REDIRECTS = 3


def download(client: Client, url: str, target: Path, digest: str | None) -> None:
    """Fetch a file of GitHub's interface into `target`.

    The interface answers with a redirect to a store on another host; that one sees no token.

    Args:
        client: whose token the interface sees.
        url: of the file.
        target: the file to write.
        digest: `sha256:` and the hash that GitHub keeps; null where it keeps none.

    Raises:
        HashMismatchError: the content has another hash.
        HostileArchiveError: it is larger than 256 MiB.
        InfrastructureError: GitHub refuses or fails, or points to an address without TLS.
        StateError: the file cannot be written.
    """
    found = client.run(lambda: _fetch(client, url, target), "download a file")
    if digest and digest.startswith("sha256:") and found != digest.removeprefix("sha256:"):
        raise HashMismatchError(
            f"the file has sha256 {found}, GitHub says {digest}",
            where=url,
            remedy="run the job again; if it stays, the file was tampered with",
        )


def _fetch(client: Client, url: str, target: Path) -> str:
    with _following(client, url) as response:
        if not response.ok:
            headers = dict(response.headers)
            raise GithubException(response.status_code, _error(response), headers)
        try:
            return _save(response, target)
        except OSError as error:
            if isinstance(error, requests.RequestException):
                raise
            raise state_error(error, target) from None


@contextmanager
def _following(client: Client, url: str) -> Iterator[requests.Response]:
    """The answer at the end of the redirects; only the interface itself is shown the token."""
    home = urlsplit(client.api_url)
    for _ in range(_REDIRECTS):
        place = urlsplit(url)
        if place.scheme != "https" and home.scheme == "https":
            raise InfrastructureError("GitHub points to an address without TLS", where=url)
        ours = (place.scheme, place.netloc) == (home.scheme, home.netloc)
        with requests.get(
            url,
            headers={"Accept": "application/octet-stream"},
            auth=_bearer(client.token) if ours else _anonymous,
            allow_redirects=False,
            stream=True,
            timeout=TIMEOUT_SECONDS,
        ) as response:
            if not response.is_redirect:
                yield response
                return
            url = requests.compat.urljoin(url, response.headers["location"])
    raise InfrastructureError("GitHub redirects without end", where=url)


def _bearer(token: str) -> AuthBase:
    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {token}"
        return request

    return sign  # type: ignore[return-value]  # any callable will do


def _anonymous(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request  # without it, requests would look for a password in ~/.netrc


def _save(response: requests.Response, target: Path) -> str:
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as stream:
        for chunk in response.iter_content(_CHUNK):
            size += len(chunk)
            if size > MOST_BYTES:
                raise HostileArchiveError(
                    f"the file is larger than {MOST_BYTES:,} bytes", where=str(target)
                )
            digest.update(chunk)
            stream.write(chunk)
    return digest.hexdigest()


def _error(response: requests.Response) -> dict[str, str]:
    text = response.raw.read(4096, decode_content=True).decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    message = found.get("message") if isinstance(found, dict) else None
    return {"message": str(message or text[:200])}
