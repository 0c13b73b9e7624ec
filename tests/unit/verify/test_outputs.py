"""Whole outputs stored, summaries shown."""

import gzip
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import pytest

from nanobench.errors import StateError, UsageError
from nanobench.verify.outputs import CommandOutput, OutputStore


@dataclass(frozen=True)
class Ended:
    exit_code: int | None = 1
    timed_out: bool = False
    duration_seconds: float = 2.0


def _output(tmp_path: Path, stdout: bytes, stderr: bytes = b"") -> CommandOutput:
    (tmp_path / "out").write_bytes(stdout)
    (tmp_path / "err").write_bytes(stderr)
    return CommandOutput("cmd", Ended(), tmp_path / "out", tmp_path / "err")


def test_a_short_output_is_shown_whole_and_once(tmp_path: Path) -> None:
    store = OutputStore(tmp_path / "outputs")
    summary = store.store("a", _output(tmp_path, b"one\ntwo", b"three\n"))
    assert (summary.head, summary.tail) == ("one\ntwo\n--- stderr ---\nthree\n", "")
    assert not summary.truncated
    assert summary.output_lines == 4
    with store.open("a") as stream:
        assert stream.read().decode() == summary.head


@pytest.mark.parametrize("count", [21, 39, 40, 41, 5000, 50_000])
def test_head_and_tail_are_twenty_lines_each_without_overlap(tmp_path: Path, count: int) -> None:
    lines = [f"line {number}\n" for number in range(count)]
    summary = OutputStore(tmp_path / "o").store("a", _output(tmp_path, "".join(lines).encode()))
    assert summary.head == "".join(lines[:20])
    assert summary.tail == "".join(lines[20:][-20:])
    assert summary.truncated == (count > 40)


def test_invalid_utf8_is_stored_as_it_was_and_shown_replaced(tmp_path: Path) -> None:
    store = OutputStore(tmp_path / "o")
    summary = store.store("a", _output(tmp_path, b"\xff\x00ok\n"))
    assert summary.head == "\ufffd\x00ok\n"
    with store.open("a") as stream:
        assert stream.read() == b"\xff\x00ok\n"
    summary.to_json()


def test_one_endless_line_is_bounded(tmp_path: Path) -> None:
    summary = OutputStore(tmp_path / "o").store("a", _output(tmp_path, b"x" * 300_000 + b"end"))
    assert len(summary.head) == 4000
    assert summary.tail.endswith("xend")
    assert summary.truncated


def test_memory_does_not_grow_with_the_output(tmp_path: Path) -> None:
    output = _output(tmp_path, b"")
    with output.stdout.open("wb") as stream:
        stream.truncate(64 * 1024 * 1024)
    tracemalloc.start()
    summary = OutputStore(tmp_path / "o").store("a", output)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert summary.output_lines == 1
    assert summary.truncated
    assert peak < 16 * 1024 * 1024


def test_equal_outputs_give_equal_files_and_nothing_else_is_left(tmp_path: Path) -> None:
    store = OutputStore(tmp_path / "o")
    store.store("a", _output(tmp_path, b"x\n"))
    store.store("b", _output(tmp_path, b"x\n"))
    files = {path.name: path.read_bytes() for path in (tmp_path / "o").iterdir()}
    assert sorted(files) == ["a.log.gz", "b.log.gz"]
    assert files["a.log.gz"] == files["b.log.gz"]
    assert gzip.decompress(files["a.log.gz"]) == b"x\n"


def test_a_command_that_wrote_nothing_has_an_empty_output(tmp_path: Path) -> None:
    output = CommandOutput("cmd", Ended(), tmp_path / "none", tmp_path / "neither")
    summary = OutputStore(tmp_path / "o").store("a", output)
    assert (summary.head, summary.tail, summary.output_lines) == ("", "", 0)


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError):
        OutputStore(tmp_path / "file").store("a", _output(tmp_path, b"x"))


def test_an_unknown_output_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'nope'"):
        OutputStore(tmp_path).open("nope")


def test_spooled_files_are_gone_afterwards(tmp_path: Path) -> None:
    store = OutputStore(tmp_path / "o")
    with store.spool("a") as (stdout, stderr):
        stdout.write_bytes(b"x")
        assert stderr.parent == tmp_path / "o"
    assert list((tmp_path / "o").iterdir()) == []


def test_equal_runs_of_different_speed_are_summarised_alike(tmp_path: Path) -> None:
    def summary(*milliseconds: float) -> object:
        lines = [f"✔ does thing {n} ({took}ms)" for n, took in enumerate(milliseconds)]
        lines += [f"✖ {'x' * 500} ({milliseconds[0]}ms)"] * 30  # longer than what is shown
        text = "\n".join([*lines, f"3 passed in {milliseconds[0]}s"])
        return OutputStore(tmp_path / "o").store("a", _output(tmp_path, text.encode()))

    assert summary(0.1, 2, 33.25) == summary(1234.5678, 0.2, 3)
