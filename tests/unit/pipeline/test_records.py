"""Where records are looked for, and where not."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.model.migrations import UnreadableRecordError
from nanobench.model.plan import Plan
from nanobench.pipeline.records import PLAN, RECORD, find, parse_record, records_below
from nanobench.pipeline.store import ResultStore

Finish = Callable[..., Path]
FIXTURE = Path(__file__).parents[2] / "fixtures/records/1.0/lines-counted.json"


def test_plans_and_attempts_are_found_however_deep_and_in_stable_order(tmp_path: Path) -> None:
    for place in ("b/cells/x/attempt-2", "b/cells/x/attempt-1", "a/deep/cells/y/attempt-1"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("b", "a/deep"):
        (tmp_path / place / PLAN).write_text("{}")
    found = find(tmp_path)
    names = [path.relative_to(tmp_path).as_posix() for path in (*found.plans, *found.attempts)]
    assert names == [
        "a/deep/plan.json",
        "b/plan.json",
        "a/deep/cells/y/attempt-1",
        "b/cells/x/attempt-1",
        "b/cells/x/attempt-2",
    ]


def test_what_an_agent_left_is_neither_a_plan_nor_an_attempt(tmp_path: Path) -> None:
    left = tmp_path / "cells" / "x" / "attempt-1" / "outputs"
    (left / "cells" / "y" / "attempt-1").mkdir(parents=True)
    (left / PLAN).write_text("of a task")
    found = find(tmp_path)
    assert found.plans == ()
    assert found.attempts == (tmp_path / "cells" / "x" / "attempt-1",)


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real" / "cells" / "x" / "attempt-1").mkdir(parents=True)
    looked = tmp_path / "looked"
    looked.mkdir()
    (looked / "link").symlink_to(tmp_path / "real")
    (looked / "loop").symlink_to(looked)
    assert find(looked).attempts == ()


def test_a_directory_that_cannot_be_read_is_told_and_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    scan = os.scandir

    def refuse(path: str) -> object:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert list(records_below(tmp_path)) == [(closed, "cannot be read: Permission denied")]


def test_an_unfinished_attempt_is_no_problem(
    store: ResultStore, plan: Plan, finish: Finish
) -> None:
    finish(plan.cells[0], 1.0)
    (store.root / "cells" / plan.cells[1].cell_id / "attempt-1").mkdir(parents=True)
    ((path, record),) = records_below(store.root)
    assert path.name == RECORD
    assert not isinstance(record, str)


@pytest.mark.parametrize("number", ["1" + "0" * 400, "9.3e18", "1e308", "Infinity", "NaN", "-1"])
def test_a_record_with_a_number_beyond_measure_is_none(number: str) -> None:
    """A report adds such numbers up, and divides them."""
    text = FIXTURE.read_text()
    told = re.sub(r'(?<="input_tokens": )\w+', number, text)
    assert told != text
    with pytest.raises(UnreadableRecordError, match="is no record"):
        parse_record(told.encode())


@pytest.mark.parametrize("score", ["-1", "1.5", "NaN"])
def test_a_record_with_a_score_that_is_none_is_none(score: str) -> None:
    text = FIXTURE.read_text()
    told = re.sub(r'(?<="score": )[\d.]+', score, text)
    assert told != text
    with pytest.raises(UnreadableRecordError, match="is no record"):
        parse_record(told.encode())


def test_long_numbers_in_texts_do_not_count() -> None:
    text = FIXTURE.read_text()
    begin = '"final_text_tail": "'
    told = text.replace(begin, begin + r"a\": 12345678901234567890, 1e99 ")
    assert told != text
    assert "1e99" in parse_record(told.encode()).signals.agent.final_text_tail
