"""Task files are written for people, and changed without touching what they wrote."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.dataset.catalog import load_task
from nanobench.dataset.task_files import rewrite, task_text
from nanobench.errors import InvalidInputError
from nanobench.model.task import Task

Add = Callable[..., Path]


def test_a_written_task_reads_back_and_leaves_defaults_out(
    document: Callable[..., dict[str, Any]],
) -> None:
    task = Task.model_validate(document("t1", issue_url=None))
    text = task_text(task)
    assert Task.model_validate_json(text) == task
    assert list(json.loads(text))[:2] == ["schema_version", "task_id"]
    for name in ("issue_url", "suites", "status", "rulings", "null"):
        assert name not in text


def test_a_rewrite_keeps_the_order_and_the_words_of_its_writer(add_task: Add) -> None:
    path = add_task("t1", problem_statement="Groesse ≤ 5")
    path.write_text(path.read_text().replace("Groesse \\u2264 5", "Größe ≤ 5"))
    before = json.loads(path.read_text())
    rewrite(path, {"domain": "other", "attachments_optional": True})
    after = json.loads(path.read_text())
    assert list(after) == [*before, "attachments_optional"]
    assert after == {**before, "domain": "other", "attachments_optional": True}
    assert "Größe ≤ 5" in path.read_text()


@pytest.mark.parametrize("indent", [None, 2, 4, "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_rewrite_keeps_every_other_byte(
    add_task: Add, document: Callable[..., dict[str, Any]], indent: int | str | None, end: str
) -> None:
    path = add_task("t1")
    text = json.dumps(document("t1", curation={"state": "candidate"}), indent=indent)
    by_hand = re.sub(r'\[\s+"Python"\s+\]', '[ "Python" ]', text)
    path.write_bytes(by_hand.replace("\n", end).encode())
    before = path.read_bytes()
    rewrite(path, {"domain": "other"})
    assert path.read_bytes() == before.replace(b"web framework", b"other")
    rulings = [{"on": "2026-06-01", "by": "a", "dispute": "b", "outcome": "c"}]
    rewrite(path, {"domain": "web framework", "rulings": rulings})
    after = path.read_bytes()
    assert after.startswith(before.rstrip(b"}\r\n"))
    assert list(json.loads(after)) == [*json.loads(before), "rulings"]
    if indent:
        expected = json.dumps({"rulings": rulings}, indent=indent).replace("\n", end)
        assert after.endswith(expected[1:].encode())
    else:
        assert b"\n" not in after


def test_a_rewrite_that_makes_no_task_is_not_written(add_task: Add) -> None:
    path = add_task("t1")
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match="the task would be wrong"):
        rewrite(path, {"status": {"state": "retired"}})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("version", "words"), [("9.0", "reads up to 1.0"), ("0.1", "never was"), (1, "never was")]
)
def test_a_task_of_another_schema_is_refused_by_name(
    add_task: Add, version: object, words: str
) -> None:
    path = add_task("t1", schema_version=version)
    with pytest.raises(InvalidInputError, match=words) as caught:
        load_task(path)
    assert caught.value.where == str(path)
