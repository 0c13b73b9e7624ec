"""A task file of the first format, with statement and patch written into it, through a bench."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nanobench.cli.bench import bench
from nanobench.dataset.sample.sample import build_repository, sample_task
from nanobench.files import StateDirectory
from nanobench.workspace.git import run_git

FIELDS = (
    "task_id", "repo", "repo_url", "issue_url", "pr_url", "base_commit", "languages", "domain",
    "complexity_tier", "task_type", "reasoning_category", "token_estimate", "problem_statement",
    "required_files", "ground_truth_patch", "test_command", "contributor", "merged_at",
)  # fmt: skip


def inline_document(state: StateDirectory, repository: Path) -> dict[str, Any]:
    """The sample's change in the fields of the first format, what runs its Python tests, and
    their `expected`.
    """
    task = sample_task(state)
    build_repository(repository)
    diff = run_git(
        "diff", "--binary", task.base_commit, task.merge_commit or "", git_dir=repository
    )
    suite = task.all_suites()[0]
    document = task.model_dump(mode="json", by_alias=True)
    document.update(
        task_id="inline",
        repo_url=str(repository),
        problem_statement="Write weeks and days, and only as many parts as are asked for.",
        ground_truth_patch=diff.decode(),
        test_command=suite.command,
    )
    kept = {name: document[name] for name in FIELDS}
    expected = json.loads((files("nanobench.dataset.sample") / "expected.json").read_text())
    named = {kind: {"tests": ids[suite.name]} for kind, ids in expected.items()}
    return {**kept, "expected": named, "environment": document["environment"]}


@pytest.mark.real
def test_inline_statement_and_patch_are_run_and_judged(
    shared_state: StateDirectory, tmp_path: Path
) -> None:
    folder = tmp_path / "tasks" / "sample"
    folder.mkdir(parents=True)
    manifest = {"name": "made-up", "version": "1.0", "contamination_cutoff": "2026-04-01T00:00:00Z"}
    (tmp_path / "tasks/dataset.json").write_text(json.dumps(manifest))
    document = inline_document(shared_state, tmp_path / "repository.git")
    (folder / "inline.json").write_text(json.dumps(document))
    out = tmp_path / "out"
    result = CliRunner().invoke(
        bench,
        [
            "--models", "scripted/gold,scripted/noop", "--tasks", "inline", "--jobs", "1",
            "--tasks-dir", str(tmp_path / "tasks"), "--state-dir", str(shared_state.root),
            "--out", str(out),
        ],
    )  # fmt: skip
    assert result.exit_code == 0, result.exception
    records = [json.loads(path.read_text()) for path in out.glob("cells/*/attempt-*/record.json")]
    scores = {one["cell"]["model"]["model"]: one["verdict"]["score"] for one in records}
    assert scores == {"gold": 1.0, "noop": 0.0}
