"""The commands that people keep a task with, as they are typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nanobench.cli.dataset import dataset
from nanobench.cli.task import task
from nanobench.cli.task_decisions import CHECKS
from nanobench.errors import HashMismatchError, InvalidInputError, UsageError
from nanobench.model.task import Task

TESTED = {"src/widget.py": "x = 1\n", "tests/test_widget.py": "def test(): pass\n"}
ASSIGNED = (
    "--domain", "widgets", "--reasoning-category", "dataflow", "--contributor", "someone",
    "--task-type", "bug_fix",
)  # fmt: skip


@pytest.fixture
def tasks_dir(tmp_path: Path) -> Path:
    directory = tmp_path / "tasks"
    directory.mkdir()
    manifest = {"name": "made-up", "version": "1.0", "contamination_cutoff": "2026-04-01T00:00:00Z"}
    (directory / "dataset.json").write_text(json.dumps(manifest))
    return directory


@pytest.fixture
def extracted(repo: Any, tasks_dir: Path) -> Callable[..., Result]:
    """`extracted("--json")`: `task extract` on a commit that is a task."""
    merge = repo.commit(TESTED, "fix: it \x1b[31m(#12)\n\nIt is wrong.\n\nCloses #34\n")

    def call(*options: str, change: str = merge) -> Result:
        about = ["--repo", "acme/widget", "--repo-url", str(repo.path)]
        place = ["--tasks-dir", str(tasks_dir)]
        return CliRunner().invoke(
            task, ["extract", str(repo.path), change, *about, *place, *options]
        )

    return call


def written(extracted: Callable[..., Result], tasks_dir: Path) -> Path:
    result = extracted("--out", str(tasks_dir), *ASSIGNED)
    assert result.exit_code == 0, result.exception
    return tasks_dir / "acme-widget" / "widget-12.json"


def test_the_task_goes_to_standard_output_and_the_rest_beside_it(
    extracted: Callable[..., Result],
) -> None:
    result = extracted()
    assert result.exit_code == 0
    assert Task.model_validate_json(result.stdout).domain == "unassigned"
    assert "tokens (bytes/4)" in result.stderr
    assert "\n    2  It is wrong.\n -  3  Closes #34\n" in result.stderr
    assert "\x1b" not in result.stderr
    document = json.loads(extracted("--json").stdout)
    assert document["task"]["task_id"] == "widget-12"
    assert [row["kind"] for row in document["files"]] == ["source", "test"]


def test_a_task_file_is_written_to_its_place_and_never_over(
    extracted: Callable[..., Result], tasks_dir: Path
) -> None:
    path = written(extracted, tasks_dir)
    before = path.read_bytes()
    again = extracted("--out", str(tasks_dir))
    assert isinstance(again.exception, UsageError)
    assert path.read_bytes() == before


def test_what_cannot_be_extracted_is_told(extracted: Callable[..., Result], tmp_path: Path) -> None:
    assert isinstance(extracted(change="0" * 40).exception, InvalidInputError)
    for paragraphs in ("x", "0", "2-1", "1-", "-", "1-2-3"):
        assert extracted("--paragraphs", paragraphs).exit_code == 2
    wrong = extracted("--task-id", "not an id").exception
    assert isinstance(wrong, InvalidInputError)
    assert wrong.where == "task_id"
    nothing = CliRunner().invoke(task, ["extract", str(tmp_path / "none"), "HEAD"])
    assert isinstance(nothing.exception, InvalidInputError)


def test_show_resolves_what_an_approval_is_made_on(
    extracted: Callable[..., Result], tasks_dir: Path, tmp_path: Path
) -> None:
    path = written(extracted, tasks_dir)
    places = ["--tasks-dir", str(tasks_dir), "--state-dir", str(tmp_path / "state")]
    shown = CliRunner().invoke(task, ["show", "widget-12", *places])
    assert shown.exit_code == 0, shown.exception
    assert "It is wrong." in shown.output
    assert "\x1b" not in shown.output
    assert "expected: not written yet" in shown.output
    assert "merged at: 2026-05-02 00:02 UTC" in shown.output
    assert "size: 2 files, 2 lines added, 4 removed" in shown.output
    assert "  before it can be approved:\n    it has no 'expected'" in shown.output
    assert "a person finds true: tier, " in shown.output
    offline = CliRunner().invoke(task, ["show", str(path), "--offline", *places])
    assert "It is wrong." not in offline.output
    (document,) = json.loads(
        CliRunner().invoke(task, ["show", "widget-12", "--json", *places]).output
    )
    assert "It is wrong." in document["sections"]["statement"]["text"]
    assert document["task"]["task_id"] == "widget-12"
    changed = json.loads(path.read_text())
    changed["required_files"] = ["src/other.py"]
    path.write_text(json.dumps(changed))
    (document,) = json.loads(
        CliRunner().invoke(task, ["show", str(path), "--json", *places]).output
    )
    patch = document["sections"]["golden patch"]
    assert patch["changed, and none of these"] == ["src/widget.py (source)"]
    assert patch["required, and not changed"] == ["src/other.py"]


def test_show_refuses_a_statement_that_is_not_the_pinned_one(
    extracted: Callable[..., Result], tasks_dir: Path, tmp_path: Path
) -> None:
    path = written(extracted, tasks_dir)
    document = json.loads(path.read_text())
    document["problem_statement"]["sha256"] = "0" * 64
    path.write_text(json.dumps(document))
    shown = CliRunner().invoke(task, ["show", str(path), "--state-dir", str(tmp_path / "state")])
    assert isinstance(shown.exception, HashMismatchError)


def test_a_task_goes_from_candidate_to_retired(
    extracted: Callable[..., Result], tasks_dir: Path, tmp_path: Path
) -> None:
    path = written(extracted, tasks_dir)
    document = json.loads(path.read_text())
    document["expected"] = {"fail_to_pass": {"pytest": ["a"]}, "pass_to_pass": {"pytest": []}}
    path.write_text(json.dumps(document))
    candidate = CliRunner().invoke(task, ["show", str(path), "--offline"]).output
    assert "  fail to pass:\n    pytest 1: a\n" in candidate
    assert "before it can be approved:\n    a person finds true" in candidate
    checks = [word for check in CHECKS for word in ("--check", check)]

    def decide(*words: str) -> Result:
        return CliRunner().invoke(task, [words[0], str(path), "--on", "2026-06-01", *words[1:]])

    assert decide("approve", "--by", "someone", *checks[2:]).exit_code != 0
    assert "approved by someone" in decide("approve", "--by", "someone", *checks).output
    assert decide("rule", "--by", "b", "--dispute", " ", "--outcome", "o").exit_code != 0
    ruled = decide("rule", "--by", "b", "--dispute", "d", "--outcome", "o", "--json")
    assert Task.model_validate_json(ruled.output).rulings[0].dispute == "d"
    assert "retired" in decide("retire", "--reason", "flaky", "--version", "1.1").output
    retired = CliRunner().invoke(task, ["show", str(path), "--offline"]).output
    assert "before it can be approved" not in retired

    def listed(*selection: str) -> list[str]:
        places = ["--tasks-dir", str(tasks_dir), "--state-dir", str(tmp_path / "state"), "--json"]
        terms = [word for term in selection for word in ("--tasks", term)]
        result = CliRunner().invoke(dataset, ["list", *terms, *places])
        return [row["task_id"] for row in json.loads(result.stdout)] if result.stdout else []

    assert listed() == ["widget-12"]
    help_text = " ".join(CliRunner().invoke(dataset, ["list", "--help"]).output.split())
    assert "[default: all, retired ones too]" in help_text
    assert listed("status:retired") == ["widget-12"]
    assert listed("tier<=2,lang:py*,domain:wid*,status:*") == ["widget-12"]
    assert listed("status:active") == []
    places = ["--tasks-dir", str(tasks_dir), "--state-dir", str(tmp_path / "state")]
    hint = CliRunner().invoke(dataset, ["list", "--tasks", "widget*", *places]).stderr
    assert "status:retired" in hint


def test_an_empty_dataset_is_an_empty_list(tasks_dir: Path, tmp_path: Path) -> None:
    places = ["--tasks-dir", str(tasks_dir), "--state-dir", str(tmp_path / "state")]
    assert CliRunner().invoke(dataset, ["list", "--json", *places]).stdout == "[]\n"
    assert CliRunner().invoke(dataset, ["list", *places]).exit_code == 0
