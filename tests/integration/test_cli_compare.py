"""`nanobench compare` and `report --baseline` as a user meets them: files, output, exit codes."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.plan import AgentSettings, Cell, Limits, ModelRef, Plan, PlanTask
from nanobench.report.comparison_document import Comparison
from nanobench.report.document import Report

Run = Callable[..., subprocess.CompletedProcess[str]]
TASKS = ("a", "b", "c")
ISOLATION = {
    "strategy": "native",
    "sandbox": "none",
    "agent_network": "host",
    "verify_network": "host",
}
SURFACE = {
    "tools": None,
    "agents_md_sha256": None,
    "web_access": False,
    "vision": False,
    "dependencies_writable": False,
}


def record(cell: Cell, solved: bool, **provenance: str) -> dict[str, Any]:
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
            "isolation": ISOLATION,
            "tool_surface": SURFACE,
            "settings": AgentSettings().model_dump(mode="json"),
            "limits": Limits().model_dump(mode="json"),
            **provenance,
        },
        "signals": {
            "mode": cell.mode,
            "required_files": ["a.py"],
            "agent": {
                "ending": "completed",
                "exit_code": 0,
                "report": "complete",
                "report_bytes": 1,
            },
            "edits": {"source": "diff", "reported": []},
            "verification": {"possible": True},
        },
        "verdict": {
            "ruleset": "1.1",
            "outcome": "graded",
            "score": float(solved),
            "label": "Complete Resolution" if solved else "Zero Signal",
            "solved": solved,
            "rule": None if solved else 2,
        },
        "completion": {
            "verification_summary": "ran",
            "commands_run": [],
            "artifacts_created": [],
            "remaining_failures": [],
        },
        "agent_patch_sha256": None,
        "timing": {"started_at": "2026-05-01T00:00:00Z", "phases_seconds": {}},
    }


def write(out: Path, solved: int, *, absent: int = 0, order: int = 0, **provenance: str) -> Path:
    """Three tasks, five runs each, of which `solved` are solved and `absent` never ran."""
    cells = [
        Cell(model=ModelRef.parse("acme/one"), task_id=task, mode="hinted", run=run)
        for run in range(1, 6)
        for task in TASKS
    ]
    tasks = tuple(PlanTask(task_id=t, origin="dataset", sha256="a" * 64, tier=3) for t in TASKS)
    out.mkdir()
    (out / "plan.json").write_text(Plan(tasks=tasks, cells=tuple(cells)).to_json())
    kept = cells[: len(cells) - absent]
    random.Random(order).shuffle(kept)
    for cell in kept:
        path = out / "cells" / cell.cell_id / "attempt-1" / "record.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(record(cell, cell.run <= solved, **provenance)))
    return out


def test_a_regression_exits_with_1_and_tells_where(tmp_path: Path, nanobench: Run) -> None:
    write(tmp_path / "old", 5)
    write(tmp_path / "new", 1, nanocoder="1.31.0")
    done = nanobench("compare", "old", "new", "--out", "told")
    assert done.returncode == 1
    assert done.stdout.startswith("verdict: regression\n")
    assert "acme/one hinted" in done.stderr
    comparison = Comparison.from_json((tmp_path / "told" / "comparison.json").read_bytes())
    assert comparison.verdict == "regression"
    assert [varied.name for varied in comparison.varied] == ["nanocoder"]
    page = (tmp_path / "told" / "comparison.md").read_text()
    assert page.splitlines()[2].startswith("**Regression**")
    assert page.index("## Verdict") < page.index("## Where") < page.index("## Why")


@pytest.mark.parametrize(("before", "after"), [(1, 5), (4, 4), (5, 4)])
def test_an_improvement_and_noise_exit_with_0(
    tmp_path: Path, nanobench: Run, before: int, after: int
) -> None:
    write(tmp_path / "old", before)
    write(tmp_path / "new", after)
    done = nanobench("compare", "old", "new", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    verdict = Comparison.from_json(done.stdout).verdict
    assert verdict == ("improvement" if after > before else "not distinguishable from noise")


def test_a_report_against_a_baseline_puts_the_verdict_first(tmp_path: Path, nanobench: Run) -> None:
    write(tmp_path / "old", 5)
    write(tmp_path / "new", 1)
    done = nanobench("report", "new", "--out", "r", "--baseline", "old")
    assert (done.returncode, done.stderr) == (0, "")
    assert "verdict: regression" in done.stdout
    page = (tmp_path / "r" / "report.md").read_text()
    assert page.index("**Regression**") < page.index("graded runs solved")
    assert Report.from_json((tmp_path / "r" / "report.json").read_bytes()).cells
    assert Comparison.from_json((tmp_path / "r" / "comparison.json").read_bytes())
    done = nanobench(
        "report", "new", "--out", "r", "--baseline", "old",
        "--fail-on", "regression,missing,infrastructure",
    )  # fmt: skip
    assert done.returncode == 1
    done = nanobench("report", "old", "--out", "r", "--baseline", "new", "--fail-on", "regression")
    assert done.returncode == 0


def test_missing_cells_fail_on_their_own_and_are_no_regression(
    tmp_path: Path, nanobench: Run
) -> None:
    write(tmp_path / "old", 5)
    write(tmp_path / "new", 5, absent=3)
    options = ("--out", "r", "--baseline", "old", "--fail-on")
    assert nanobench("report", "new", *options, "regression").returncode == 0
    done = nanobench("report", "new", *options, "regression,missing")
    assert done.returncode == 4
    page = (tmp_path / "r" / "report.md").read_text()
    assert page.splitlines()[2].startswith("**Not comparable**")
    assert page.count("1 missing after (3 tasks)") == 1


def test_a_regression_needs_a_baseline(tmp_path: Path, nanobench: Run) -> None:
    write(tmp_path / "new", 5)
    done = nanobench("report", "new", "--out", "r", "--fail-on", "regression")
    assert done.returncode == 2
    assert "--baseline" in done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(("old", "told"), [("none", "no results here"), ("empty", "neither a")])
def test_without_results_on_a_side_there_is_no_comparison(
    tmp_path: Path, nanobench: Run, old: str, told: str
) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "new", 5)
    for arguments in (("compare", old, "new"), ("report", "new", "--baseline", old, "--out", "r")):
        done = nanobench(*arguments)
        assert (done.returncode, told in done.stderr) == (3, True)


def test_a_bench_looks_at_its_baseline_before_it_starts(tmp_path: Path, nanobench: Run) -> None:
    done = nanobench(
        "bench", "--models", "scripted/noop", "--tasks", "sample", "--out", "out",
        "--state-dir", tmp_path / "state", "--baseline", "none",
    )  # fmt: skip
    assert (done.returncode, "no results here" in done.stderr) == (3, True)
    assert not (tmp_path / "out").exists()


def test_unreadable_records_are_named_and_the_rest_is_compared(
    tmp_path: Path, nanobench: Run
) -> None:
    write(tmp_path / "old", 5)
    write(tmp_path / "new", 5)
    broken = next((tmp_path / "new").rglob("record.json"))
    broken.write_text("{")
    done = nanobench("compare", "old", "new", "--out", "told")
    assert done.returncode == 3
    assert broken.parent.parent.name in done.stderr
    comparison = Comparison.from_json((tmp_path / "told" / "comparison.json").read_bytes())
    assert comparison.verdict == "not distinguishable from noise"
    assert comparison.changes[0].compared == 2


def test_the_same_records_give_the_same_bytes_anywhere(tmp_path: Path, nanobench: Run) -> None:
    """Written in another order, read under another locale, time zone and hash seed."""
    told = []
    for number, env in enumerate(
        (
            {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"},
            {"PYTHONHASHSEED": "3", "TZ": "America/Lima", "LC_ALL": "tr_TR.UTF-8"},
        )
    ):
        place = tmp_path / str(number)
        place.mkdir()
        write(place / "old", 4, order=number)
        write(place / "new", 2, order=number + 7)
        for name in ("old", "new"):
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name).symlink_to(place / name)
        for out in ("first", "again"):
            done = nanobench("report", "new", "--baseline", "old", "--out", place / out, env=env)
            assert done.returncode == 0, done.stderr
            names = ("report.html", "report.json", "report.md", "comparison.json")
            told.append([(place / out / name).read_bytes() for name in names])
    assert all(files == told[0] for files in told)


def test_help_loads_nothing_heavy() -> None:
    heavy = ("pydantic", "rich", "aiohttp", "jsonschema", "asyncio", "scipy", "numpy")
    code = (
        "import sys; from nanobench.cli.main import root\n"
        "root(['compare', '--help'], standalone_mode=False)\n"
        f"sys.exit(', '.join(name for name in {heavy} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
