"""A registry whose sums, reasons or ranks are wrong is none."""

from typing import Any

import pytest
from pydantic import ValidationError

from nanobench.model.registry import Registry, ScoredRepository


def scored(repo: str, novelty: int = 4, reason: str = "no other", **changes: Any) -> dict[str, Any]:
    return {
        "repo": repo,
        "repo_url": f"https://example.org/{repo}",
        "domain": "web framework",
        "commit": "1" * 40,
        "languages": {"points": 2, "sample": 50, "changes": {"Go": 9}, "counted": ["Go"]},
        "depth": {"points": 1, "mean_files": 1.6},
        "activity": {
            "points": 4,
            "merged": 9,
            "since": "2026-05-01T00:00:00Z",
            "until": "2026-06-01T00:00:00Z",
            "months": 1.02,
            "per_month": 8.84,
        },
        "novelty": {"points": novelty, "reason": reason},
        "context": {"points": 2, "median_tokens": 20000, "tokenizer": "bytes/4"},
        "changes": [],
        "total": 9 + novelty,
        **changes,
    }


def test_twelve_points_are_enough() -> None:
    assert ScoredRepository.model_validate(scored("a/b")).onboarded
    assert not ScoredRepository.model_validate(scored("a/b", novelty=2)).onboarded


def test_a_total_that_is_not_the_sum_is_refused() -> None:
    with pytest.raises(ValidationError, match="'total' is 20, the axes give 13"):
        ScoredRepository.model_validate(scored("a/b", total=20))


@pytest.mark.parametrize("points", [2, 4])
def test_points_for_novelty_need_a_reason(points: int) -> None:
    with pytest.raises(ValidationError, match="need a 'reason'"):
        ScoredRepository.model_validate(scored("a/b", novelty=points, reason=" "))


def test_no_axis_gives_points_that_the_matrix_lacks() -> None:
    for points in (1, 3, 5):
        with pytest.raises(ValidationError):
            ScoredRepository.model_validate(scored("a/b", novelty=points))


def test_the_best_come_first_and_equal_ones_by_name() -> None:
    best, second, third = scored("z/z"), scored("A/b", novelty=2), scored("c/d", novelty=2)
    Registry.model_validate({"repositories": [best, second, third]})
    for wrong in ([second, best, third], [best, third, second]):
        with pytest.raises(ValidationError, match="not ranked"):
            Registry.model_validate({"repositories": wrong})


def test_a_repository_stands_once() -> None:
    with pytest.raises(ValidationError, match="stands twice: a/b"):
        Registry.model_validate({"repositories": [scored("A/b"), scored("a/B")]})
