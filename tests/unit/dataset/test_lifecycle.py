"""Decisions about a task: each is kept in its file, and each refusal says why."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from nanobench.cli import task_decisions
from nanobench.dataset.catalog import load_task
from nanobench.dataset.lifecycle import CHECKS, Retirement, approve, retire, rule
from nanobench.errors import GateError, InvalidInputError, UsageError
from nanobench.model.task import Ruling, Status

DAY = date(2026, 6, 1)
ALL = frozenset(CHECKS)
Add = Callable[..., Path]


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_an_approval_records_who_when_and_the_four_checks(add_task: Add) -> None:
    path = add_task("t1")
    before = document(path)
    entry = approve(path, "someone", DAY, ALL)
    assert entry.task.curation.approved_by == "someone"
    assert document(path) == {
        **before,
        "curation": {
            "state": "approved",
            "approved_by": "someone",
            "approved_on": "2026-06-01",
            "checks": dict.fromkeys(CHECKS, True),
        },
    }
    assert list(document(path))[: len(before)] == list(before)


@pytest.mark.parametrize("check", CHECKS)
def test_no_check_can_be_left_out(add_task: Add, check: str) -> None:
    path = add_task("t1")
    with pytest.raises(UsageError, match=f"not checked: {check}"):
        approve(path, "someone", DAY, ALL - {check})
    assert "curation" not in document(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"expected": ...}, "no 'expected'"),
        ({"domain": "unassigned"}, "'domain' is unassigned"),
        ({"task_type": "unassigned"}, "'task_type' is unassigned"),
        ({"reasoning_category": "unassigned"}, "'reasoning_category' is unassigned"),
        ({"contributor": "unassigned"}, "'contributor' is unassigned"),
        (
            {"status": {"state": "retired", "reason": "flaky", "retired_on": "2026-05-09"}},
            "it is retired",
        ),
        (
            {
                "problem_statement": {
                    "from": "issue",
                    "url": "https://example.org/1",
                    "sha256": "a" * 64,
                }
            },
            "others can edit its statement",
        ),
    ],
)
def test_a_task_that_is_not_ready_is_not_approved(
    add_task: Add, change: dict[str, Any], reason: str
) -> None:
    path = add_task("t1", **change)
    before = path.read_bytes()
    with pytest.raises(GateError, match=reason):
        approve(path, "someone", DAY, ALL)
    assert path.read_bytes() == before


def test_all_reasons_are_told_at_once(add_task: Add) -> None:
    path = add_task("t1", domain="unassigned", expected=...)
    with pytest.raises(GateError, match=r"expected.*domain"):
        approve(path, "someone", DAY, ALL)


def test_an_approval_is_not_written_over(add_task: Add) -> None:
    path = add_task("t1")
    approve(path, "someone", DAY, ALL)
    with pytest.raises(GateError, match="someone approved it on 2026-06-01"):
        approve(path, "other", DAY, ALL)


def test_nobody_cannot_approve(add_task: Add) -> None:
    with pytest.raises(UsageError, match="nobody"):
        approve(add_task("t1"), " ", DAY, ALL)


def test_a_retirement_keeps_the_file_and_its_reason(add_task: Add) -> None:
    path = add_task("t1")
    task = retire(path, Retirement("flaky", "fails at night", DAY, "1.1")).task
    assert task.status == Status(
        state="retired", reason="flaky", text="fails at night", retired_on=DAY, version="1.1"
    )


def test_a_retirement_is_not_written_over(add_task: Add) -> None:
    path = add_task("t1")
    retire(path, Retirement("flaky", "", DAY, "1.1"))
    with pytest.raises(GateError, match=r"retired since 2026-06-01 \(flaky\)"):
        retire(path, Retirement("contaminated", "", DAY, "1.2"))


@pytest.mark.parametrize("version", ["next", "v1", "", "1"])
def test_a_retirement_names_a_version(add_task: Add, version: str) -> None:
    with pytest.raises(UsageError, match="no dataset version"):
        retire(add_task("t1"), Retirement("flaky", "", DAY, version))


def test_another_reason_needs_its_text(add_task: Add) -> None:
    with pytest.raises(UsageError, match="needs its text"):
        retire(add_task("t1"), Retirement("other", " ", DAY, "1.1"))


def test_rulings_are_added_to_those_before(add_task: Add) -> None:
    path = add_task("t1")
    rule(path, Ruling(on=DAY, by="a", dispute="d1", outcome="o1"))
    task = rule(path, Ruling(on=DAY, by="b", dispute="d2", outcome="o2", escalated_to="c")).task
    assert [(one.by, one.dispute, one.escalated_to) for one in task.rulings] == [
        ("a", "d1", None),
        ("b", "d2", "c"),
    ]


@pytest.mark.parametrize(
    "decide",
    [
        lambda path, day: approve(path, "someone", day, ALL),
        lambda path, day: retire(path, Retirement("flaky", "", day, "1.1")),
        lambda path, day: rule(path, Ruling(on=day, by="a", dispute="d", outcome="o")),
    ],
)
def test_nothing_is_decided_before_the_change_was_merged(
    add_task: Add, decide: Callable[[Path, date], object]
) -> None:
    path = add_task("t1")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="before the change was merged, on 2026-05-01"):
        decide(path, date(2026, 4, 29))
    assert path.read_bytes() == before


def test_a_version_is_written_as_the_dataset_writes_it(add_task: Add) -> None:
    assert retire(add_task("t1"), Retirement("flaky", "", DAY, "v1.1")).task.status.version == "1.1"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--escalate-to", " "], "--escalate-to"),
        (["--dispute", ""], "--dispute"),
        (["--on", "2999-01-01"], "has not come yet"),
    ],
)
def test_a_ruling_says_all_that_it_names(add_task: Add, options: list[str], words: str) -> None:
    path = add_task("t1")
    before = path.read_bytes()
    said = ["--by", "a", "--dispute", "b", "--outcome", "c", *options]
    done = CliRunner().invoke(task_decisions.rule, [str(path), *said])
    assert done.exit_code != 0
    assert words in f"{done.exception}{done.output}"
    assert path.read_bytes() == before


def test_an_approval_by_hand_with_a_check_that_does_not_hold_is_none(add_task: Add) -> None:
    checks = {**dict.fromkeys(CHECKS, True), "tier": False}
    signed = {"state": "approved", "approved_by": "a", "approved_on": "2026-06-01"}
    with pytest.raises(InvalidInputError, match="all four checks hold"):
        load_task(add_task("t1", curation={**signed, "checks": checks}))


def test_what_is_no_task_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t1.json"
    path.write_text("{}")
    with pytest.raises(InvalidInputError):
        retire(path, Retirement("flaky", "", DAY, "1.1"))
    assert path.read_text() == "{}"


def test_the_commands_offer_what_the_model_knows() -> None:
    assert task_decisions.CHECKS == CHECKS
    reasons = get_args(get_args(Status.model_fields["reason"].annotation)[0])
    assert reasons == task_decisions.REASONS
