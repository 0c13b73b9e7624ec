"""`nanobench export` and `history` as a user meets them, and what the other tools say of the files.

The readers are the extra `nanobench[readers]`. Where this Python does not have them, the variables
NANOBENCH_INSPECT_PYTHON and NANOBENCH_HARBOR_PYTHON can name one that has (Harbor needs 3.12).
"""

import gzip
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask

Run = Callable[..., subprocess.CompletedProcess[str]]
HOSTILE = '=cmd|"\x1b[31m\u202e|</script>`@someone`\ud83d\ude00'
PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
INSPECT = """
import sys
from inspect_ai.log import read_eval_log
for path in sys.argv[1:]:
    log = read_eval_log(path)
    again = read_eval_log(path, header_only=True)
    assert log.status == again.status == "success"
    print(log.eval.model, [(s.id, s.epoch, s.scores and s.scores["nanobench"].value,
        len(s.messages), bool(s.error)) for s in log.samples])
"""
HARBOR = """
import sys
from pathlib import Path
from harbor.utils.trajectory_validator import TrajectoryValidator
for path in sys.argv[1:]:
    validator = TrajectoryValidator()
    assert validator.validate(Path(path)), validator.get_errors()
    print("valid")
"""


def record(cell: Cell, score: float | None, day: int = 1) -> dict[str, Any]:
    graded = score is not None
    return {
        "schema_version": "1.1",
        "cell": cell.model_dump(mode="json"),
        "attempt": 1,
        "provenance": {
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
                "sandbox": "none",
                "agent_network": "host",
                "verify_network": "host",
            },
            "tool_surface": {
                "tools": None,
                "agents_md_sha256": None,
                "web_access": False,
                "vision": False,
                "dependencies_writable": False,
            },
            "settings": {},
            "limits": {},
        },
        "signals": {
            "mode": cell.mode,
            "required_files": ["a.py"],
            "agent": {
                "ending": "completed",
                "exit_code": 0,
                "report": "complete",
                "report_bytes": 1,
                "usage": {"input_tokens": 10, "output_tokens": 5, "source": "gateway"},
            },
            "edits": {"source": "diff", "reported": []},
            "verification": {"possible": True},
            "infrastructure": [] if graded else ["quota"],
        },
        "verdict": {
            "ruleset": "1.1",
            "outcome": "graded" if graded else "infrastructure_error",
            "score": score,
            "label": {1.0: "Complete Resolution", 0.0: "Zero Signal", None: None}[score],
            "solved": score == 1.0,
            "reason": None if graded else "quota",
            "evidence": [HOSTILE],
        },
        "completion": {
            "verification_summary": "ran",
            "commands_run": [],
            "artifacts_created": [],
            "remaining_failures": [],
        },
        "agent_patch_sha256": hashlib.sha256(PATCH.encode()).hexdigest(),
        "timing": {"started_at": f"2026-05-{day:02}T00:00:00Z", "phases_seconds": {"agent": 2.5}},
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two models on one task, three runs each; one ended in trouble."""
    root = tmp_path / "results"
    cells = [
        Cell(model=ModelRef.parse(f"acme/{name}"), task_id="t1", mode="hinted", run=run)
        for name in ("one", "two")
        for run in (1, 2, 3)
    ]
    task = PlanTask(task_id="t1", origin="dataset", sha256="a" * 64, tier=1)
    root.mkdir()
    (root / "plan.json").write_text(Plan(tasks=(task,), cells=tuple(cells)).to_json())
    report = {
        "kind": "success",
        "exitCode": 0,
        "finalText": HOSTILE,
        "toolCalls": [
            {"name": "read_file", "arguments": {"path": HOSTILE}, "result": HOSTILE},
            {"name": "write_file", "arguments": "{broken", "error": "no JSON"},
        ],
    }
    for number, cell in enumerate(cells):
        home = root / "cells" / cell.cell_id / "attempt-1"
        (home / "outputs").mkdir(parents=True)
        score = None if number == 5 else float(number % 2)
        (home / "record.json").write_text(json.dumps(record(cell, score, number + 1)))
        (home / "agent.patch").write_text(PATCH)
        (home / "prompt.txt").write_text("Mend it.", encoding="utf-8")
        data = gzip.compress(json.dumps(report).encode())
        (home / "outputs" / "agent-report.log.gz").write_bytes(data)
    return root


def reader(variable: str, module: str) -> str:
    """A Python that has the other tool."""
    if importlib.util.find_spec(module):
        return sys.executable
    if variable in os.environ:
        return os.environ[variable]
    pytest.skip(f"{module} is not here; install nanobench[readers] or set {variable}")


def asked(python: str, script: str, paths: list[Path], home: Path) -> list[str]:
    done = subprocess.run(
        [python, "-c", script, *map(str, paths)],
        cwd=home,
        env={**os.environ, "HOME": str(home), "HARBOR_TELEMETRY": "off"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_inspect_reads_our_logs(tmp_path: Path, results: Path, nanobench: Run) -> None:
    python = reader("NANOBENCH_INSPECT_PYTHON", "inspect_ai")
    assert nanobench("export", results, "--format", "inspect", "--out", "logs").returncode == 0
    told = asked(python, INSPECT, sorted((tmp_path / "logs").iterdir()), tmp_path)
    assert told == [
        "acme/one [('t1', 1, 0.0, 6, False), ('t1', 2, 1.0, 6, False), ('t1', 3, 0.0, 6, False)]",
        "acme/two [('t1', 1, 1.0, 6, False), ('t1', 2, 0.0, 6, False), ('t1', 3, None, 6, True)]",
    ]


def test_harbors_validator_passes_our_trajectories(
    tmp_path: Path, results: Path, nanobench: Run
) -> None:
    python = reader("NANOBENCH_HARBOR_PYTHON", "harbor")
    assert nanobench("export", results, "--format", "atif", "--out", "atif").returncode == 0
    assert asked(python, HARBOR, sorted((tmp_path / "atif").iterdir()), tmp_path) == ["valid"] * 6


def test_exports_are_the_same_bytes_in_any_environment(
    tmp_path: Path, results: Path, nanobench: Run
) -> None:
    forms = {"csv": "runs.csv", "parquet": "runs.parquet", "inspect": "i", "atif": "a"}
    forms["predictions"] = "p"
    told = []
    for number, env in enumerate(
        (
            {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
        )
    ):
        out = tmp_path / f"out-{number}"
        for form, name in forms.items():
            done = nanobench("export", results, "--format", form, "--out", out / name, env=env)
            assert done.returncode == 0, done.stderr
        assert (
            nanobench("history", "add", results, "--to", out / "h.jsonl", env=env).returncode == 0
        )
        assert nanobench("history", "show", out / "h.jsonl", "--out", out, env=env).returncode == 0
        files = sorted(path for path in out.rglob("*") if path.is_file() and path.stat().st_size)
        told.append({path.relative_to(out).as_posix(): path.read_bytes() for path in files})
    assert told[0] == told[1]
    assert {name.rpartition(".")[2] for name in told[0]} == {
        "csv", "parquet", "json", "jsonl", "svg", "md",
    }  # fmt: skip


def test_what_cannot_be_exported_is_named_and_the_rest_is_written(
    tmp_path: Path, results: Path, nanobench: Run
) -> None:
    first, second = sorted((results / "cells").iterdir())[:2]
    (first / "attempt-1" / "record.json").write_text("{")
    (second / "attempt-1" / "agent.patch").write_text("another")
    done = nanobench("export", results, "--format", "predictions", "--out", "p")
    assert done.returncode == 3
    assert first.name in done.stderr
    assert second.name in done.stderr
    lines = [line for path in (tmp_path / "p").iterdir() for line in path.read_text().splitlines()]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["export", "none", "--format", "csv", "--out", "x"], 3, "no results here"),
        (["export", "results", "--format", "xml", "--out", "x"], 2, "--format"),
        (["export", "results", "--format", "csv", "--out", "results"], 2, "this is a directory"),
        (
            ["export", "results", "--format", "atif", "--out", "results/plan.json"],
            4,
            "cannot write",
        ),
        (["history", "add", "none", "--to", "h"], 3, "no results here"),
        (["history", "add", "results", "--to", "results/plan.json/h"], 4, "cannot write"),
        (["history", "add", "results", "--to", "results/plan.json"], 3, "line 1"),
        (["history", "show", "none"], 2, "none"),
        (["history", "show", "results/plan.json"], 3, "line 1"),
    ],
)
def test_what_cannot_be_is_refused_with_its_exit_code(
    results: Path, nanobench: Run, arguments: list[str], code: int, told: str
) -> None:
    before = (results / "plan.json").read_bytes()
    done = nanobench(*arguments)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr
    assert (results / "plan.json").read_bytes() == before


def test_a_history_grows_and_is_shown(tmp_path: Path, results: Path, nanobench: Run) -> None:
    for told in ("2 added, 0 there already", "0 added, 2 there already"):
        assert told in nanobench("history", "add", results, "--to", "h.jsonl").stdout
    shown = nanobench("history", "show", "h.jsonl", "--out", "shown")
    assert shown.returncode == 0, shown.stderr
    assert "acme/two" in shown.stdout
    assert "1/2" in shown.stdout
    page = (tmp_path / "shown" / "history.md").read_text()
    for plot in (tmp_path / "shown").glob("*.svg"):
        assert f"]({plot.name})" in page
    listed = json.loads(nanobench("history", "show", "h.jsonl", "--json").stdout)
    assert [entry["solved"] for entry in listed] == [1, 1]
