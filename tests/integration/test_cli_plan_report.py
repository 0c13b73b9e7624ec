"""`nanobench plan` and `nanobench report` as a user meets them: files, output, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.plan import Plan
from nanobench.report.document import Report

CHECKOUT = Path(__file__).parents[2]
NAMES = ("report.json", "report.md", "report.html", "matrix.json", "matrix.csv")
HEAVY = ("pydantic", "rich", "aiohttp", "jsonschema", "asyncio")


@pytest.fixture
def nanobench(tmp_path: Path) -> Any:
    """`nanobench(*arguments, env={})` runs the command; a traceback is never acceptable."""

    def run(*arguments: object, env: dict[str, str] | None = None) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "nanobench", *map(str, arguments)],
            cwd=CHECKOUT,
            env={
                **os.environ,
                "HOME": str(tmp_path / "home"),
                "NANOBENCH_STATE_DIR": str(tmp_path / "state"),
                **(env or {}),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        return done

    return run


def record(plan: Plan, number: int, **verdict: Any) -> dict[str, Any]:
    """A record of the plan's cell `number`."""
    cell = plan.cells[number]
    return {
        "schema_version": "1.0",
        "cell": cell.model_dump(mode="json"),
        "attempt": 1,
        "provenance": {
            "nanobench": "0.1.0",
            "nanocoder": "1.30.0",
            "node": "22.0.0",
            "platform": "linux-x64",
            "task_sha256": plan.tasks[0].sha256,
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
            "settings": plan.agent.model_dump(mode="json"),
            "limits": plan.limits.model_dump(mode="json"),
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
            "score": 1.0,
            "label": "Complete Resolution",
            "solved": True,
            **verdict,
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


@pytest.fixture
def results(tmp_path: Path, nanobench: Any) -> Path:
    """A result directory with four planned cells, one of them run."""
    out = tmp_path / "results"
    done = nanobench(
        "plan", "--models", "acme/one,acme/two", "--tasks", "hono-5067", "--runs", 2,
        "--out", out / "plan.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plan = Plan.from_json((out / "plan.json").read_bytes())
    assert len(plan.cells) == 4
    write(out, plan, 0)
    return out


def write(out: Path, plan: Plan, number: int, **verdict: Any) -> Path:
    path = out / "cells" / plan.cells[number].cell_id / "attempt-1" / "record.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record(plan, number, **verdict)))
    return path


def plan_of(results: Path) -> Plan:
    return Plan.from_json((results / "plan.json").read_bytes())


def test_planning_twice_gives_the_same_bytes_and_warns(tmp_path: Path, nanobench: Any) -> None:
    plans = []
    for name, seed in (("a.json", "1"), ("b.json", "2")):
        done = nanobench(
            "plan", "--models", "acme/one", "--models", "acme/two", "--mode", "both",
            "--timeout", 60, "--max-turns", 9, "--nanocoder", "1.2.3", "--ruleset", "1.0",
            "--tasks", "hono-5067", "--out", tmp_path / name,
            env={"PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "warning: a comparison of these results could never separate" in done.stderr
        plans.append((tmp_path / name).read_bytes())
    assert plans[0] == plans[1]
    plan = Plan.from_json(plans[0])
    assert [(c.mode, str(c.model)) for c in plan.cells] == [
        ("hinted", "acme/one"),
        ("hinted", "acme/two"),
        ("navigation", "acme/one"),
        ("navigation", "acme/two"),
    ]
    assert (plan.limits.agent_seconds, plan.limits.max_turns) == (60, 9)
    assert (plan.agent.nanocoder, plan.ruleset) == ("1.2.3", "1.0")


def test_a_cutoff_of_a_month_is_its_last_day(tmp_path: Path, nanobench: Any) -> None:
    out = tmp_path / "plan.json"
    done = nanobench(
        "plan", "--models", "a/b,a/c=d", "--tasks", "hono-5067", "--out", out,
        "--model-cutoff", "a/b=2028-02", "--model-cutoff", "a/c=d=2025-12-05",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plan = Plan.from_json(out.read_bytes())
    assert {name: str(day) for name, day in plan.model_cutoffs.items()} == {
        "a/b": "2028-02-29",
        "a/c=d": "2025-12-05",
    }
    (task,) = plan.tasks
    assert task.facts is not None
    assert task.facts.languages == ("TypeScript",)


def test_a_program_can_read_what_was_planned(tmp_path: Path, nanobench: Any) -> None:
    out = tmp_path / "new" / "plan.json"
    done = nanobench("plan", "--models", "a/b", "--tasks", "hono-5067", "--out", out, "--json")
    told = json.loads(done.stdout)
    assert told["cells"] == [cell.cell_id for cell in Plan.from_json(out.read_bytes()).cells]
    assert told["tasks"] == ["hono-5067"]
    assert done.stderr == ""


def test_the_sample_is_planned_only_when_named(tmp_path: Path, nanobench: Any) -> None:
    out = tmp_path / "plan.json"
    assert nanobench("plan", "--models", "a/b", "--out", out).returncode == 0
    assert {t.origin for t in Plan.from_json(out.read_bytes()).tasks} == {"dataset"}
    assert not (tmp_path / "state" / "sample").exists()
    hashes = set()
    for state in ("one", "two"):
        done = nanobench(
            "plan", "--models", "scripted/gold", "--tasks", "sample", "--out", out,
            "--state-dir", tmp_path / state,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (task,) = Plan.from_json(out.read_bytes()).tasks
        assert task.origin == "sample"
        hashes.add(task.sha256)
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--models", "nonsense"], 2, "'nonsense' is not of the form provider/model"),
        (["--models", ","], 2, "no model is named"),
        (["--models", "a/b,a/b"], 2, "the model a/b stands twice"),
        (["--models", "a/b", "--tasks", "no-such-task"], 2, "no task is named"),
        (["--models", "a/b", "--tasks", "./none.json"], 3, "cannot be read"),
        (["--models", "a/b", "--runs", "0"], 2, "neither 'auto' nor"),
        (["--models", "a/b", "--runs", "many"], 2, "neither 'auto' nor"),
        (["--models", "a/b", "--model-cutoff", "a/b=soon"], 2, "=YYYY-MM"),
        (["--models", "a/b", "--model-cutoff", "a/b=2026-13"], 2, "=YYYY-MM"),
        (["--models", "a/b", "--model-cutoff", "a/c=2026-01"], 2, "a/c, which is not planned"),
        (["--models", "a/b", "--timeout", "nan"], 2, "--timeout"),
        (["--models", "a/b", "--tasks-dir", "/nonexistent"], 2, "not a directory of task files"),
        (["--models", "a/b", "--out", "."], 2, "this is a directory"),
        (["--models", "a/b", "--out", "README.md/x/plan.json"], 4, "cannot write"),
        (["--models", "a/b", "--out", "/proc/none/plan.json"], 4, "cannot write"),
        (["--models", "a/b", "--state-dir", "README.md"], 4, "cannot write"),
        ([], 2, "--models"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_with_its_exit_code(
    tmp_path: Path, nanobench: Any, arguments: list[str], code: int, told: str
) -> None:
    out = [] if "--out" in arguments else ["--out", tmp_path / "plan.json"]
    done = nanobench("plan", *arguments, *out)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "plan.json").exists()


def test_a_wrong_task_file_is_told_with_its_field(tmp_path: Path, nanobench: Any) -> None:
    source = CHECKOUT / "tasks" / "honojs-hono" / "hono-5067.json"
    document = json.loads(source.read_text())
    document["base_comit"] = document.pop("base_commit")
    path = tmp_path / "hono-5067.json"
    path.write_text(json.dumps(document))
    done = nanobench("plan", "--models", "a/b", "--tasks", path, "--out", tmp_path / "plan.json")
    assert done.returncode == 3
    assert "base_comit: there is no such field; did you mean 'base_commit'?" in done.stderr
    assert str(path) in done.stderr


def test_a_report_names_present_and_missing_cells(
    tmp_path: Path, results: Path, nanobench: Any
) -> None:
    out = tmp_path / "report"
    done = nanobench("report", results, "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("missing") == 3
    document = Report.from_json((out / "report.json").read_bytes())
    assert [row.state for row in document.cells] == ["present", "missing", "missing", "missing"]
    page = (out / "report.md").read_text()
    for cell in plan_of(results).cells[1:]:
        assert cell.cell_id in page.split("## Missing runs")[1]


def test_json_output_is_the_report_itself(tmp_path: Path, results: Path, nanobench: Any) -> None:
    done = nanobench("report", results, "--out", tmp_path / "report", "--json")
    assert done.stdout == (tmp_path / "report" / "report.json").read_text()


def test_results_merged_in_any_order_and_place_give_the_same_bytes(
    tmp_path: Path, results: Path, nanobench: Any
) -> None:
    other = tmp_path / "other"
    write(other, plan_of(results), 1, score=0.0, label="Zero Signal", solved=False, rule=2)
    pages = []
    for number, directories in enumerate(([results, other], [other, results])):
        out = tmp_path / f"report-{number}"
        env = {
            "PYTHONHASHSEED": str(number),
            "TZ": ("UTC", "Asia/Tokyo")[number],
            "LC_ALL": ("C", "tr_TR.UTF-8")[number],
        }
        assert nanobench("report", *directories, "--out", out, env=env).returncode == 0
        pages.append([(out / name).read_bytes() for name in NAMES])
    assert pages[0] == pages[1]
    assert str(tmp_path).encode() not in b"".join(pages[0])


def test_only_what_fail_on_names_fails(tmp_path: Path, results: Path, nanobench: Any) -> None:
    out = tmp_path / "report"
    plan = plan_of(results)
    done = nanobench("report", results, "--out", out, "--fail-on", "missing")
    assert done.returncode == 4
    assert plan.cells[1].cell_id in done.stderr
    assert nanobench("report", results, "--out", out, "--fail-on", "infrastructure").returncode == 0
    for number in (1, 2, 3):
        write(results, plan, number)
    assert nanobench("report", results, "--out", out, "--fail-on", "missing").returncode == 0


def test_infrastructure_trouble_can_fail_a_report(
    tmp_path: Path, results: Path, nanobench: Any
) -> None:
    trouble = {"outcome": "infrastructure_error", "score": None, "label": None, "solved": False}
    plan = plan_of(results)
    write(results, plan, 1, **trouble, reason="quota")
    out = tmp_path / "report"
    done = nanobench("report", results, "--out", out, "--fail-on", "missing,infrastructure")
    assert done.returncode == 4
    assert f"{plan.cells[1].cell_id} (infrastructure)" in done.stderr
    assert "quota" in (out / "report.md").read_text()
    assert nanobench("report", results, "--out", out, "--fail-on", "slow").returncode == 2


@pytest.mark.parametrize(
    ("share", "code"), [("infrastructure>25%", 0), ("infrastructure>24%", 4), (">101%", 2)]
)
def test_infrastructure_trouble_fails_a_report_above_a_share_of_all_cells(
    tmp_path: Path, results: Path, nanobench: Any, share: str, code: int
) -> None:
    trouble = {"outcome": "infrastructure_error", "score": None, "label": None, "solved": False}
    plan = plan_of(results)
    for number, verdict in ((1, trouble), (2, {}), (3, {})):  # 0 stands already
        write(results, plan, number, **verdict)
    done = nanobench("report", results, "--out", tmp_path / "report", "--fail-on", share)
    assert done.returncode == code, done.stderr


def test_unreadable_records_are_named_and_the_rest_is_reported(
    tmp_path: Path, results: Path, nanobench: Any
) -> None:
    plan = plan_of(results)
    truncated = write(results, plan, 1)
    truncated.write_bytes(truncated.read_bytes()[:100])
    future = record(plan, 2)
    future["schema_version"] = "9.0"
    write(results, plan, 2).write_text(json.dumps(future))
    write(results, plan, 3).write_text('{"hello": "world"}')
    corrupt = write(results / "copy", plan, 0)
    corrupt.write_bytes(corrupt.read_bytes().replace(b'"attempt"', b'"att\xffmpt"'))
    out = tmp_path / "report"
    done = nanobench("report", results, "--out", out)
    assert done.returncode == 3
    page = (out / "report.md").read_text()
    assert "copy/cells/" in done.stderr
    for number in (1, 2, 3):
        assert plan.cells[number].cell_id in done.stderr
        assert plan.cells[number].cell_id in page.split("## Models")[0]
    assert "**1 of 1 graded runs solved**" in page


@pytest.mark.parametrize(
    ("directory", "out", "code", "told"),
    [
        ("none", "report", 3, "no results here"),
        ("empty", "report", 3, "neither a plan nor a record"),
        ("results", "file", 4, "cannot write"),
        ("results", "file/report", 4, "cannot write"),
    ],
)
def test_a_report_that_cannot_be_made_says_why(
    tmp_path: Path, results: Path, nanobench: Any, directory: str, out: str, code: int, told: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("kept")
    done = nanobench("report", tmp_path / directory, "--out", tmp_path / out)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("command", ["plan", "report"])
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        "import sys; from nanobench.cli.main import root\n"
        f"root(['{command}', '--help'], standalone_mode=False)\n"
        f"sys.exit(', '.join(name for name in {HEAVY} if name in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
