"""The workflows run: plan, a matrix of real cells, merge, comment; `act` plays the runner.

What `act` does not play (attempts, permissions, concurrency, limits of size, releases) is held by
tests/contract/test_workflows.py and by the fake.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nanobench.environment.toolchain import Toolchain
from nanobench.files import StateDirectory
from nanobench.model.plan import AgentSettings

pytestmark = pytest.mark.real

ROOT = Path(__file__).resolve().parents[3]
STAND_INS = Path(__file__).parent / "stand_ins"
ACT = Path(sys.executable).parent / "act"
SHA = "c" * 40
SECONDS = 570
OFF = "type: boolean\n        default: false"
CONTINUE = "        continue-on-error: true\n"
NO_CACHE = '          cache: "false"\n'
AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
CALLER = """
name: caller
on: [pull_request, push, schedule, release, workflow_dispatch]
permissions: {{}}
jobs:
  bench:
    uses: ./.github/workflows/benchmark.yml
    with: {inputs}
    secrets:
      providers: ${{{{ secrets.NANOCODER_PROVIDERS }}}}
"""


@dataclass
class Played:
    """What a run of workflows left."""

    code: int
    log: str
    artifacts: Path

    def artifact(self, pattern: str) -> Path:
        (found,) = self.artifacts.glob(pattern)
        return found

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.artifacts.iterdir()}

    @property
    def report(self) -> dict[str, Any]:
        found = self.artifact("nanobench-report-*") / "report.json"
        document: dict[str, Any] = json.loads(found.read_text())
        return document


@dataclass
class Runner:
    """A checkout of the project that `act` runs workflows of."""

    tree: Path
    places: Path
    hub: Any
    state: Path
    programs: Path

    @property
    def artifacts(self) -> Path:
        return self.places / "artifacts"

    def write(self, name: str, text: str) -> None:
        (self.tree / ".github/workflows" / name).write_text(text)

    def call(self, **inputs: Any) -> None:
        """A workflow of a user's that calls benchmark.yml."""
        given = {"require-isolation": False, "runs-on": "ubuntu-24.04", **inputs}
        self.write("caller.yml", CALLER.format(inputs=json.dumps(given)))

    def play(self, workflow: str, event: str, payload: dict[str, Any], **secrets: str) -> Played:
        file = self.places / "event.json"
        file.write_text(json.dumps(payload))
        handed = {
            "GITHUB_API_URL": self.hub.url,
            "STUB_ARTIFACTS": str(self.artifacts),
            "STUB_CACHE": str(self.places / "cache"),
            "STUB_PYTHON": str(Path(sys.base_prefix, "bin", "python3")),  # that has pip
            "NANOBENCH_STATE_DIR": str(self.state),
        }
        done = subprocess.run(
            [
                *(ACT, event, "-W", f".github/workflows/{workflow}", "-e", file),
                *("-P", "ubuntu-24.04=-self-hosted", "--no-cache-server", "--action-offline-mode"),
                *(part for name in _stand_ins() for part in ("--local-repository", name)),
                *(part for key, value in handed.items() for part in ("--env", f"{key}={value}")),
                *("-s", "GITHUB_TOKEN=t0ken"),
                *(part for key, value in secrets.items() for part in ("-s", f"{key}={value}")),
            ],
            cwd=self.tree,
            env={
                **_bare(),
                "PATH": f"{self.programs}:{os.environ['PATH']}",  # the npm that runners have
                "HOME": str(self.places),
                "XDG_CACHE_HOME": str(self.places / "xdg"),
            },
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return Played(done.returncode, done.stdout + done.stderr, self.artifacts)


def _bare() -> dict[str, str]:
    """The environment without what belongs to another job."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "ACTIONS_", "NANOBENCH_", "RUNNER_"))
    }


def _stand_ins() -> list[str]:
    """For each action of others, as it is pinned, the directory that stands for it."""
    text = "".join(path.read_text() for path in (ROOT / ".github").rglob("*.yml"))
    pinned = set(re.findall(r"uses: (actions/[a-z/-]+@[0-9a-f]{40})", text))
    found = []
    for uses in sorted(pinned):
        name, _, commit = uses.removeprefix("actions/").partition("@")
        place = STAND_INS / name.replace("/", "-")
        if place.is_dir():
            found.append(f"actions/{place.name}@{commit}={place}")
    return found


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keeps the installed packages from test to test, as the cache of Actions does."""
    found = tmp_path_factory.mktemp("runner")
    (found / "cache").mkdir()
    return found


@pytest.fixture
def runner(
    hub: Any, tmp_path: Path, places: Path, shared_state: StateDirectory, toolchain: Toolchain
) -> Runner:
    """The files of this checkout, with references that `act` knows."""
    tree = tmp_path / "checkout"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, timeout=60,
    ).stdout.split(b"\0")  # fmt: skip
    for name in map(os.fsdecode, listed):
        if name and not name.startswith("tests/") and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    for path in (tree / ".github").rglob("*.yml"):
        text = path.read_text().replace("uses: $/", "uses: ./")
        # `act` looks for an action inside another repository, and there is one stand-in for each.
        text = re.sub(r"uses: actions/cache/(\w+)@", r"uses: actions/cache-\1@", text)
        text = text.replace(NO_CACHE, "")  # here nothing foreign is built, and time matters
        # A job of a called workflow that fails ends everything in `act`, whatever the job says.
        path.write_text(text.replace("        id: run\n", "        id: run\n" + CONTINUE))
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*AUTHOR, "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=tree, check=True, timeout=60)
    artifacts = places / "artifacts"
    shutil.rmtree(artifacts, ignore_errors=True)
    artifacts.mkdir()
    return Runner(tree, places, hub, shared_state.root, toolchain.bin())


