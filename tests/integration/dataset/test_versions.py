"""`dataset verify` on real tags: what it lets pass, and each thing that it catches."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nanobench.cli.dataset import dataset
from nanobench.dataset.verifying import verify_versions
from nanobench.dataset.version_problems import VersionProblem
from nanobench.dataset.versions import present_version, published_versions
from nanobench.errors import GateError, InvalidInputError, RepositoryError
from nanobench.model.task_migrations import upgrade_task

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


APPROVED = {
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
RULING = {"on": "2026-06-01", "by": "someone", "dispute": "a", "outcome": "b"}
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
    t1 = task_document("t1", curation=APPROVED, rulings=[RULING])
    t2 = task_document("t2", status=RETIRED)
    published.release("1.1", t1, t2, task_document("t3"))
    again = {**RULING, "outcome": "c", "escalated_to": "someone else"}
    t1 = task_document("t1", curation=APPROVED, rulings=[RULING, again])
    published.release("1.2", t1, t2, task_document("t3"))
    assert published.seen() == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"curation": {"state": "candidate"}}, "curation"),
        ({"curation": {**APPROVED, "approved_by": "another"}}, "curation"),
        ({"rulings": []}, "rulings"),
        ({"rulings": [{**RULING, "outcome": "c"}]}, "rulings"),
    ],
)
def test_a_decision_that_is_taken_away_is_caught(
    published: Published, change: dict[str, Any], field: str
) -> None:
    decided = {"curation": APPROVED, "rulings": [RULING]}
    published.release("1.1", task_document("t1", **decided), task_document("t2"))
    published.lay("1.2", task_document("t1", **{**decided, **change}), task_document("t2"))
    assert published.seen() == [("here", "t1", field)]


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


@pytest.mark.parametrize("version", ["1.0", "0.9", "soon", None])
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


def test_an_old_schema_is_read_by_its_migration(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(document: dict[str, Any]) -> dict[str, Any]:
        return {**{k: v for k, v in document.items() if k != "area"}, "domain": document["area"]}

    old = task_document("t3", schema_version="0.9", area="queue")
    published.release("1.1", task_document("t1"), task_document("t2"), old)
    assert [one[1] for one in published.seen()] == ["t3", "t3"]
    upgrade = partial(upgrade_task, steps={"0.9": ("1.0", step)})
    monkeypatch.setattr("nanobench.dataset.versions.upgrade_task", upgrade)
    assert published.seen() == []
    new = task_document("t3", domain="stack")
    published.lay("1.2", task_document("t1"), task_document("t2"), new)
    assert published.seen() == [("here", "t3", "domain")]


def test_a_tag_that_is_not_its_version_is_caught(repo: Any) -> None:
    made = Published(repo)
    made.release("1.0", task_document("t1"))
    made.repo.git("tag", "v1.1")
    assert made.seen() == [("v1.1", "", "version")]


def test_a_release_of_the_code_carries_a_version_as_it_is(published: Published) -> None:
    published.repo.commit({"code.py": "1"}, "Code")
    published.repo.git("tag", "v3.0.0")
    published.release("1.1", task_document("t1"), task_document("t2"), task_document("t3"))
    assert [v.name for v in published_versions(published.tasks)] == ["v1.0", "v3.0.0", "v1.1"]
    assert published.seen() == []


@pytest.mark.parametrize("retired", [True, False])
def test_one_number_of_a_version_is_one_set_of_tasks(published: Published, retired: bool) -> None:
    t2 = task_document("t2", status={**RETIRED, "version": "1.0"}) if retired else None
    published.lay("1.0", task_document("t1"), *([t2] if t2 else []), task_document("t3"))
    published.repo.commit({}, "Release 1.0 again")
    published.repo.git("tag", "v1.0.1")
    assert ("v1.0.1", "", "version") in published.seen()


@pytest.mark.parametrize("version", ["0.9", "next"])
def test_a_version_that_goes_back_or_is_none_is_caught(published: Published, version: str) -> None:
    published.lay(version, task_document("t1"), task_document("t2"))
    assert published.seen() == [("here", "", "version")]


@pytest.mark.parametrize("content", ["{", "[]", "{}", None])
def test_a_dataset_file_that_cannot_be_read_is_caught(
    published: Published, content: str | None
) -> None:
    manifest = published.tasks / "dataset.json"
    manifest.unlink()
    if content is not None:
        manifest.write_text(content)
    (problem,) = published.problems()
    assert (problem.file, problem.field) == ("dataset.json", "")
    published.repo.commit({}, "Release 1.1")
    published.repo.git("tag", "v1.1")
    assert {one.version for one in published.problems()} == {"v1.1", "here"}


@pytest.mark.parametrize("place", ["widget/other.json", "gadget/t1.json"])
def test_a_published_file_that_is_moved_is_caught(published: Published, place: str) -> None:
    target = published.tasks / place
    target.parent.mkdir(exist_ok=True)
    (published.tasks / "widget/t1.json").rename(target)
    (problem,) = published.problems()
    assert (problem.task_id, problem.file) == ("t1", place)
    assert problem.seen == "it was widget/t1.json in v1.0"


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ("{\n  oops", "(line 2, column 3)"),
        ("[]", "object"),
        ('{"task_id": "t1", "task_id": "t1"}', "stands twice"),
        ("\udcff", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_task_is_caught_with_its_place(
    published: Published, content: str, seen: str
) -> None:
    path = published.tasks / "widget/t1.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    (problem,) = published.problems()
    assert (problem.file, problem.field) == ("widget/t1.json", "")
    assert seen in problem.seen


def test_what_is_no_regular_file_is_not_waited_for(published: Published) -> None:
    path = published.tasks / "widget/t1.json"
    path.unlink()
    os.mkfifo(path)
    (problem,) = published.problems()
    assert "not a regular file" in problem.seen


def test_a_retired_task_is_out_of_the_version_that_it_names(published: Published) -> None:
    retired = task_document("t1", status={**RETIRED, "version": "1.2"})
    published.release("1.1", retired, task_document("t2"))
    assert published.seen() == [("v1.1", "t1", "status.version")]
    assert "retired in 1.1 already" in published.problems()[0].seen


def test_a_moved_cutoff_is_caught(published: Published) -> None:
    published.lay("1.1", task_document("t1"), task_document("t2"), cutoff="2026-05-01T00:00:00Z")
    assert published.seen() == [("here", "", "contamination_cutoff")]


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
    assert result.stdout == "the files here keep what v1.0 published\n"
    assert "nobody has approved: 2" in result.stderr
    assert json.loads(verify("--json").output) == {"versions": ["v1.0"], "problems": []}


def test_the_command_fails_and_tells_each_problem(
    published: Published, verify: Callable[..., Any]
) -> None:
    published.lay("1.1", task_document("t1", base_commit="3" * 40))
    result = verify()
    assert isinstance(result.exception, GateError)
    assert "here widget/t2.json: it is in v1.0 and gone" in result.output
    assert f"here widget/t1.json base_commit: {'1' * 40} in v1.0, {'3' * 40} here" in result.output
    document = json.loads(verify("--json").output)
    assert {problem["field"] for problem in document["problems"]} == {"", "base_commit"}
