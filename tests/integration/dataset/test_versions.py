"""`dataset verify` on real tags: what it lets pass, and each thing that it catches."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nanobench.cli.dataset import dataset
from nanobench.dataset.verifying import VersionProblem, verify_versions
from nanobench.dataset.versions import present_version, published_versions
from nanobench.errors import GateError, InvalidInputError, RepositoryError

CUTOFF = "2026-04-01T00:00:00Z"


def task_document(task_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "repo": "acme/widget",
        "repo_url": "https://example.org/acme/widget",
        "pr_url": f"https://example.org/acme/widget/pull/{task_id[1:]}",
        "base_commit": "1" * 40,
        "languages": ["Python"],
        "domain": "web framework",
        "complexity_tier": "Tier 2 (Interface Mapping)",
        "task_type": "bug_fix",
        "reasoning_category": "dataflow",
        "token_estimate": 1000,
        "problem_statement": {"from": "commit_message", "commit": "2" * 40, "sha256": "a" * 64},
        "required_files": ["src/a.py"],
        "ground_truth_patch": {"base": "1" * 40, "merge": "2" * 40, "sha256": "b" * 64},
        "test_command": "pytest",
        "contributor": "someone",
        "merged_at": "2026-05-01T00:00:00Z",
        "expected": {"fail_to_pass": {"tests": ["a"]}, "pass_to_pass": {"tests": []}},
        **changes,
    }


RETIRED = {"state": "retired", "reason": "flaky", "retired_on": "2026-06-01", "version": "1.1"}


class Published:
    """A dataset in a repository, whose versions are tagged."""

    def __init__(self, repo: Any) -> None:
        self.repo = repo
        self.tasks = repo.path / "tasks"

    def release(self, version: str, *tasks: dict[str, Any], cutoff: str = CUTOFF) -> None:
        self.lay(version, *tasks, cutoff=cutoff)
        self.repo.commit({}, f"Release {version}")
        self.repo.git("tag", f"v{version}")

    def lay(self, version: str, *tasks: dict[str, Any], cutoff: str = CUTOFF) -> None:
        """Write the files, and remove those of other tasks."""
        for path in self.tasks.glob("*/*.json"):
            path.unlink()
        manifest = {"name": "made-up", "version": version, "contamination_cutoff": cutoff}
        files = {f"tasks/widget/{task['task_id']}.json": json.dumps(task) for task in tasks}
        self.repo.write({"tasks/dataset.json": json.dumps(manifest), **files})

    def problems(self) -> list[VersionProblem]:
        return verify_versions([*published_versions(self.tasks), present_version(self.tasks)])

    def seen(self) -> list[tuple[str, str, str]]:
        return [(one.version, one.task_id, one.field) for one in self.problems()]


@pytest.fixture
def published(repo: Any) -> Published:
    made = Published(repo)
    made.release("1.0", task_document("t1"), task_document("t2"))
    return made


def test_what_people_decide_later_is_no_change(published: Published) -> None:
    approved = {
        "state": "approved",
        "approved_by": "someone",
        "approved_on": "2026-06-01",
        "checks": {
            "tier": True,
            "novelty_and_balance": True,
            "statement_does_not_leak": True,
            "required_files_right_and_complete": True,
        },
    }
    ruling = {"on": "2026-06-01", "by": "someone", "dispute": "a", "outcome": "b"}
    published.release(
        "1.1",
        task_document("t1", curation=approved, rulings=[ruling]),
        task_document("t2", status=RETIRED),
        task_document("t3"),
    )
    published.release(
        "1.2", task_document("t1"), task_document("t2", status=RETIRED), task_document("t3")
    )
    assert published.seen() == []


def test_a_field_written_out_with_its_default_is_no_change(published: Published) -> None:
    published.lay("1.1", task_document("t1", schema_version="1.0", suites=[]), task_document("t2"))
    assert published.seen() == []


def test_expected_may_be_written_once_and_not_again(repo: Any) -> None:
    made = Published(repo)
    made.release("1.0", task_document("t1", expected=None))
    made.release("1.1", task_document("t1"))
    assert made.seen() == []
    other = {"fail_to_pass": {"tests": ["b"]}, "pass_to_pass": {"tests": []}}
    made.lay("1.2", task_document("t1", expected=other))
    assert made.seen() == [("here", "t1", "expected")]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"base_commit": "3" * 40}, "base_commit"),
        ({"merge_commit": "3" * 40}, "merge_commit"),
        (
            {
                "problem_statement": {
                    "from": "commit_message",
                    "commit": "2" * 40,
                    "sha256": "c" * 64,
                }
            },
            "problem_statement.sha256",
        ),
        (
            {"ground_truth_patch": {"base": "1" * 40, "merge": "2" * 40, "sha256": "c" * 64}},
            "ground_truth_patch.sha256",
        ),
        ({"problem_statement": "Text."}, "problem_statement"),
        ({"required_files": ["src/b.py"]}, "required_files"),
        ({"test_command": "pytest -x"}, "test_command"),
        ({"environment": {"install": ["true"]}}, "environment.install"),
        ({"complexity_tier": "Tier 3 (System Refactor)"}, "complexity_tier"),
    ],
)
def test_a_changed_pinned_field_is_caught(
    published: Published, change: dict[str, Any], field: str
) -> None:
    published.lay("1.1", task_document("t1", **change), task_document("t2"))
    assert ("here", "t1", field) in published.seen()
    published.release("1.1", task_document("t1", **change), task_document("t2"))
    assert {row for row in published.seen() if row[2] == field} == {("v1.1", "t1", field)}


def test_a_deleted_task_is_caught(published: Published) -> None:
    published.lay("1.1", task_document("t1"))
    assert published.seen() == [("here", "t2", "")]
    assert "retire the task" in published.problems()[0].remedy


@pytest.mark.parametrize(
    "change",
    [
        {"repo": "acme/gadget"},
        {"base_commit": "3" * 40, "pr_url": "https://example.org/acme/widget/pull/9"},
    ],
)
def test_a_reused_id_is_caught(published: Published, change: dict[str, Any]) -> None:
    published.lay("1.1", task_document("t1", **change), task_document("t2"))
    assert published.seen() == [("here", "t1", "task_id")]


def test_an_id_stays_taken_after_its_task_was_deleted(published: Published) -> None:
    published.release("1.1", task_document("t1"))
    published.release("1.2", task_document("t1"), task_document("t2", repo="acme/gadget"))
    assert published.seen() == [("v1.1", "t2", ""), ("v1.2", "t2", "task_id")]


def test_two_files_with_ids_that_differ_by_case_are_caught(published: Published) -> None:
    published.lay("1.1", task_document("t1"), task_document("t2"), task_document("T2"))
    assert ("here", "t2", "task_id") in published.seen()


def test_a_retired_task_does_not_come_back(published: Published) -> None:
    published.release("1.1", task_document("t1", status=RETIRED), task_document("t2"))
    published.lay("1.2", task_document("t1"), task_document("t2"))
    assert published.seen() == [("here", "t1", "status.state")]
    other = {**RETIRED, "reason": "contaminated"}
    published.lay("1.2", task_document("t1", status=other), task_document("t2"))
    assert published.seen() == [("here", "t1", "status")]


@pytest.mark.parametrize("version", ["1.0", "0.9", None])
def test_a_task_cannot_have_left_before_it_was_published(
    published: Published, version: str | None
) -> None:
    retired = {**RETIRED, "version": version}
    published.lay("1.1", task_document("t1", status=retired), task_document("t2"))
    assert published.seen() == [("here", "t1", "status.version")]


def test_an_old_version_that_cannot_be_read_is_caught(published: Published) -> None:
    newer = task_document("t1", schema_version="9.0")
    published.release("1.1", newer, {**task_document("t2"), "unknown": 1})
    found = {problem.task_id: problem.seen for problem in published.problems()}
    assert "task schema 9.0" in found["t1"]
    assert "unknown" in found["t2"]


def test_a_tag_that_is_not_its_version_is_caught(repo: Any) -> None:
    made = Published(repo)
    made.release("1.0", task_document("t1"))
    made.repo.git("tag", "v1.1")
    assert made.seen() == [("v1.1", "", "dataset.json: version")]


def test_a_moved_cutoff_is_caught(published: Published) -> None:
    published.lay("1.1", task_document("t1"), task_document("t2"), cutoff="2026-05-01T00:00:00Z")
    assert published.seen() == [("here", "", "dataset.json: contamination_cutoff")]


def test_a_statement_that_others_can_edit_is_not_published(repo: Any) -> None:
    made = Published(repo)
    source = {"from": "issue", "url": "https://example.org/1", "sha256": "a" * 64}
    made.lay("1.0", task_document("t1", problem_statement=source))
    assert made.seen() == []
    made.release("1.0", task_document("t1", problem_statement=source))
    assert made.seen() == [("v1.0", "t1", "problem_statement.from")]


def test_versions_are_ordered_by_number_and_moving_tags_are_none(published: Published) -> None:
    for version in ("1.9", "1.10"):
        published.release(version, task_document("t1"), task_document("t2"))
    published.repo.git("tag", "v1")
    published.repo.git("tag", "nightly")
    assert [v.name for v in published_versions(published.tasks)] == ["v1.0", "v1.9", "v1.10"]


def test_a_shallow_clone_cannot_prove_anything(published: Published, tmp_path: Path) -> None:
    published.repo.commit({}, "More")
    url = f"file://{published.repo.path}"
    published.repo.git("clone", "-q", "--depth=1", url, str(tmp_path / "shallow"))
    with pytest.raises(RepositoryError, match="shallow") as caught:
        published_versions(tmp_path / "shallow/tasks")
    assert "--unshallow" in caught.value.remedy


def test_without_a_repository_nothing_is_proved(tasks: Path) -> None:
    with pytest.raises(InvalidInputError, match="no git repository"):
        published_versions(tasks)


@pytest.fixture
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("alone") / "tasks"
    directory.mkdir()
    return directory


@pytest.fixture
def verify(published: Published) -> Callable[..., Any]:
    def run(*options: str) -> Any:
        arguments = ["verify", "--tasks-dir", str(published.tasks), *options]
        return CliRunner().invoke(dataset, arguments)

    return run


def test_the_command_passes_on_what_holds(verify: Callable[..., Any]) -> None:
    result = verify()
    assert result.exit_code == 0
    assert result.output == "the files here keep what v1.0 published\n"
    assert json.loads(verify("--json").output) == {"versions": ["v1.0"], "problems": []}


def test_the_command_fails_and_tells_each_problem(
    published: Published, verify: Callable[..., Any]
) -> None:
    published.lay("1.1", task_document("t1", base_commit="3" * 40))
    result = verify()
    assert isinstance(result.exception, GateError)
    assert "here t2: it is in v1.0 and gone" in result.output
    assert f"here t1 base_commit: {'1' * 40} in v1.0, {'3' * 40} here" in result.output
    document = json.loads(verify("--json").output)
    assert {problem["field"] for problem in document["problems"]} == {"", "base_commit"}
