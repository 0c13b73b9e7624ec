"""A merged change in a small repository of its own, as a task in a dataset of its own."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nanobench.cli.task import task as command
from nanobench.files import StateDirectory

Files = dict[str, str]
MERGED_AT = "2026-05-04T09:00:00+00:00"
BASE: Files = {"src/add.js": "exports.add = (a, b) => a - b;\n"}
CHANGE: Files = {
    "src/add.js": "exports.add = (a, b) => a + b;\n",
    "test/add.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { add } = require('../src/add.js');\n"
        "test('adds', () => assert.strictEqual(add(1, 2), 3));\n"
        "test('is there', () => assert.ok(add));\n"
    ),
}


def git(directory: Path, *arguments: str, date: str = MERGED_AT) -> str:
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.org"), ("DATE", date))
    }
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env={**clean, **who, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode(errors="surrogateescape")


def _commit(repository: Path, files: Files, message: str, date: str) -> str:
    for name, text in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", message, date=date)
    return git(repository, "rev-parse", "HEAD").strip()


@dataclass
class Submission:
    """A task file in its folder, beside a registry that knows its repository."""

    repository: Path
    tasks: Path
    document: dict[str, Any]
    state: Path
    git: Callable[..., str] = git

    @property
    def path(self) -> Path:
        return self.tasks / "acme-add" / f"{self.document['task_id']}.json"

    def write(self, **changes: Any) -> Path:
        """Write the task file with some fields changed; `...` leaves a field out."""
        document = {k: v for k, v in {**self.document, **changes}.items() if v is not ...}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(document, indent=2))
        return self.path

    def gate(self, *arguments: str, **changes: Any) -> "Gated":
        path = self.write(**changes)
        return self.run(str(path), *arguments)

    def run(self, *arguments: str) -> "Gated":
        done = CliRunner().invoke(
            command,
            [
                *("gate", *arguments, "--json"),
                *("--tasks-dir", str(self.tasks), "--state-dir", str(self.state)),
            ],
        )
        return Gated(done)


@dataclass
class Gated:
    """What the command did: its error, and the result document."""

    done: Result

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.done.stdout)
        return found

    @property
    def statuses(self) -> dict[str, str]:
        (task,) = self.document["tasks"]
        return {gate["gate"]: gate["status"] for gate in task["gates"]}

    def problems(self, gate: str) -> list[dict[str, Any]]:
        (task,) = self.document["tasks"]
        (outcome,) = [one for one in task["gates"] if one["gate"] == gate]
        found: list[dict[str, Any]] = outcome["problems"]
        return found

    def told(self, gate: str) -> str:
        return "\n".join(f"{one['field']}: {one['seen']}" for one in self.problems(gate))


@pytest.fixture
def submit(tmp_path: Path, shared_state: StateDirectory) -> Callable[..., Submission]:
    """`submit(change=..., base=..., date=..., base_date=...)` makes the repository and the task."""

    def make(
        change: Files | None = None, base: Files | None = None, date: str = MERGED_AT
    ) -> Submission:
        repository = tmp_path / "repository"
        repository.mkdir()
        git(repository, "init", "-q", "-b", "main")
        before = _commit(repository, base or BASE, "Begin", date)
        merge = _commit(repository, {**CHANGE, **(change or {})}, "Add, do not subtract", date)
        patch = git(repository, "diff", "--binary", before, merge)
        document = {
            "task_id": "add-1",
            "repo": "acme/add",
            "repo_url": str(repository),
            "base_commit": before,
            "merge_commit": merge,
            "languages": ["JavaScript"],
            "domain": "arithmetic",
            "complexity_tier": "Tier 1 (Isolated Edit)",
            "task_type": "bug_fix",
            "reasoning_category": "single_file",
            "token_estimate": 20,
            "problem_statement": {
                "from": "commit_message",
                "commit": merge,
                "sha256": hashlib.sha256(b"Add, do not subtract").hexdigest(),
            },
            "required_files": ["src/add.js"],
            "ground_truth_patch": {
                "base": before,
                "merge": merge,
                "sha256": hashlib.sha256(patch.encode()).hexdigest(),
            },
            "contributor": "ann",
            "merged_at": date,
            "suites": [
                {"name": "node", "language": "JavaScript", "command": "node --test test/*.test.js"}
            ],
            "test_files": ["test/add.test.js"],
            "environment": {"runtimes": {"node": ">=22"}},
            "expected": {
                "fail_to_pass": {"node": ["test/add.test.js::adds"]},
                "pass_to_pass": {"node": ["test/add.test.js::is there"]},
            },
        }
        tasks = tmp_path / "tasks"
        tasks.mkdir()
        (tasks / "dataset.json").write_text(
            json.dumps(
                {
                    "name": "acme",
                    "version": "0.1.0",
                    "contamination_cutoff": "2026-04-01T00:00:00Z",
                }
            )
        )
        entry = _scored("acme/add", repo_url=str(repository))
        (tasks / "registry.json").write_text(json.dumps({"repositories": [entry]}))
        return Submission(repository, tasks, document, shared_state.root)

    return make


def _scored(repo: str, **changes: Any) -> dict[str, Any]:
    """An entry of the registry with 16 points."""
    document = {
        "repo": repo,
        "repo_url": f"https://example.org/{repo}",
        "domain": "arithmetic",
        "commit": "c" * 40,
        "languages": {"points": 2, "sample": 20, "changes": {"Go": 9, "Python": 9},
                      "counted": ["Go", "Python"]},
        "depth": {"points": 4, "mean_files": 4.4},
        "activity": {"points": 4, "merged": 40, "since": "2026-05-01T00:00:00Z",
                     "until": "2026-09-01T00:00:00Z", "months": 4.0, "per_month": 10.0},
        "novelty": {"points": 4, "reason": "the first of its kind"},
        "context": {"points": 2, "median_tokens": 30000, "tokenizer": "bytes/4"},
        "changes": [],
        "total": 16,
    }  # fmt: skip
    return {**document, **changes}


@pytest.fixture
def scored() -> Callable[..., dict[str, Any]]:
    """`scored(repo, **changes)`: an entry of the registry, of 16 points by default."""
    return _scored
