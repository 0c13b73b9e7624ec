"""Baselines: the results of a good run, kept, found again, and checked (SPEC H4)."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from nanobench import __version__
from nanobench.errors import HashMismatchError, InvalidInputError, UsageError
from nanobench.files import make_directory, state_error, write_atomic
from nanobench.github.archives import extract, read_document
from nanobench.model.baseline import Baseline, KeptFile
from nanobench.pipeline.records import CELLS, RECORD, records_below
from nanobench.pipeline.store import PLAN, load_results
from nanobench.report.standing import standing

MANIFEST = "baseline.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # the first that a zip archive can hold


def make_baseline(results: Path, out: Path, origin: Mapping[str, str]) -> Baseline:
    """Keep the plan and the standing records of results in `out`, with a table of contents.

    Args:
        results: result directories of one bench, at any depth.
        out: a directory that is empty or absent.
        origin: `repository`, `commit` and `run_url`, as far as they are known.

    Raises:
        UsageError: `out` is not empty.
        InvalidInputError: there is no record, or one that cannot be read.
        StateError: `out` cannot be written.
    """
    found = load_results([results])
    if not found.records or found.problems:
        raise InvalidInputError(
            "a baseline needs records, and all of them readable",
            where=str(results),
            remedy=f"unreadable: {', '.join(found.problems[:3])}" if found.problems else "run them",
        )
    _require_empty(out)
    stands = standing(found.records)[0]
    files: dict[str, bytes] = {PLAN: found.plan.to_json().encode()} if found.plan else {}
    for path, record in records_below(results):
        if not isinstance(record, str) and record == stands[record.cell.cell_id]:
            name = f"{CELLS}/{record.cell.cell_id}/attempt-{record.attempt}/{RECORD}"
            files[name] = path.read_bytes()
    manifest = Baseline(nanobench=__version__, files=_hashes(files), **origin)
    for name, content in files.items():
        make_directory((out / name).parent)
        write_atomic(out / name, content)
    write_atomic(out / MANIFEST, manifest.to_json())
    return manifest


def check_baseline(directory: Path, digest: str | None = None) -> Baseline:
    """A baseline whose files are all there, nothing else is, and every hash is right.

    Raises:
        HashMismatchError: a file or the baseline itself has another hash than was said.
        InvalidInputError: it is no baseline, or its records cannot be read.
    """
    manifest = read_document(directory / MANIFEST, Baseline)
    if digest and digest.removeprefix("sha256:") != manifest.digest():
        raise HashMismatchError(
            f"the baseline has sha256 {manifest.digest()}, asked for was {digest}",
            where=str(directory),
            remedy="ask for the right one, or look at who changed it",
        )
    present = {
        path.relative_to(directory).as_posix(): path
        for path in sorted(directory.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }
    present.pop(MANIFEST)
    if any(path.is_symlink() for path in present.values()) or set(present) != set(manifest.files):
        raise InvalidInputError(
            "the baseline does not hold the files that its table of contents names",
            where=str(directory),
            remedy="make it anew with `nanobench baseline put`",
        )
    for name, path in present.items():
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != manifest.files[name].sha256:
            raise HashMismatchError(
                f"a file of the baseline has sha256 {found}, it says {manifest.files[name].sha256}",
                where=name,
                remedy="make it anew with `nanobench baseline put`",
            )
    problems = load_results([directory]).problems
    if problems:
        raise InvalidInputError(
            f"{len(problems)} records of the baseline cannot be read: {problems[0]}",
            where=str(directory),
            remedy="read it with the version of NanoBench that made it",
        )
    return manifest


def pack(directory: Path, archive: Path) -> None:
    """A zip archive of a baseline; the same baseline gives the same bytes.

    Raises:
        StateError: it cannot be written.
    """
    try:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
            for path in sorted(directory.rglob("*")):
                if path.is_file():
                    entry = zipfile.ZipInfo(path.relative_to(directory).as_posix(), _DATE)
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    entry.external_attr = 0o100644 << 16
                    opened.writestr(entry, path.read_bytes())
    except OSError as error:
        raise state_error(error, archive) from None


def take_in(source: Path, out: Path, digest: str | None = None) -> Baseline:
    """Check a baseline, packed or not, and put it into `out`, whole or not at all.

    Raises:
        UsageError: `out` is not empty.
        InvalidInputError: the archive is hostile, or it is no sound baseline.
        StateError: `out` cannot be written.
    """
    _require_empty(out)
    make_directory(out.parent)
    try:
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".baseline-") as temporary:
            checked = Path(temporary, "baseline")
            if source.is_dir():
                shutil.copytree(source, checked, symlinks=True)
            else:
                extract(source, checked)
            manifest = check_baseline(checked, digest)
            if out.is_dir():
                out.rmdir()
            checked.rename(out)
    except OSError as error:
        raise state_error(error, out) from None
    return manifest


def _hashes(files: Mapping[str, bytes]) -> dict[str, KeptFile]:
    return {
        name: KeptFile(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        for name, content in files.items()
    }


def _require_empty(out: Path) -> None:
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(
            "the directory for the baseline is not empty",
            where=str(out),
            remedy="name one that is empty or absent",
        )
