"""The golden state that gates run is one that an agent's work can reach."""

from nanobench.dataset.gates.states import attainable
from nanobench.model.task import Task
from nanobench.workspace.changes import Change

CHANGED = (
    "crates/a/src/lib.rs",
    "crates/a/tests/listed.rs",
    "crates/a/tests/unlisted.rs",
    "pkg/a.go",
    "pkg/a_test.go",
    "tests/conftest.py",
    "tests/support.py",
)


def attained(**fields: object) -> set[str]:
    document = {
        "task_id": "a-1",
        "repo": "acme/widget",
        "repo_url": "https://example.org/acme/widget",
        "base_commit": "1" * 40,
        "languages": ["Rust"],
        "domain": "web framework",
        "complexity_tier": "Tier 2 (Interface Mapping)",
        "task_type": "bug fix",
        "reasoning_category": "dataflow",
        "token_estimate": 1000,
        "problem_statement": "It should work.",
        "required_files": ["crates/a/src/lib.rs"],
        "ground_truth_patch": "diff --git a/a b/a\n",
        "test_command": "cargo test",
        "contributor": "someone",
        "merged_at": "2026-05-01T00:00:00Z",
        **fields,
    }
    changes = [Change(name.encode(), 0o100644, b"", None) for name in CHANGED]
    return {change.path.decode() for change in attainable(Task.model_validate(document), changes)}


def test_a_test_that_verification_gives_to_no_agent_is_left_out() -> None:
    """Its new tests became targets that only the golden patch itself could pass."""
    left_out = set(CHANGED) - attained(test_files=["crates/a/tests/listed.rs"])
    assert left_out == {"crates/a/tests/unlisted.rs", "pkg/a_test.go", "tests/support.py"}


def test_a_listed_directory_and_a_required_file_stay() -> None:
    found = attained(
        test_files=["crates/a/tests"],
        required_files=["tests/support.py", "pkg/a.go"],
    )
    assert set(CHANGED) - found == {"pkg/a_test.go"}


def test_without_a_list_the_tests_by_name_are_given() -> None:
    assert attained() == set(CHANGED)
