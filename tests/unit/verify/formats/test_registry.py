"""Which parser reads a file, and which files are read at all."""

import os
from contextlib import suppress
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from nanobench.errors import InvalidInputError
from nanobench.verify import formats
from nanobench.verify.results import ParseError
from nanobench.workspace.teardown import remove_tree


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="'nothing'") as caught:
        formats.parser_for("nothing")
    assert "junit" in caught.value.remedy


def test_a_third_party_adds_a_format_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("mine", "nanobench.verify.formats.junit:parse", formats.GROUP)

    def found(group: str, name: str) -> EntryPoints:
        return EntryPoints([entry]).select(group=group, name=name)

    monkeypatch.setattr(formats, "entry_points", found)
    assert formats.parser_for("mine") is formats.parser_for("junit")


def test_a_missing_file_is_no_parse_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        formats.parse("junit", tmp_path / "none", "/ws")


def test_links_and_special_files_are_refused_without_reading_them(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("<testsuites/>")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("link", "pipe", "directory"):
        with pytest.raises(ParseError):
            formats.parse("junit", tmp_path / name, "/ws")


def test_an_oversized_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(formats.SIZE_LIMIT + 1)
    with pytest.raises(ParseError, match="bytes"):
        formats.parse("junit", tmp_path / "big", "/ws")


def test_what_nests_too_deep_for_a_parser_is_malformed(tmp_path: Path) -> None:
    for depth in range(900, 1000):  # a reader that walks what the decoder took is a frame deeper
        content = tmp_path / "results"
        content.write_text('{"tests": [{"x": ' + "[" * depth + "]" * depth + '}], "failures": []}')
        with suppress(ParseError):
            formats.parse("mocha-json", content, "/ws")


def test_directories_of_results_may_nest_to_any_depth(tmp_path: Path) -> None:
    deepest = str(tmp_path / "results")
    for _ in range(1100):
        os.mkdir(deepest)  # noqa: PTH102 - pathlib takes long for such paths
        deepest += "/d"
    try:
        with suppress(ParseError):  # Python before 3.12 walks them by recursion
            formats.parse("junit", tmp_path / "results", "/ws")
    finally:
        remove_tree(tmp_path / "results")


def test_a_directory_of_results_that_cannot_be_read_is_malformed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(ParseError, match="Permission denied"):
        formats.parse("junit", tmp_path, "/ws")
