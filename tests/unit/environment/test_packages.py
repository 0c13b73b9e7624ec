"""Builds of Nanocoder are known by their content, and what is none is refused."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from nanobench.environment.packages import digest_of, file_name, release_of, take_in
from nanobench.errors import InvalidInputError

PACKAGE = "@nanocollective/nanocoder"


def archive(path: Path, manifest: object, *, built: bool = True) -> Path:
    files = {"package/package.json": json.dumps(manifest).encode()}
    if built:
        files["package/dist/cli.js"] = b"// built"
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def test_a_build_is_named_by_its_release_and_its_hash(tmp_path: Path) -> None:
    packed = archive(tmp_path / "any.tgz", {"name": PACKAGE, "version": "1.31.0"})
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    name = take_in(packed, tmp_path / "store", PACKAGE)
    assert name == f"1.31.0+sha256.{digest}"
    assert (release_of(name), digest_of(name)) == ("1.31.0", digest)
    assert (tmp_path / "store" / file_name(digest)).read_bytes() == packed.read_bytes()


def test_a_release_is_its_own() -> None:
    assert (release_of("1.30.0"), digest_of("1.30.0")) == ("1.30.0", None)
    assert digest_of("1.30.0+sha256.short") is None


@pytest.mark.parametrize(
    ("manifest", "built", "told"),
    [
        ({"name": "left-pad", "version": "1.0.0"}, True, "holds the package 'left-pad'"),
        ({"name": PACKAGE, "version": "1.0.0"}, False, "has no package/dist/cli.js"),
        (["no object"], True, "is no object"),
    ],
)
def test_what_is_no_build_is_refused(
    tmp_path: Path, manifest: object, built: bool, told: str
) -> None:
    with pytest.raises(InvalidInputError, match=told):
        take_in(archive(tmp_path / "a.tgz", manifest, built=built), tmp_path / "store", PACKAGE)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00cut"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match="no package of Nanocoder"):
        take_in(path, tmp_path / "store", PACKAGE)


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        take_in(tmp_path / "none.tgz", tmp_path / "store", PACKAGE)
