"""The hashes beside a record."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.model.record import Record
from nanobench.pipeline.checksums import SUMS, damaged, write_sums

NAMES = ("agent.patch", "outputs/odd  name.gz")


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    (tmp_path / "outputs").mkdir()
    for name in NAMES:
        (tmp_path / name).write_text(f"content of {name}")
    write_sums(tmp_path, NAMES)
    return tmp_path


@pytest.fixture
def record(make_record: Callable[..., Record]) -> Record:
    made = make_record(1.0, "acme/one t1 1")
    completion = made.completion.model_copy(update={"artifacts_created": (*NAMES, SUMS)})
    return made.model_copy(update={"completion": completion})


def test_what_was_written_is_not_damaged(attempt: Path, record: Record) -> None:
    assert damaged(attempt, record) == []
    check = ["sha256sum", "--check", "--strict", SUMS]
    subprocess.run(check, cwd=attempt, check=True, capture_output=True, timeout=10)


@pytest.mark.parametrize("name", [*NAMES, SUMS])
def test_every_truncation_is_seen(attempt: Path, record: Record, name: str) -> None:
    whole = (attempt / name).read_bytes()
    for length in range(len(whole)):
        (attempt / name).write_bytes(whole[:length])
        assert damaged(attempt, record) == [name], length


def test_what_was_taken_away_is_no_damage(attempt: Path, record: Record) -> None:
    (attempt / NAMES[0]).unlink()
    assert damaged(attempt, record) == []
    (attempt / SUMS).unlink()
    assert damaged(attempt, record) == []


def test_records_of_older_versions_have_no_hashes(
    attempt: Path, make_record: Callable[..., Record]
) -> None:
    (attempt / NAMES[0]).write_text("other")
    assert damaged(attempt, make_record(1.0, "acme/one t1 1")) == []
