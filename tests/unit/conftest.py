"""A record from the few facts that a report looks at."""

from collections.abc import Callable
from typing import Any

import pytest

from nanobench.model.plan import AgentSettings, Cell, Limits, ModelRef
from nanobench.model.record import Record

LABELS = {
    1.0: "Complete Resolution",
    0.5: "Partial Resolution",
    0.1: "Pathfinding Credit",
    0.0: "Zero Signal",
}


def _verdict(score: float | None, **more: Any) -> dict[str, Any]:
    return {
        "ruleset": "1.1",
        "outcome": "infrastructure_error" if score is None else "graded",
        "score": score,
        "label": None if score is None else LABELS[score],
        "solved": score == 1.0,
        **more,
    }


def _signals(mode: str) -> dict[str, Any]:
    outcomes = [{"id": "a", "status": "passed"}, {"id": "b", "status": "failed"}]
    return {
        "mode": mode,
        "required_files": ["src/a.py"],
        "agent": {
            "ending": "completed",
            "exit_code": 0,
            "report": "complete",
            "report_bytes": 10,
            "usage": {"input_tokens": 7, "output_tokens": 3, "source": "report"},
        },
        "edits": {
            "source": "diff",
            "observed": [{"path": "src/a.py", "change": "modified", "size": 5}],
            "reported": ["src/a.py"],
            "required_observed": ["src/a.py"],
        },
        "verification": {
            "possible": True,
            "suites": [
                {
                    "name": "tests",
                    "language": "Python",
                    "state": "ok",
                    "exit_code": 1,
                    "duration_seconds": 1.5,
                    "targets": outcomes,
                    "regressions": [{"id": "c", "status": "failed"}],
                    "counts": {"passed": 4, "failed": 2},
                }
            ],
        },
    }


def _provenance() -> dict[str, Any]:
    return {
        "nanobench": "0.1.0",
        "nanocoder": "1.30.0",
        "node": "22.0.0",
        "platform": "linux-x64",
        "task_sha256": "a" * 64,
        "task_schema": "1.0",
        "dataset": "nanobench 0.1.0",
        "environment_key": "key",
        "isolation": {
            "strategy": "native",
            "sandbox": "bubblewrap",
            "agent_network": "provider-only",
            "verify_network": "none",
        },
        "tool_surface": {
            "tools": None,
            "agents_md_sha256": None,
            "web_access": False,
            "vision": False,
            "dependencies_writable": False,
        },
        "settings": AgentSettings(),
        "limits": Limits(),
    }


@pytest.fixture
def make_record() -> Callable[..., Record]:
    """`make_record(score, cell="p/m task run", verdict={}, provenance={}, ...)`."""

    def make(
        score: float | None,
        cell: str = "acme/one t1 1",
        *,
        attempt: int = 1,
        mode: str = "hinted",
        started: str = "2026-05-01T00:00:00Z",
        verdict: dict[str, Any] | None = None,
        provenance: dict[str, Any] | None = None,
        signals: dict[str, Any] | None = None,
    ) -> Record:
        model, task_id, run = cell.split(" ")
        return Record.model_validate(
            {
                "cell": Cell(model=ModelRef.parse(model), task_id=task_id, mode=mode, run=int(run)),
                "attempt": attempt,
                "provenance": {**_provenance(), **(provenance or {})},
                "signals": {**_signals(mode), **(signals or {})},
                "verdict": _verdict(score, **(verdict or {})),
                "completion": {
                    "verification_summary": "ran",
                    "commands_run": [],
                    "artifacts_created": [],
                    "remaining_failures": [],
                },
                "agent_patch_sha256": None,
                "timing": {"started_at": started, "phases_seconds": {"agent": 2.0}},
            }
        )

    return make
