"""Small stand-ins for the parts that verification consumes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.record import CommandSummary
from nanobench.model.signals import SuiteState, TestOutcome
from nanobench.model.task import Suite, Task
from nanobench.verify.results import SuiteError
from nanobench.verify.suites import SuiteRun


@dataclass(frozen=True)
class FakeEntry:
    mode: int
    sha: str


@dataclass
class FakeSnapshot:
    """A base commit held in memory."""

    files: Mapping[bytes, bytes]
    modes: Mapping[bytes, int] = field(default_factory=dict)

    @property
    def entries(self) -> dict[bytes, FakeEntry]:
        return {path: FakeEntry(self.modes.get(path, 0o100644), "0" * 40) for path in self.files}

    def blobs(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        return {path: self.files[path] for path in paths}

    def unpack(self, destination: Path) -> None:
        for path, content in self.files.items():
            target = destination / path.decode()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


@pytest.fixture
def snapshot() -> type[FakeSnapshot]:
    return FakeSnapshot


@pytest.fixture
def task() -> Callable[..., Task]:
    def build(**fields: Any) -> Task:
        document: dict[str, Any] = {
            "task_id": "t-1",
            "repo": "o/r",
            "repo_url": "https://example.org/o/r",
            "base_commit": "a" * 40,
            "languages": ["Python"],
            "domain": "d",
            "complexity_tier": "Tier 1 (Isolated Edit)",
            "task_type": "fix",
            "reasoning_category": "r",
            "token_estimate": 1,
            "problem_statement": "s",
            "required_files": ["src/a.py"],
            "ground_truth_patch": "p",
            "test_command": "pytest",
            "contributor": "c",
            "merged_at": "2026-05-01T00:00:00Z",
        }
        return Task.model_validate(document | fields)

    return build


@pytest.fixture
def suite_run() -> Callable[..., SuiteRun]:
    def build(
        statuses: Mapping[str, str],
        *,
        state: SuiteState = "ok",
        exit_code: int = 0,
        name: str = "tests",
        errors: tuple[SuiteError, ...] = (),
    ) -> SuiteRun:
        summary = CommandSummary(
            command="pytest",
            exit_code=exit_code,
            duration_seconds=1.0,
            timed_out=False,
            truncated=False,
            output_lines=0,
            head="",
            tail="",
            output_id=f"suite-{name}",
        )
        tests = tuple(
            TestOutcome.model_validate({"id": test_id, "status": status})
            for test_id, status in statuses.items()
        )
        suite = Suite(name=name, language="Python", command="pytest")
        return SuiteRun(suite, state, ("-x",), tests, errors, summary)

    return build
