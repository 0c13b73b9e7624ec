"""What every workflow and the action promise: pins, permissions, limits, and no way in for text."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import nanobench
from nanobench.cli.action import (
    COMMANDS,
    ENVIRONMENT,
    GATING,
    PLACING,
    PLANNING,
    PREFIX,
    PUBLISHING,
)

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTION = ROOT / "action.yml"
SELF_ACTION = ROOT / ".github/actions/nanobench/action.yml"
BIN = Path(sys.executable).parent
# Jobs that may write, and what; everything else reads.
WRITES = {
    ("benchmark.yml", "report"): {"pull-requests"},
    ("ci.yml", "matrix"): {"pull-requests"},
    ("contract.yml", "tell"): {"issues"},
    ("dataset-health.yml", "propose"): {"issues"},
    ("images.yml", "build"): {"packages"},
    ("on-demand.yml", "bench"): {"pull-requests"},
    ("regression.yml", "compare"): {"pull-requests"},
    ("regression.yml", "new"): {"pull-requests"},
    ("regression.yml", "old"): {"pull-requests"},
    ("release.yml", "publish"): {"id-token", "attestations"},
    ("release.yml", "release"): {"contents"},
    ("task-gate-comment.yml", "comment"): {"pull-requests"},
}


def load(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return found


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in load(path)["jobs"].items():
            yield path.name, name, job


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for file, name, job in jobs():
        for step in job.get("steps", ()):
            yield f"{file}: {name}", step
    for path in (ACTION, SELF_ACTION):
        for step in load(path)["runs"]["steps"]:
            yield str(path.relative_to(ROOT)), step


JOBS = list(jobs())
STEPS = list(steps())


@pytest.mark.parametrize(("file", "name", "job"), JOBS, ids=[f"{f}-{n}" for f, n, _ in JOBS])
class TestJob:
    def test_it_says_what_its_token_may_do_and_writes_only_where_listed(
        self, file: str, name: str, job: dict[str, Any]
    ) -> None:
        assert load(ROOT / ".github/workflows" / file)["permissions"] == {}
        granted = job.get("permissions", {})
        writes = {scope for scope, level in granted.items() if level == "write"}
        assert writes == WRITES.get((file, name), set())
        assert all(level in ("read", "write") for level in granted.values())

    def test_it_ends_in_time(self, file: str, name: str, job: dict[str, Any]) -> None:
        assert "uses" in job or job["timeout-minutes"]

    def test_a_job_behind_another_says_when_it_runs(
        self, file: str, name: str, job: dict[str, Any]
    ) -> None:
        """A skipped or failed job would skip all that follow, and a skipped check passes."""
        if file in ("benchmark.yml", "regression.yml") and "needs" in job:
            assert "!cancelled()" in job["if"]
            assert "always()" not in job["if"]


@pytest.mark.parametrize(("where", "step"), STEPS, ids=[w for w, _ in STEPS])
class TestStep:
    def test_no_expression_becomes_a_part_of_a_script(
        self, where: str, step: dict[str, Any]
    ) -> None:
        assert "${{" not in step.get("run", "")

    def test_actions_of_others_are_pinned_by_commit_with_their_version(
        self, where: str, step: dict[str, Any]
    ) -> None:
        uses = step.get("uses")
        if uses is None or uses.startswith("$/"):
            return
        assert re.fullmatch(r"actions/[a-z/-]+@[0-9a-f]{40}", uses)
        text = "".join(path.read_text() for path in (*WORKFLOWS, ACTION, SELF_ACTION))
        comments = set(re.findall(rf"{re.escape(uses)}(.*)", text))
        assert len(comments) == 1
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comments.pop())

    def test_a_checkout_leaves_no_token_behind(self, where: str, step: dict[str, Any]) -> None:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False

    def test_nothing_resolves_in_the_checkout_of_a_caller(
        self, where: str, step: dict[str, Any]
    ) -> None:
        assert not step.get("uses", "").startswith("./")


def test_workflows_call_each_other_at_their_own_commit() -> None:
    called = [job["uses"] for _, _, job in JOBS if "uses" in job]
    assert called
    assert all(uses.startswith("$/.github/workflows/") for uses in called)
    assert all((ROOT / uses.removeprefix("$/")).is_file() for uses in called)


def test_foreign_code_never_runs_with_rights() -> None:
    for path in WORKFLOWS:
        triggers = load(path)[True]  # YAML 1.1 reads the key `on` as true
        assert "pull_request_target" not in triggers
        if "workflow_run" in triggers:
            assert path.name == "task-gate-comment.yml"
    gate = load(ROOT / ".github/workflows/task-gate.yml")
    assert set(gate[True]) == {"pull_request"}
    assert "secrets" not in str(gate)
    (job,) = gate["jobs"].values()
    assert job["permissions"] == {"contents": "read"}
    (used,) = [step for step in job["steps"] if step.get("uses", "").startswith("$/")]
    assert used["with"]["cache"] == "read"
    assert used["with"]["token"] == ""


def test_the_stage_that_comments_checks_out_the_default_branch_only() -> None:
    comment = load(ROOT / ".github/workflows/task-gate-comment.yml")["jobs"]["comment"]
    checkouts = [s for s in comment["steps"] if "actions/checkout" in s.get("uses", "")]
    assert [step["with"]["ref"] for step in checkouts] == [
        "${{ github.event.repository.default_branch }}"
    ]


def test_secrets_reach_only_what_runs_cells() -> None:
    text = {path.name: path.read_text() for path in WORKFLOWS}
    assert all("secrets: inherit" not in found for found in text.values())
    users = {name for name, found in text.items() if "secrets.providers" in found}
    assert users == {"benchmark.yml", "benchmark-batch.yml", "regression.yml"}
    batch = load(ROOT / ".github/workflows/benchmark-batch.yml")["jobs"]["cell"]
    given = [step for step in batch["steps"] if "secrets.providers" in str(step)]
    assert [step["with"]["command"] for step in given] == ["run"]


def test_artifacts_carry_key_cell_and_attempt() -> None:
    names = [
        step["with"]["name"]
        for _, _, job in JOBS
        for step in job.get("steps", ())
        if step.get("uses", "").startswith("actions/upload-artifact@")
    ]
    assert len(names) == len(set(names))
    cell = next(name for name in names if name.startswith("nanobench-cell-"))
    for part in ("inputs.artifacts", "matrix.index", "github.run_attempt"):
        assert part in cell


def test_artifacts_of_another_key_are_not_taken() -> None:
    """`results` is the beginning of `results-nightly`, and `-a*` of `-all-a1`."""
    patterns = [
        step["with"]["pattern"]
        for _, _, job in JOBS
        for step in job.get("steps", ())
        if "pattern" in step.get("with", {})
    ]
    assert len(patterns) == 8
    assert all(pattern.endswith("-a+([0-9])") and "*" not in pattern for pattern in patterns)


def test_what_a_build_of_foreign_code_left_in_the_cache_never_runs_beside_a_secret() -> None:
    """Jobs of one run share the cache, and the key of our packages can be guessed."""
    for file in ("benchmark.yml", "benchmark-batch.yml", "regression.yml"):
        for job in load(ROOT / ".github/workflows" / file)["jobs"].values():
            for step in job.get("steps", ()):
                if step.get("uses", "").endswith("/actions/nanobench"):
                    assert step["with"]["cache"] == "false"


def test_an_old_side_without_records_fails_the_regression_check() -> None:
    """Without it the comparison is "not comparable", which is no regression."""
    jobs = load(ROOT / ".github/workflows/regression.yml")["jobs"]
    assert jobs["old"]["with"]["fail-on"] == (
        "${{ contains(inputs.fail-on, 'missing') && 'missing' || '' }}"
    )


def test_a_cancelled_gate_is_not_commented_on() -> None:
    comment = load(ROOT / ".github/workflows/task-gate-comment.yml")["jobs"]["comment"]
    assert "github.event.workflow_run.conclusion != 'cancelled'" in comment["if"]


def test_the_images_repository_has_no_capitals(tmp_path: Path) -> None:
    (*_, push) = load(ROOT / ".github/workflows/images.yml")["jobs"]["build"]["steps"]
    program = tmp_path / "venv/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    environ = {"RUNNER_TEMP": str(tmp_path), "REPOSITORY": "ghcr.io/Nano-Collective/bench/tasks"}
    told = subprocess.run(
        ["bash", "-e", "-c", push["run"]], env=environ, capture_output=True, text=True, timeout=60
    ).stdout
    assert told.split()[-1] == "ghcr.io/nano-collective/bench/tasks"


def test_the_action_for_our_own_workflows_is_the_action() -> None:
    head, _, rest = SELF_ACTION.read_text().partition("\n")
    assert "scripts/write-self-action" in head
    place = "${{ github.action_path }}"
    assert rest == ACTION.read_text().replace(place, f"{place}/../../..")


def test_every_input_reaches_the_command_by_the_environment() -> None:
    action = load(ACTION)
    (step,) = [one for one in action["runs"]["steps"] if one.get("id") == "nanobench"]
    handed = {name: value for name, value in step["env"].items() if name.startswith(PREFIX)}
    used_here = {"python-version", "cache"}
    names = set(action["inputs"]) - used_here
    assert handed == {
        PREFIX + name.upper().replace("-", "_"): f"${{{{ inputs.{name} }}}}" for name in names
    }
    assert all("default" in given and given["description"] for given in action["inputs"].values())


def test_every_option_has_its_input_and_every_command_is_described() -> None:
    inputs = load(ACTION)["inputs"]
    for table in (PLANNING, PLACING, ENVIRONMENT, PUBLISHING, GATING):
        assert set(table) <= set(inputs)
    for command in COMMANDS:
        assert command in inputs["command"]["description"]


def test_inputs_of_the_reusable_workflow_are_those_of_the_action() -> None:
    action = load(ACTION)["inputs"]
    flow = load(ROOT / ".github/workflows/benchmark.yml")[True]["workflow_call"]["inputs"]
    own = {"nanocoder-artifact", "images", "runs-on", "timeout-minutes"}
    assert set(flow) - own <= set(action)
    for name in set(flow) - own - {"models"}:
        default = flow[name]["default"]
        told = str(default).lower() if isinstance(default, bool) else str(default)
        assert told == action[name]["default"], name


def test_images_built_ahead_reach_the_cells_of_every_matrix() -> None:
    for file, caller in (("regression", "old"), ("regression", "new"), ("benchmark", "run")):
        given = load(ROOT / f".github/workflows/{file}.yml")["jobs"][caller]["with"]
        assert (given["image"], given["images"]) == ("${{ inputs.image }}", "${{ inputs.images }}")
    cell = load(ROOT / ".github/workflows/benchmark-batch.yml")["jobs"]["cell"]
    assert cell["env"] == {"NANOBENCH_IMAGES": "${{ inputs.images }}"}


@pytest.mark.parametrize("command", ["actionlint", "jactionlint"])
def test_the_linters_find_nothing(command: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [BIN / command, *(["-shellcheck="] if command == "actionlint" else ["--shellcheck="])],
        cwd=_checkout(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_zizmor_finds_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [BIN / "zizmor", "--offline", "--no-progress", "--quiet", "."],
        cwd=_checkout(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout


def _checkout(place: Path) -> Path:
    """The workflows and the action alone, in a repository: linters read the whole of it."""
    shutil.copytree(ROOT / ".github", place / ".github")
    shutil.copy(ACTION, place)
    subprocess.run(["git", "init", "-q", place], check=True, timeout=60)
    return place


def test_the_tables_of_the_docs_are_those_of_the_action_and_the_workflows() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/write-action-docs", "--check"], timeout=60
    )
    assert done.returncode == 0, "run scripts/write-action-docs"


def test_what_the_docs_use_is_what_a_release_of_this_version_moves() -> None:
    told = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *WORKFLOWS, ACTION]
    tags = {m[1] for path in told for m in re.finditer(r"nanobench\S*@(v\d+)\b", path.read_text())}
    assert tags == {f"v{nanobench.__version__.partition('.')[0]}"}


def test_every_recipe_of_the_docs_is_a_workflow_that_linters_accept(tmp_path: Path) -> None:
    recipes = re.findall(r"```yaml\n(name: .*?)```", (ROOT / "docs/action.md").read_text(), re.S)
    assert len(recipes) >= 5
    place = _checkout(tmp_path) / ".github/workflows"
    for path in place.glob("*.yml"):
        path.unlink()
    for number, text in enumerate(recipes):
        (place / f"recipe-{number}.yml").write_text(text)
    done = subprocess.run(
        [BIN / "actionlint", "-shellcheck=", "-ignore", "label .* is unknown"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_recipes_give_reusable_workflows_inputs_that_they_have() -> None:
    recipes = re.findall(r"```yaml\n(name: .*?)```", (ROOT / "docs/action.md").read_text(), re.S)
    for recipe in recipes:
        for job in yaml.safe_load(recipe)["jobs"].values():
            called = re.fullmatch(r"nano-collective/nanobench/(.*)@v1", job.get("uses", ""))
            if called:
                call = load(ROOT / called[1])[True]["workflow_call"]
                assert set(job["with"]) <= set(call["inputs"])
                assert set(job["secrets"]) <= set(call["secrets"])
            for step in job.get("steps", ()):
                if step.get("uses", "").startswith("nano-collective/nanobench@"):
                    assert set(step["with"]) <= set(load(ACTION)["inputs"])
