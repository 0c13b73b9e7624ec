"""The table of labels: complete, without contradiction, and true to the specification."""

from itertools import product
from typing import get_args

import pytest

from nanobench.agent.scripted.behaviours import BEHAVIOURS
from nanobench.agent.scripted.labels import (
    INFRASTRUCTURE,
    LABELS,
    SOLVED,
    TABLE,
    Row,
    expected,
    expected_modes,
    label_of,
)
from nanobench.model.plan import Mode, Ruleset
from nanobench.model.verdict import Verdict

MODES: tuple[Mode, ...] = get_args(Mode)
RULESETS: tuple[Ruleset, ...] = get_args(Ruleset)


def test_every_behaviour_has_a_label_and_every_label_a_behaviour() -> None:
    assert {row.behaviour for row in TABLE} == set(BEHAVIOURS)
    for ruleset in RULESETS:
        sure = {r.labels[0] for r in TABLE if len(r.labels) == 1 and ruleset in r.rulesets}
        assert sure == set(LABELS)


def test_no_two_rows_speak_of_the_same_run() -> None:
    spoken = [key for r in TABLE for key in product([r.behaviour], r.modes, r.rulesets)]
    assert len(spoken) == len(set(spoken))


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_behaviour_is_known_in_a_mode_by_all_rulesets_or_by_none(behaviour: str) -> None:
    assert expected_modes(behaviour)
    for mode in MODES:
        known = {expected(behaviour, mode, ruleset) is not None for ruleset in RULESETS}
        assert known == {mode in expected_modes(behaviour)}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.behaviour}-{row.rulesets[0]}")
def test_a_row_says_why_and_its_score_fits_its_label(row: Row) -> None:
    assert row.because[0] in "67FX"
    assert (row.scores == (None, None)) is (row.labels == (INFRASTRUCTURE,))
    assert (row.scores == (1.0, 1.0)) is (row.labels == (SOLVED,))


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"solved": True, "score": 1.0}, "solved"),
        ({"score": 0.0, "rule": 2}, "zero_signal"),
        (
            {"score": 0.0, "rule": 2, "category": "insufficient_context_read"},
            "insufficient_context_read",
        ),
        ({"score": 0.5, "reason": "timed_out"}, "ended_by_limit"),
        ({"outcome": "infrastructure_error", "score": None}, "infrastructure"),
        ({"score": 0.0, "category": "unclassified"}, "unclassified"),
    ],
)
def test_a_verdict_has_one_label(fields: dict[str, object], label: str) -> None:
    whole = {"ruleset": "1.1", "outcome": "graded", "label": None, "solved": False, **fields}
    assert label_of(Verdict.model_validate(whole)) == label
