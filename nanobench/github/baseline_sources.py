"""Where baselines are kept on GitHub: artifacts of the default branch's runs, and releases."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nanobench.errors import InvalidInputError
from nanobench.github.client import Client, GithubAbsentError
from nanobench.github.downloads import download

if TYPE_CHECKING:
    from collections.abc import Iterator

    from github.Artifact import Artifact
    from github.GitRelease import GitRelease
    from github.GitReleaseAsset import GitReleaseAsset

# Runs of pull requests cannot make a baseline: their code, or their branch, is anyone's.
_TRUSTED_EVENTS = ("push", "release", "schedule", "workflow_dispatch")
_ARTIFACTS_SEEN = 500
_RELEASES_SEEN = 30
LATEST = "latest"


def from_artifact(client: Client, name: str, target: Path) -> str | None:
    """Fetch the artifact `name` of the default branch's last successful run.

    Returns:
        Where it is from, for people; null if there is none.

    Raises:
        InvalidInputError: its content is not what GitHub says.
        InfrastructureError: GitHub refuses or fails.
    """
    found = client.run(lambda: next(_good(client, name), None), "look for a baseline")
    if found is None:
        return None
    download(client, found.archive_download_url, target, found.digest)
    return f"artifact {name} of run {found.raw_data['workflow_run']['id']}"


def from_run(client: Client, run_id: int, name: str, target: Path) -> bool:
    """Fetch the artifact `name` of one run; whether there is one.

    Raises:
        InvalidInputError: its content is not what GitHub says.
        InfrastructureError: GitHub refuses or fails.
    """

    def ask() -> Artifact | None:
        run = client.repository.get_workflow_run(run_id)
        return next((a for a in run.get_artifacts() if a.name == name and not a.expired), None)

    found = client.run(ask, f"look for the artifact {name} of a run")
    if found is None:
        return False
    download(client, found.archive_download_url, target, found.digest)
    return True


def from_release(client: Client, tag: str, name: str, target: Path, own: str = "") -> str | None:
    """Fetch the asset `name` of a release (`latest`: of the newest that has one).

    Args:
        client: of the repository.
        tag: of the release, or `latest`.
        name: of the asset.
        target: the file to write.
        own: the tag of the release that is benched, which `latest` leaves out: GitHub calls it the
            latest as soon as it is published, and it cannot be compared with itself.

    Returns:
        Where it is from, for people; null if there is no such release or asset.

    Raises:
        InvalidInputError: its content is not what GitHub says.
        InfrastructureError: GitHub refuses or fails.
    """

    def ask() -> tuple[GitRelease, GitReleaseAsset] | None:
        found = ((one, _asset(one, name)) for one in _releases(client, tag, own))
        return next(((release, asset) for release, asset in found if asset), None)

    try:
        found = client.run(ask, "look for a baseline")
    except GithubAbsentError:
        return None
    if found is None:
        return None
    release, asset = found
    download(client, asset.url, target, asset.digest)
    return f"asset {name} of release {release.tag_name}"


def to_release(client: Client, tag: str, name: str, archive: Path, digest: str) -> str:
    """Keep an archive as an asset of a release, and say where.

    Raises:
        InvalidInputError: the release has another asset of this name, which is never replaced.
        InfrastructureError: GitHub refuses or fails.
    """

    def keep() -> GitReleaseAsset:
        release = _release(client, tag)
        return _asset(release, name) or release.upload_asset(
            str(archive), name=name, content_type="application/zip"
        )

    kept = client.run(keep, f"keep a baseline at release {tag}")
    if kept.digest and kept.digest != f"sha256:{digest}":
        raise InvalidInputError(
            f"the release {tag} has another asset {name}, with {kept.digest}",
            where=kept.browser_download_url,
            remedy="baselines are never replaced: choose another name, or delete it by hand",
        )
    return kept.browser_download_url


def _good(client: Client, name: str) -> Iterator[Artifact]:
    """Artifacts of successful runs of the default branch itself, the newest first.

    A fork can name its branch like ours: the head's repository tells.
    """
    repository = client.repository
    branch, own = repository.default_branch, repository.id
    for number, artifact in enumerate(repository.get_artifacts(name=name)):
        if number >= _ARTIFACTS_SEEN:
            return
        run = artifact.raw_data.get("workflow_run") or {}
        if artifact.expired or artifact.name != name:
            continue
        if run.get("head_branch") != branch or run.get("head_repository_id") != own:
            continue
        made_by = repository.get_workflow_run(run["id"])
        if made_by.conclusion == "success" and made_by.event in _TRUSTED_EVENTS:
            yield artifact


def _releases(client: Client, tag: str, own: str) -> Iterator[GitRelease]:
    """The release of the tag; for `latest` all that are published, the newest first."""
    if tag != LATEST:
        yield _release(client, tag)
        return
    for release in islice(client.repository.get_releases(), _RELEASES_SEEN):
        if not (release.draft or release.prerelease or release.tag_name == own):
            yield release


def _release(client: Client, tag: str) -> GitRelease:
    repository = client.repository
    return repository.get_latest_release() if tag == LATEST else repository.get_release(tag)


def _asset(release: GitRelease, name: str) -> GitReleaseAsset | None:
    return next((asset for asset in release.get_assets() if asset.name == name), None)
