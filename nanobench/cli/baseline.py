"""`nanobench baseline`: keep the results of a good run, and find them again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from nanobench.github.client import Client

_NAME = "nanobench-baseline"

name_option = click.option(
    "--name", default=_NAME, show_default=True, help="Of the artifact, or of the release's asset."
)


@click.group()
def baseline() -> None:
    """Keep results to compare with, and find them again."""


@baseline.command()
@click.argument("results", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Where to put it; empty or absent. A workflow uploads it as the artifact of --name.",
)
@click.option("--release", metavar="TAG", help="Keep it as an asset of this release, too.")
@name_option
def put(results: Path, out: Path, release: str | None, name: str) -> None:
    """Keep the plan and the standing records of results, with their hashes.

    Exit codes: 0 kept, 2 usage, 3 the results or their records cannot be read, or the release has
    another baseline, 4 GitHub refuses or a directory cannot be written.
    """
    from nanobench.github.actions import write_outputs
    from nanobench.github.baselines import make_baseline
    from nanobench.github.context import read_context

    context = read_context(os.environ)
    origin = {
        "repository": context.repository,
        "commit": context.sha,
        "run_url": context.run_url,
    }
    made = make_baseline(results, out, origin)
    click.echo(f"baseline: {out}, {len(made.files)} files, sha256 {made.digest()}")
    if release:
        click.echo(f"kept: {_upload(_client(), out, release, name)}")
    write_outputs(os.environ, {"digest": made.digest()})


@baseline.command()
@click.option(
    "--from",
    "source",
    required=True,
    metavar="artifact|release[:TAG]|PATH",
    help="artifact: of the default branch's last successful run; release: an asset of the newest "
    "release that has one, but for the one that a release event is about, or of TAG; else a "
    "directory or an archive.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Where to put it; empty or absent.",
)
@click.option("--digest", metavar="SHA256", help="The hash that `baseline put` told.")
@name_option
def get(source: str, out: Path, digest: str | None, name: str) -> None:
    """Find a baseline, check every hash, and put it into --out.

    Where there is none, this is a first run: that is said, nothing is written, and nothing fails.

    Exit codes: 0 found, or there is none yet, 2 usage, 3 it is hostile, damaged or another one than
    --digest says, 4 GitHub refuses or a directory cannot be written.
    """
    from nanobench.github.actions import write_outputs
    from nanobench.github.baselines import take_in

    with tempfile.TemporaryDirectory(prefix="nanobench-baseline-") as directory:
        archive = Path(directory, "baseline.zip")
        place, origin = _find(source, name, archive)
        if place is None:
            click.echo(f"there is no baseline ({origin}): this is a first run")
            write_outputs(os.environ, {"found": "false", "digest": ""})
            return
        taken = take_in(place, out, digest)
    click.echo(f"baseline: {out}, from {origin}, sha256 {taken.digest()}")
    write_outputs(os.environ, {"found": "true", "digest": taken.digest()})


def _find(source: str, name: str, archive: Path) -> tuple[Path | None, str]:
    """Where the baseline lies now, or null; and where it is from."""
    from nanobench.github.baseline_sources import LATEST, from_artifact, from_release
    from nanobench.github.context import read_context

    kind, _, tag = source.partition(":")
    if source == "artifact":
        origin = from_artifact(_client(), name, archive)
        return (archive if origin else None), origin or f"no artifact {name} of a good run"
    if kind == "release":
        own = read_context(os.environ).release
        origin = from_release(_client(), tag or LATEST, f"{name}.zip", archive, own)
        return (archive if origin else None), origin or f"no asset {name}.zip at {tag or LATEST}"
    path = Path(source)
    return (path if path.exists() else None), str(path)


def _upload(client: Client, directory: Path, tag: str, name: str) -> str:
    import hashlib

    from nanobench.github.baseline_sources import to_release
    from nanobench.github.baselines import pack

    with tempfile.TemporaryDirectory(prefix="nanobench-baseline-") as temporary:
        archive = Path(temporary, f"{name}.zip")
        pack(directory, archive)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        return to_release(client, tag, archive.name, archive, digest)


def _client() -> Client:
    from nanobench.github.client import open_client
    from nanobench.github.context import read_context

    return open_client(os.environ, read_context(os.environ))
