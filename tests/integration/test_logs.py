"""`nanobench logs` on large outputs and on hostile ones, as a user calls it."""

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

PEAK = """
import json, re, sys
from pathlib import Path
from nanobench.pipeline.logs import *
selection = Selection(**json.loads(sys.argv[2]))
pieces = read_output(Path(sys.argv[1]), "log", selection)
lines = sum(piece.data.endswith(b"\\n") for piece in pieces)
# Not ru_maxrss: Linux lets a child inherit that of the process that started it.
print(lines, re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def peak(attempt: Path, selection: dict[str, int]) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(attempt), json.dumps(selection)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    lines, memory = done.stdout.split()
    return int(lines), int(memory)


@pytest.mark.parametrize(
    ("line", "selection"),
    [(b"x" * 4095 + b"\n", {"tail": 50_000}), (b"x" * 4096, {"tail": 1})],
    ids=["many lines", "one line"],
)
def test_a_gigabyte_takes_no_more_memory_than_a_megabyte(
    tmp_path: Path, line: bytes, selection: dict[str, int]
) -> None:
    megabyte = gzip.compress(line * 256)
    for name, copies in (("small", 1), ("large", 1024)):
        (tmp_path / name / "outputs").mkdir(parents=True)
        with (tmp_path / name / "outputs" / "log.log.gz").open("wb") as stream:
            for _ in range(copies):
                stream.write(megabyte)
    _, small = peak(tmp_path / "small", selection)
    lines, large = peak(tmp_path / "large", selection)
    assert lines == (50_000 if line.endswith(b"\n") else 0)
    assert large < 1.25 * small


def keep(attempt: Path, content: bytes) -> None:
    (attempt / "outputs").mkdir(parents=True)
    (attempt / "outputs" / "suite-tests.log.gz").write_bytes(gzip.compress(content))


def call(*arguments: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    command = (sys.executable, "-m", "nanobench", "logs", *arguments)
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False)


HOSTILE = (
    b"\x1b]0;title\x07\x1b[31mred\x1b[0m\tbell\x07 back\x08 right\xe2\x80\xaeleft \xff\r\nnext"
)


def test_a_pipe_gets_the_bytes_as_they_were(tmp_path: Path) -> None:
    keep(tmp_path, HOSTILE)
    assert call(str(tmp_path), "suite-tests").stdout == HOSTILE


def test_a_terminal_gets_nothing_that_steers_it(tmp_path: Path) -> None:
    keep(tmp_path, HOSTILE)
    ours, theirs = pty.openpty()
    try:
        assert call(str(tmp_path), "suite-tests", stdout=theirs).returncode == 0
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    line = "red\tbell\\x07 back\\x08 right\\u202eleft \ufffd"
    assert shown == f"{line}\r\nnext\r\n"  # the terminal adds the carriage returns


def test_json_gives_numbered_lines(tmp_path: Path) -> None:
    keep(tmp_path, b"a\nb\xff\r\nc")
    done = call(str(tmp_path), "suite-tests", "--tail", "2", "--json")
    assert json.loads(done.stdout) == {
        "id": "suite-tests",
        "lines": [
            {"number": 2, "text": "b\ufffd", "cut": False},
            {"number": 3, "text": "c", "cut": False},
        ],
    }


def test_without_an_id_the_outputs_are_listed(tmp_path: Path) -> None:
    keep(tmp_path, b"a\nb\n")
    listed = json.loads(call(str(tmp_path), "--json").stdout)["outputs"]
    assert listed == [{"id": "suite-tests", "lines": 2, "bytes": 4, "command": None}]
    assert b"2 lines" in call(str(tmp_path)).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tail", "1", "--head", "1", "suite-tests"),
        ("--tail", "1"),
        ("--range", "5:2", "suite-tests"),
        ("--range", ":", "suite-tests"),
        ("--range", "0:1", "suite-tests"),
        ("--grep", "(", "suite-tests"),
        ("--cell", "x", "suite-tests"),
        ("none",),
    ],
)
def test_what_cannot_be_is_a_usage_error_without_traceback(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    keep(tmp_path, b"a\n")
    done = call(str(tmp_path), *arguments)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
