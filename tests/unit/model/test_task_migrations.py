"""Old task files are read as the present version; others are refused by name."""

from typing import Any

import pytest

from nanobench.model.task import TASK_SCHEMA_VERSION
from nanobench.model.task_migrations import STEPS, UnreadableTaskError, upgrade_task


def _rename(document: dict[str, Any]) -> dict[str, Any]:
    return {"new": document["old"]}


STEPS_OF_TWO = {
    "1.0": ("1.1", _rename),
    "1.1": ("2.0", lambda document: {**document, "more": True}),
}


def test_steps_are_taken_one_after_the_other() -> None:
    old = {"old": 1}
    assert upgrade_task(old, STEPS_OF_TWO, "2.0") == {
        "new": 1,
        "more": True,
        "schema_version": "2.0",
    }
    assert old == {"old": 1}


def test_every_step_leads_to_the_present() -> None:
    for version in STEPS:
        seen = set()
        while version != TASK_SCHEMA_VERSION:
            assert version not in seen
            seen.add(version)
            version = STEPS[version][0]


def test_the_present_version_is_left_alone() -> None:
    for document in ({}, {"schema_version": TASK_SCHEMA_VERSION}, [], None):
        assert upgrade_task(document) == document


def test_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(UnreadableTaskError, match=r"schema 9\.0, .* reads up to 1\.0"):
        upgrade_task({"schema_version": "9.0"})


@pytest.mark.parametrize("version", ["0.9", "1", 1, None, "x"])
def test_a_version_that_never_was_is_refused(version: object) -> None:
    with pytest.raises(UnreadableTaskError, match="never was"):
        upgrade_task({"schema_version": version})
