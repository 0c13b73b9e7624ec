"""Cohen's kappa against worked values and its limits."""

import pytest

from nanobench.stats.agreement import cohens_kappa


def pairs(table: dict[tuple[str, str], int]) -> tuple[list[str], list[str]]:
    both = [pair for pair, count in table.items() for _ in range(count)]
    return [one for one, _ in both], [other for _, other in both]


def test_the_worked_value_of_a_two_by_two_table():
    # 50 items, observed agreement 0.7, by chance 0.5.
    first, second = pairs({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    assert cohens_kappa(first, second) == pytest.approx(0.4)


def test_the_worked_value_of_a_three_by_three_table():
    # Cohen 1960, table 1, as frequencies of 200: observed .70, by chance .41, kappa .492.
    first, second = pairs(
        {
            ("a", "a"): 88, ("a", "b"): 14, ("a", "c"): 18,
            ("b", "a"): 10, ("b", "b"): 40, ("b", "c"): 10,
            ("c", "a"): 2, ("c", "b"): 6, ("c", "c"): 12,
        }
    )  # fmt: skip
    assert cohens_kappa(first, second) == pytest.approx(0.49, abs=0.003)


def test_full_agreement_is_one_and_full_disagreement_of_two_labels_is_minus_one():
    assert cohens_kappa(["a", "b"], ["a", "b"]) == 1
    assert cohens_kappa(["a", "b"], ["b", "a"]) == -1


def test_there_is_none_where_chance_explains_everything_or_nothing_was_rated():
    assert cohens_kappa(["a", "a"], ["a", "a"]) is None
    assert cohens_kappa([], []) is None


def test_ratings_of_different_items_are_refused():
    with pytest.raises(ValueError, match="1 labels against 2"):
        cohens_kappa(["a"], ["a", "b"])