@pytest.fixture
def pull_request(hub: Any, events: Any) -> dict[str, Any]:
    """The payload of pull request 5, which the fake knows."""
    hub.add_pull(5, SHA)
    payload: dict[str, Any] = events["pull_request"]()
    return payload


def test_a_matrix_of_real_cells_becomes_one_report_and_one_comment(
    runner: Runner, hub: Any, pull_request: dict[str, Any]
) -> None:
    runner.call(models="scripted/gold\nscripted/noop", tasks="sample")
    played = runner.play("caller.yml", "pull_request", pull_request)
    assert played.code == 0, played.log[-9000:]
    assert played.names == {
        "nanobench-plan-results-a1",
        "nanobench-cell-results-0-a1",
        "nanobench-cell-results-1-a1",
        "nanobench-report-results-a1",
    }
    states = [row["state"] for row in played.report["cells"]]
    assert states == ["present", "present"]
    (review,) = hub.state.reviews[5]
    assert "1 of 2 graded runs solved" in review["body"]
    assert "t0ken" not in played.log


def test_dead_stale_and_doubled_cells_are_told_apart_in_the_report(
    runner: Runner, hub: Any, pull_request: dict[str, Any]
) -> None:
    """One job dies; of another an older attempt and a copy under another name lie there."""
    runner.call(models="scripted/gold\nnobody/none", tasks="sample")
    first = runner.play("caller.yml", "pull_request", pull_request)
    assert first.code != 0, "a missing cell fails the check"
    rows = {row["cell"]["model"]["model"]: row["state"] for row in first.report["cells"]}
    assert rows == {"gold": "present", "none": "missing"}
    (review,) = hub.state.reviews[5]
    assert "nobody/none" in review["body"]
    assert "missing" in review["body"]

    kept = first.artifact("nanobench-cell-results-0-a1")
    gold = json.loads(next(kept.rglob("record.json")).read_text())
    for path in list(runner.artifacts.iterdir()):
        if path.name.startswith("nanobench-cell-results-0"):
            shutil.copytree(path, runner.artifacts / "nanobench-cell-results-0-a9")
            _fail(next(path.rglob("record.json")), gold)
            path.rename(runner.artifacts / "nanobench-cell-results-0-a0")
        else:
            shutil.rmtree(path)
    second = runner.play("caller.yml", "pull_request", pull_request)
    (row,) = [one for one in second.report["cells"] if one["state"] == "present"]
    assert row["score"] == 1.0
    assert any("different records of attempt 1" in note for note in second.report["notes"])
    assert len(hub.state.reviews[5]) == 1, "run twice, one comment stands"


def _fail(path: Path, record: dict[str, Any]) -> None:
    """Make a record one of the same attempt that says something else, and started later."""
    record["timing"]["started_at"] = "2099-01-01T00:00:00Z"
    path.write_text(json.dumps(record))
    digest = path.with_name(f"{path.name}.sha256")
    digest.unlink(missing_ok=True)


def test_a_selection_without_tasks_runs_nothing_and_says_so(
    runner: Runner, hub: Any, pull_request: dict[str, Any]
) -> None:
    runner.call(models="scripted/gold", tasks="sample !sample")
    played = runner.play("caller.yml", "pull_request", pull_request)
    assert played.code == 0, played.log[-9000:]
    assert played.report["cells"] == []
    assert not any(name.startswith("nanobench-cell") for name in played.names)


@pytest.mark.parametrize("event", ["push", "schedule", "release", "workflow_dispatch"])
def test_without_a_pull_request_there_is_a_summary_and_no_comment(
    runner: Runner, hub: Any, event: str
) -> None:
    runner.call(models="scripted/gold", tasks="sample !sample")
    payload = {"repository": {"full_name": "nano/bench"}, "release": {"tag_name": "v1.0.0"}}
    played = runner.play("caller.yml", event, payload)
    assert played.code == 0, played.log[-9000:]
    assert not hub.state.reviews


REGRESSION = """
name: caller
on: [pull_request]
permissions: {{}}
jobs:
  regression:
    uses: ./.github/workflows/regression.yml
    with: {inputs}
"""


def test_old_and_new_are_benched_and_compared_in_one_comment(
    runner: Runner, hub: Any, pull_request: dict[str, Any]
) -> None:
    version = AgentSettings().nanocoder
    inputs = {
        "models": "scripted/gold",
        "tasks": "sample",
        "runs": "1",
        "old": version,
        "new": version,
        "runs-on": "ubuntu-24.04",
    }
    flow = runner.tree / ".github/workflows/benchmark.yml"
    # A sandbox is not this test's matter, and may be missing; comments of each side are off anyway.
    flow.write_text(flow.read_text().replace(OFF.replace("false", "true"), OFF))
    runner.write("caller.yml", REGRESSION.format(inputs=json.dumps(inputs)))
    played = runner.play("caller.yml", "pull_request", pull_request)
    assert played.code == 0, played.log[-9000:]
    compared = json.loads(
        (played.artifact("nanobench-report-regression-a1") / "comparison.json").read_text()
    )
    assert compared["verdict"] in ("not distinguishable from noise", "not comparable")
    (review,) = hub.state.reviews[5]
    assert "nanobench:review regression" in review["body"]
    plans = [played.artifact(f"nanobench-plan-{side}-a1") / "plan.json" for side in ("old", "new")]
    builds = {json.loads(path.read_text())["agent"]["nanocoder"] for path in plans}
    assert all(build.startswith(f"{version}+sha256.") for build in builds)
