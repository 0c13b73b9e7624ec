"""Which runs are drawn, and that only the seed and the records decide it."""

from collections import Counter

import pytest

from nanobench.audit.sampling import candidates, draw
from nanobench.pipeline.records import records_below

KINDS = (
    [("hallucinated_api", "Python")] * 12
    + [("wrong_abstraction_layer", "Python")] * 6
    + [("wrong_abstraction_layer", "Go")] * 2
)


@pytest.fixture
def found(tmp_path, write_run):
    for number, (category, language) in enumerate(KINDS, start=1):
        write_run(tmp_path, f"acme/one t{number} 1", category, language=language)
    return candidates(records_below(tmp_path), "1.1")


def test_the_same_seed_draws_the_same_runs_in_whatever_order_they_come(tmp_path, found):
    shuffled = candidates(reversed(list(records_below(tmp_path))), "1.1")
    assert draw(found, 7, "spring") == draw(shuffled, 7, "spring")


def test_another_seed_draws_others(found):
    drawn = {tuple(one.digest for one in draw(found, 7, seed)) for seed in "abcdef"}
    assert len(drawn) > 1


def test_every_stratum_is_there_and_the_rest_goes_by_share(found):
    counts = Counter(one.stratum for one in draw(found, 10, "s"))
    assert counts == {
        ("hallucinated_api", "Python"): 6,
        ("wrong_abstraction_layer", "Python"): 3,
        ("wrong_abstraction_layer", "Go"): 1,
    }


def test_a_sample_smaller_than_the_strata_takes_the_largest(found):
    assert [one.stratum for one in draw(found, 1, "s")] == [("hallucinated_api", "Python")]


def test_a_sample_larger_than_what_there_is_takes_all_once(found):
    drawn = draw(found, 1000, "s")
    assert len(drawn) == len({one.digest for one in drawn}) == len(KINDS)


def test_only_the_last_graded_attempt_of_a_cell_counts(tmp_path, write_run):
    write_run(tmp_path, "acme/one t 1", "hallucinated_api", attempt=1)
    write_run(tmp_path, "acme/one t 1", "partial_fix_only", attempt=2)
    write_run(tmp_path, "acme/one u 1", "hallucinated_api", attempt=1)
    write_run(tmp_path, "acme/one u 1", None, score=None, attempt=2)
    (only,) = candidates(records_below(tmp_path), "1.1")
    assert only.record.cell.task_id == "u"


def test_other_categories_and_other_rulesets_are_left_out(tmp_path, write_run):
    write_run(tmp_path, "acme/one t1 1", "partial_fix_only")
    write_run(tmp_path, "acme/one t2 1", "hallucinated_api", ruleset="1.0")
    assert candidates(records_below(tmp_path), "1.1") == []


def test_a_run_that_lies_in_two_directories_is_one(tmp_path, write_run):
    for copy in ("a", "b"):
        write_run(tmp_path / copy, "acme/one t 1")
    assert len(candidates(records_below(tmp_path), "1.1")) == 1
