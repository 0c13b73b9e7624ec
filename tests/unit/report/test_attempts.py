"""What lies beside a record is read in bounded pieces, and may be anything."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.record import Record
from nanobench.report.attempts import Attempt, Attempts

Make = Callable[..., Record]


def write(root: Path, record: Record) -> Path:
    home = root / "cells" / record.cell.cell_id / f"attempt-{record.attempt}"
    (home / "outputs").mkdir(parents=True)
    (home / "record.json").write_text(record.to_json())
    return home


def pack(home: Path, output_id: str, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    (home / "outputs" / f"{output_id}.log.gz").write_bytes(gzip.compress(data))


@pytest.fixture
def attempt(tmp_path: Path, make_record: Make) -> Attempt:
    record = make_record(1.0)
    return Attempt(record, write(tmp_path, record))


def test_of_copies_of_an_attempt_the_one_that_holds_the_record_is_used(
    tmp_path: Path, make_record: Make
) -> None:
    record, other = make_record(1.0), make_record(0.0)
    write(tmp_path / "a", other)
    home = write(tmp_path / "b", record)
    attempts = Attempts({record.cell.cell_id: record}, [tmp_path / "a", tmp_path / "b"])
    found = attempts.of(record.cell.cell_id)
    assert found is not None
    assert found.directory == home


def test_a_record_whose_files_are_gone_still_has_an_attempt(
    tmp_path: Path, make_record: Make
) -> None:
    record = make_record(1.0)
    found = Attempts({record.cell.cell_id: record}, [tmp_path]).of(record.cell.cell_id)
    assert found == Attempt(record, None)
    assert (found.prompt(9), found.patch(9), found.report(), found.gateway()) == (
        None,
        None,
        None,
        [],
    )
    assert found.output("suite", 9) is None


def test_long_files_and_outputs_are_cut_and_say_so(attempt: Attempt) -> None:
    assert attempt.directory is not None
    (attempt.directory / "prompt.txt").write_text("abcdefghij")
    pack(attempt.directory, "suite", "x" * 5_000_000)
    pack(attempt.directory, "small", "abc")
    prompt, long, small = attempt.prompt(4), attempt.output("suite", 8), attempt.output("small", 8)
    assert prompt is not None
    assert (prompt.text, prompt.size) == ("abcd", 10)
    assert long is not None
    assert (long.text, long.size) == ("x" * 8, None)
    assert small is not None
    assert (small.text, small.size) == ("abc", 3)


def test_links_and_ids_that_lead_elsewhere_are_not_followed(
    attempt: Attempt, tmp_path: Path
) -> None:
    assert attempt.directory is not None
    secret = tmp_path / "secret"
    secret.write_bytes(gzip.compress(b"secret"))
    (attempt.directory / "agent.patch").symlink_to(secret)
    (attempt.directory / "outputs" / "suite.log.gz").symlink_to(secret)
    (tmp_path / "other.log.gz").write_bytes(gzip.compress(b"secret"))
    assert attempt.patch(99) is None
    assert attempt.output("suite", 99) is None
    assert attempt.output("../../../../other", 99) is None


def test_damaged_outputs_give_what_can_be_read(attempt: Attempt) -> None:
    assert attempt.directory is not None
    path = attempt.directory / "outputs" / "suite.log.gz"
    numbers = " ".join(map(str, range(999)))
    path.write_bytes(gzip.compress(numbers.encode())[:-99])
    cut = attempt.output("suite", 9999)
    assert cut is not None
    assert numbers.startswith(cut.text)
    assert (cut.text[:3], cut.size) == ("0 1", None)
    for nothing in (b"", b"no gzip"):
        path.write_bytes(nothing)
        assert attempt.output("suite", 9999) is None


@pytest.mark.parametrize(
    "document",
    [
        "no json",
        "[1]",
        '{"kind": "success"}',
        json.dumps({"kind": "success", "exitCode": 0, "toolCalls": [{"name": 7}]}),
        "[" * 100_000,
    ],
)
def test_a_report_that_is_none_is_no_report(attempt: Attempt, document: str) -> None:
    assert attempt.directory is not None
    pack(attempt.directory, "agent-report", document)
    assert attempt.report() is None


def test_a_report_that_nests_too_deep_for_its_readers_is_no_report(attempt: Attempt) -> None:
    assert attempt.directory is not None
    call = '{"name": "x", "arguments": ' + "[" * 500 + "]" * 500 + "}"
    document = f'{{"kind": "success", "exitCode": 0, "toolCalls": [{call}]}}'
    pack(attempt.directory, "agent-report", document)
    assert attempt.report() is None


def test_lines_of_the_gateway_log_that_are_no_objects_are_left_out(attempt: Attempt) -> None:
    assert attempt.directory is not None
    lines: list[Any] = ['{"status": 200}', "no json", "[1]", "[" * 100_000, '{"status": 5']
    (attempt.directory / "gateway.jsonl").write_text("\n".join(lines))
    assert attempt.gateway() == [{"status": 200}]
