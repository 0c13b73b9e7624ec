"""Archives and documents that a hostile job could leave."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.errors import InvalidInputError
from nanobench.github.archives import Bounds, HostileArchiveError, extract, read_document
from nanobench.model.gate import GateResult

Pack = Callable[..., Path]


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """`pack({name: content}, mode=...)`: an archive with these entries."""

    def make(files: dict[str, bytes], mode: int = 0o100644) -> Path:
        path = tmp_path / "made.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                entry = zipfile.ZipInfo(name)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = mode << 16
                archive.writestr(entry, content)
        return path

    return make


def test_a_sound_archive_is_unpacked(tmp_path: Path, pack: Pack) -> None:
    extract(pack({"plan.json": b"{}", "cells/a-1/record.json": b"x"}), tmp_path / "out")
    assert (tmp_path / "out/cells/a-1/record.json").read_bytes() == b"x"


@pytest.mark.parametrize(
    "name",
    [
        *("../evil", "a/../../evil", "/etc/evil", "a//b", "./a", "a\\..\\evil", "C:evil"),
        *("a/./b", "new\nline", "x" * 300, "/".join("abcdefghijklmnop")),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_and_nothing_is_written(
    tmp_path: Path, pack: Pack, name: str
) -> None:
    before = sorted(path.name for path in tmp_path.parent.iterdir())
    with pytest.raises(HostileArchiveError):
        extract(pack({"fine": b"1", name: b"2"}), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert sorted(path.name for path in tmp_path.parent.iterdir()) == before


@pytest.mark.parametrize("mode", [0o120777, 0o060644, 0o010644])
def test_links_and_devices_are_refused(tmp_path: Path, pack: Pack, mode: int) -> None:
    with pytest.raises(HostileArchiveError, match="link"):
        extract(pack({"plan.json": b"/etc/passwd"}, mode), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_no_text_is_refused(tmp_path: Path, pack: Pack) -> None:
    archive = pack({"caf\u00e9.json": b"{}"})
    archive.write_bytes(archive.read_bytes().replace("\u00e9".encode(), b"\xff\xfe"))
    with pytest.raises(HostileArchiveError):
        extract(archive, tmp_path / "out")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_no_job_of_github_packs_so_is_refused(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "made.zip", "w", method) as archive:
        archive.writestr("plan.json", b"{}")
    with pytest.raises(HostileArchiveError, match="unusual"):
        extract(tmp_path / "made.zip", tmp_path / "out")


@pytest.fixture
def declared(tmp_path: Path) -> Callable[[int], Path]:
    """`declared(n)`: a million zeros that say they are `n` bytes."""

    def make(size: int) -> Path:
        path = tmp_path / "declared.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb", b"\0" * 1_000_000)
            archive.filelist[0].file_size = size  # of the directory that is written at the end
        return path

    return make


def test_a_bomb_of_ten_gigabytes_is_refused_before_a_byte_of_it_is_unpacked(
    tmp_path: Path, declared: Callable[[int], Path]
) -> None:
    with pytest.raises(HostileArchiveError, match="10,737,418,240 bytes"):
        extract(declared(10 * 1024**3), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_entry_that_holds_more_than_it_declares_is_refused(
    tmp_path: Path, declared: Callable[[int], Path]
) -> None:
    with pytest.raises(HostileArchiveError, match="sound"):
        extract(declared(10), tmp_path / "out")
    assert (tmp_path / "out/bomb").stat().st_size <= 10


def test_bounds_hold_for_files_bytes_and_doubles(tmp_path: Path, pack: Pack) -> None:
    out = tmp_path / "out"
    with pytest.raises(HostileArchiveError, match="3 files"):
        extract(pack({"a": b"", "b": b"", "c": b""}), out, Bounds(files=2))
    with pytest.raises(HostileArchiveError, match="11 bytes"):
        extract(pack({"a": b"1" * 11}), out, Bounds(bytes=10))
    for names in (("a", "A"), ("a", "a/b")):
        with pytest.raises(HostileArchiveError, match="twice"):
            extract(pack(dict.fromkeys(names, b"")), out)


@pytest.mark.parametrize("damage", ["cut", "text", "encrypted", "empty"])
def test_what_is_no_archive_is_a_clear_error(tmp_path: Path, pack: Pack, damage: str) -> None:
    path = pack({"a": b"1" * 1000})
    content = bytearray(path.read_bytes())
    if damage == "encrypted":
        content[6] |= 1
        content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(
        {"cut": content[:-30], "text": b"no zip", "encrypted": content, "empty": b""}[damage]
    )
    with pytest.raises(HostileArchiveError):
        extract(path, tmp_path / "out")


def test_a_document_of_the_wrong_kind_names_what_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    for text, told in (
        ("{}", "schema|tasks"),
        ('{"schema_version": "9.0", "tasks": []}', "schema_version"),
        ('{"tasks": [], "extra": 1}', "extra"),
        ("[" * 100_000, "GateResult"),
        ("no json", "JSON"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidInputError, match=told):
            read_document(path, GateResult)


def test_a_document_that_is_a_link_a_pipe_or_too_large_is_not_read(tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    good.write_text('{"tasks": []}')
    (tmp_path / "link.json").symlink_to(good)
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("link.json", "pipe.json", "absent.json"):
        with pytest.raises(InvalidInputError):
            read_document(tmp_path / name, GateResult)
    with pytest.raises(InvalidInputError, match="more than 5"):
        read_document(good, GateResult, 5)
    assert read_document(good, GateResult).passed
