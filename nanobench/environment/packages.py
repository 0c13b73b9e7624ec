"""Packed builds of Nanocoder: known by their content, so that every machine runs the same one.

A build is named `<version>+sha256.<hash of the archive>`, build metadata as SemVer has it.
"""

import hashlib
import json
import re
import tarfile
from pathlib import Path

from nanobench.environment.tool_run import Tool, run_tool
from nanobench.errors import InvalidInputError
from nanobench.files import make_directory, write_atomic

_BUILD = re.compile(r"(?P<version>[^+]+)\+sha256\.(?P<digest>[0-9a-f]{64})")
_MOST_BYTES = 512 * 1024 * 1024
_MANIFEST = "package/package.json"
_ENTRY = "package/dist/cli.js"
_MOST_MANIFEST = 1024 * 1024


def release_of(version: str) -> str:
    """The released version that a build comes from; a release is its own."""
    build = _BUILD.fullmatch(version)
    return build["version"] if build else version


def digest_of(version: str) -> str | None:
    """The SHA-256 of a build's archive; null of a release."""
    build = _BUILD.fullmatch(version)
    return build["digest"] if build else None


def file_name(digest: str) -> str:
    """What an archive is called wherever it lies."""
    return f"nanocoder-{digest}.tgz"


def take_in(archive: Path, store: Path, package: str) -> str:
    """Put an archive of `npm pack` into `store`; the build's name.

    Raises:
        InvalidInputError: it is no archive of the package, or has not been built.
        StateError: the store cannot be written.
    """
    try:
        if archive.stat().st_size > _MOST_BYTES:
            raise _no_package(archive, "it is larger than 512 MiB")
        content = archive.read_bytes()
        manifest = _manifest(archive)
    except (OSError, tarfile.TarError, ValueError, EOFError) as error:
        raise _no_package(archive, f"it cannot be read: {error}") from None
    if manifest.get("name") != package:
        raise _no_package(archive, f"it holds the package {manifest.get('name')!r}")
    digest = hashlib.sha256(content).hexdigest()
    write_atomic(make_directory(store) / file_name(digest), content)
    return f"{manifest.get('version', '0.0.0')}+sha256.{digest}"


def pack(directory: Path, npm: list[str | Path], scratch: Path) -> Path:
    """`npm pack` of a built checkout; no script of its own is run.

    Raises:
        InvalidInputError: it has not been built.
        EnvironmentSetupError: npm failed.
    """
    if not (directory / "dist" / "cli.js").is_file():
        raise InvalidInputError(
            "Nanocoder has not been built here: there is no dist/cli.js",
            where=str(directory),
            remedy="build it first (`pnpm install && pnpm run build`), or name a version",
        )
    argv = [*npm, "pack", "--ignore-scripts", "--json", "--pack-destination", str(scratch)]
    run_tool(Tool(f"pack {directory}", argv, "see `npm pack`", directory))
    (archive,) = scratch.glob("*.tgz")
    return archive


def _manifest(archive: Path) -> dict[str, object]:
    with tarfile.open(archive, "r:gz") as tar:
        names = {member.name for member in tar if member.isreg()}
        if _ENTRY not in names:
            raise ValueError(f"it has no {_ENTRY}")
        member = tar.getmember(_MANIFEST)
        stream = tar.extractfile(member)
        if stream is None or member.size > _MOST_MANIFEST:
            raise ValueError(f"it has no {_MANIFEST}")
        manifest = json.loads(stream.read())
    if not isinstance(manifest, dict):
        raise ValueError(f"{_MANIFEST} is no object")
    return manifest


def _no_package(archive: Path, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"this is no package of Nanocoder: {what}",
        where=str(archive),
        remedy="make one with `npm pack` in a built checkout",
    )
