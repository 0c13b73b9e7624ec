"""`nanobench plan --github`: what a planning job hands to the jobs of its matrix."""

import json
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.plan import Plan


@pytest.fixture
def plan(job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`plan(...)`: plan the sample for some models, as a step."""
    monkeypatch.setenv("NANOBENCH_STATE_DIR", str(tmp_path / "state"))

    def run(models: int, *more: object) -> Any:
        names = ",".join(f"acme/model-{number}" for number in range(models))
        return job.run(
            "plan", "--models", names, "--tasks", "sample", "--mode", "both",
            "--out", tmp_path / "plan.json", "--github", *more,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("models", "runs", "batches"), [(3, 2, 1), (50, 3, 2), (100, 15, 12), (1, 1000, 8)]
)
def test_every_cell_of_the_plan_file_stands_in_one_batch(
    plan: Any, tmp_path: Path, models: int, runs: int, batches: int
) -> None:
    done = plan(models, "--runs", runs)
    assert done.code == 0, done.err
    found = json.loads(done.outputs["batches"])
    planned = Plan.from_json((tmp_path / "plan.json").read_bytes())
    assert [e["id"] for batch in found for e in batch["include"]] == [
        cell.cell_id for cell in planned.cells
    ]
    assert done.outputs["count"] == str(models * runs * 2) == str(len(planned.cells))
    assert len(found) == batches == len(json.loads(done.outputs["index"]))
    assert ("matrix" in done.outputs) == (batches == 1)


def test_a_plan_too_large_for_outputs_is_refused_and_the_plan_file_stands(
    plan: Any, tmp_path: Path
) -> None:
    done = plan(20, "--runs", 300)
    assert done.code == 2
    assert "a job may hand on 1,048,576" in done.err
    assert done.outputs == {}
    assert len(Plan.from_json((tmp_path / "plan.json").read_bytes()).cells) == 12_000


def test_nothing_selected_is_an_error_unless_an_empty_plan_is_allowed(
    job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NANOBENCH_STATE_DIR", str(tmp_path / "state"))
    arguments = (
        "plan", "--models", "a/b", "--tasks", "hono-5067 !hono-5067", "--github",
        "--out", tmp_path / "plan.json",
    )  # fmt: skip
    refused = job.run(*arguments)
    assert (refused.code, refused.outputs) == (2, {})
    done = job.run(*arguments, "--allow-empty")
    assert done.code == 0, done.err
    assert done.outputs["count"] == "0"
    assert json.loads(done.outputs["matrix"]) == {"include": []}
    assert Plan.from_json((tmp_path / "plan.json").read_bytes()).cells == ()
    misspelt = job.run(*arguments[:4], "hono-5O67", *arguments[5:], "--allow-empty")
    assert misspelt.code == 2
