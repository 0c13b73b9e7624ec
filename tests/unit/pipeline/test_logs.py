"""Whole outputs by id: what is selected, and how little of it is in memory."""

import gzip
import re
from pathlib import Path

import pytest

from nanobench.errors import InvalidInputError, UsageError
from nanobench.pipeline.logs import (
    PIECE,
    SEARCHED,
    Selection,
    find_attempt,
    list_outputs,
    read_output,
)

LINES = [f"line {number}" for number in range(1, 101)]


def keep(attempt: Path, output_id: str, content: bytes) -> Path:
    (attempt / "outputs").mkdir(parents=True, exist_ok=True)
    path = attempt / "outputs" / f"{output_id}.log.gz"
    path.write_bytes(gzip.compress(content))
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    for cell, attempts in (("one", (1, 2, 10)), ("two", (1,))):
        for attempt in attempts:
            place = tmp_path / "cells" / cell / f"attempt-{attempt}"
            keep(place, "suite-tests", f"{cell} {attempt}\n".encode())
    return tmp_path


def text(attempt: Path, output_id: str = "log", **selection: object) -> str:
    pieces = read_output(attempt, output_id, Selection(**selection))  # type: ignore[arg-type]
    return b"".join(piece.data for piece in pieces).decode()


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    keep(tmp_path, "log", "\n".join(LINES).encode())
    return tmp_path


class TestSelecting:
    def test_everything_is_what_was_stored(self, attempt: Path) -> None:
        assert text(attempt) == "\n".join(LINES)

    @pytest.mark.parametrize(
        ("selection", "expected"),
        [
            ({"last": 2}, LINES[:2]),
            ({"tail": 2}, LINES[-2:]),
            ({"tail": 1000}, LINES),
            ({"first": 99}, LINES[98:]),
            ({"first": 40, "last": 42}, LINES[39:42]),
            ({"first": 101}, []),
            ({"pattern": re.compile(r"line \d7$")}, LINES[16::10]),
            ({"pattern": re.compile("7"), "tail": 10}, ["line 97"]),
        ],
    )
    def test_lines(self, attempt: Path, selection: dict[str, object], expected: list[str]) -> None:
        assert text(attempt, **selection).splitlines() == expected

    def test_lines_lie_across_pieces(self, tmp_path: Path) -> None:
        long = [str(number) * (PIECE * 2 // 3) for number in range(1, 7)]
        keep(tmp_path, "log", "\n".join(long).encode() + b"\n")
        assert text(tmp_path, first=3, last=4).splitlines() == long[2:4]
        assert text(tmp_path, tail=1).splitlines() == long[-1:]

    def test_a_match_shows_a_line_longer_than_what_is_searched(self, tmp_path: Path) -> None:
        line = b"needle" + b"x" * (3 * SEARCHED)
        keep(tmp_path, "log", b"hay\n" + line + b"\nhay\n")
        assert text(tmp_path, pattern=re.compile("needle")) == line.decode() + "\n"

    def test_a_line_is_not_searched_beyond_the_limit(self, tmp_path: Path) -> None:
        keep(tmp_path, "log", b"x" * (2 * SEARCHED) + b"needle\nneedle\n")
        assert text(tmp_path, pattern=re.compile("needle")) == "needle\n"

    def test_carriage_returns_end_no_line(self, tmp_path: Path) -> None:
        keep(tmp_path, "log", b"10%\r20%\rdone\nnext\n")
        assert text(tmp_path, first=2) == "next\n"

    def test_a_damaged_file_gives_what_is_left_of_it_and_an_error(self, tmp_path: Path) -> None:
        path = keep(tmp_path, "log", bytes(range(256)) * 4096)
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(InvalidInputError, match="damaged"):
            text(tmp_path)

    @pytest.mark.parametrize("output_id", ["../log", "none", "", ".log"])
    def test_only_stored_ids_are_opened(self, attempt: Path, output_id: str) -> None:
        with pytest.raises(UsageError, match="there is no output"):
            text(attempt, output_id)


class TestListing:
    def test_lines_and_bytes_of_the_output_not_of_the_file(self, attempt: Path) -> None:
        keep(attempt, "empty", b"")
        keep(attempt, "whole", b"a\nb\n")
        found = {one.output_id: (one.lines, one.size) for one in list_outputs(attempt)}
        assert found == {"empty": (0, 0), "log": (100, 791), "whole": (2, 4)}

    def test_links_and_running_outputs_are_not_listed(self, attempt: Path) -> None:
        (attempt / "outputs" / "link.log.gz").symlink_to("/etc/hostname")
        (attempt / "outputs" / ".log2.log.gz").write_bytes(b"")
        assert [one.output_id for one in list_outputs(attempt)] == ["log"]


class TestFinding:
    def test_the_highest_attempt_stands(self, bench: Path) -> None:
        assert find_attempt(bench, "one", None).name == "attempt-10"
        assert find_attempt(bench / "cells" / "one", None, None).name == "attempt-10"

    def test_an_attempt_can_be_named(self, bench: Path) -> None:
        assert find_attempt(bench, "one", 2).name == "attempt-2"
        assert find_attempt(bench / "cells/one/attempt-1", None, None).name == "attempt-1"

    @pytest.mark.parametrize(("cell", "attempt"), [(None, None), ("none", None), ("one", 3)])
    def test_what_is_not_there_is_refused(
        self, bench: Path, cell: str | None, attempt: int | None
    ) -> None:
        with pytest.raises(UsageError):
            find_attempt(bench, cell, attempt)

    def test_a_missing_directory_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInputError, match="no results"):
            find_attempt(tmp_path / "none", None, None)
