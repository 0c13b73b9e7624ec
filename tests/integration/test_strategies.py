"""Both strategies behind the same commands: the same verdicts, and nothing left by a kill."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nanobench.dataset.sample.sample import build_repository
from nanobench.environment.container.engine import Engine, connect
from nanobench.environment.container.images import Images
from nanobench.environment.container.ledger import LABEL_STATE
from nanobench.errors import EnvironmentSetupError
from nanobench.files import StateDirectory

pytestmark = pytest.mark.real

BASE = os.environ.get("NANOBENCH_TEST_IMAGE", "nanobench-base:bookworm")
TASKS = Path(__file__).parents[2] / "tasks"
SAMPLE = Path(sys.modules["nanobench.dataset.sample.sample"].__file__ or "").parent
NOWHERE = "unix:///nonexistent/engine.sock"
PATIENCE = 900


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    try:
        reached = connect()
    except EnvironmentSetupError as error:
        pytest.skip(f"no container engine: {error.what}")
    if not Images(reached).is_here(BASE):
        reached.close()
        pytest.skip(f"no image {BASE}: make it with scripts/make-base-image")
    yield reached
    reached.close()


def nanobench(state: StateDirectory, *arguments: object, **environ: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "nanobench", *map(str, arguments)],
        env={**os.environ, "NANOBENCH_STATE_DIR": str(state.root), **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def bench(
    state: StateDirectory, out: Path, models: str, *arguments: object, **environ: str
) -> tuple[int, str]:
    """Run a bench to its end; its exit code and what it said."""
    process = nanobench(
        state, "bench", "--models", models, "--out", out, "--jobs", 2, *arguments, **environ
    )
    try:
        said = "".join(process.communicate(timeout=PATIENCE))
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in said, said
    return process.returncode, said


def records(out: Path) -> dict[str, Any]:
    found = (json.loads(path.read_bytes()) for path in out.rglob("record.json"))
    return {f"{one['cell']['task_id']} {one['cell']['model']['model']}": one for one in found}


def containers(engine: Engine, state: StateDirectory) -> list[Any]:
    label = f"{LABEL_STATE}={state.root}"
    listed: list[Any] = engine.api.containers(all=True, filters={"label": label})
    return listed


def without_durations(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key != "duration_seconds"}
        return {key: without_durations(one) for key, one in kept.items()}
    return [without_durations(one) for one in value] if isinstance(value, list) else value


def check_same(state: StateDirectory, out: Path, tasks: str, models: str, *options: object) -> None:
    """Everything seen and judged is the same under both strategies, test by test."""
    found = {}
    for strategy in ("native", "container"):
        arguments = ("--tasks", tasks, "--strategy", strategy, "--image", BASE, *options)
        code, said = bench(state, out / strategy, models, *arguments)
        assert code == 0, said
        found[strategy] = records(out / strategy)
    assert set(found["native"]) == set(found["container"])
    for name, native in found["native"].items():
        contained = found["container"][name]
        assert contained["verdict"] == native["verdict"], name
        assert contained["agent_patch_sha256"] == native["agent_patch_sha256"], name
        assert without_durations(contained["signals"]) == without_durations(native["signals"]), name
        isolation = contained["provenance"]["isolation"]
        assert (isolation["strategy"], isolation["sandbox"]) == ("container", "docker")
        assert (isolation["agent_network"], isolation["verify_network"]) == (
            "provider-only",
            "none",
        )
        assert contained["provenance"]["image"]
        assert native["provenance"]["image"] is None


def test_the_sample_has_the_same_verdicts_under_both_strategies(
    engine: Engine, shared_state: StateDirectory, tmp_path: Path
) -> None:
    check_same(shared_state, tmp_path, "sample", "scripted/gold,scripted/partial")
    assert containers(engine, shared_state) == []


@pytest.mark.slow
def test_real_tasks_have_the_same_verdicts_under_both_strategies(
    engine: Engine, shared_state: StateDirectory, tmp_path: Path
) -> None:
    """Takes their repositories from where git finds them (`url.<path>.insteadOf` serves)."""
    tasks = "hono-5067,langchain-google-1870"
    models = "scripted/gold,scripted/noop"
    check_same(shared_state, tmp_path, tasks, models, "--tasks-dir", TASKS)
    files = [path for name in tasks.split(",") for path in TASKS.glob(f"*/{name}.json")]
    for strategy in ("native", "container"):  # every test by its name, on base and golden patch
        gate = nanobench(
            shared_state, "task", "gate", *files, "--strategy", strategy, "--image", BASE
        )
        said = "".join(gate.communicate(timeout=PATIENCE))
        assert said.count("passed  verification") == len(files), said


def dataset(place: Path, files: dict[str, str], environment: dict[str, Any]) -> Path:
    """The sample task as a dataset, with more files in its repository."""
    git_dir, work = place / "tempo.git", place / "work"
    newest = build_repository(git_dir)

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
        argv = ["git", "-C", str(work), *who, *arguments]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    work.mkdir()
    git("clone", "-q", str(git_dir), ".")
    commits = {}
    for name, commit in (("base_commit", f"{newest}~1"), ("merge_commit", newest)):
        git("checkout", "-q", commit)
        for path, text in files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text)
        git("add", "-A")
        parent = ["-p", commits["base_commit"]] if commits else []
        commits[name] = git("commit-tree", "-m", name, *parent, git("write-tree"))
        git("reset", "-q", "--hard", commit)
        git("push", "-q", "origin", f"{commits[name]}:refs/heads/{name}")
    task = json.loads((SAMPLE / "task.json").read_text()) | commits
    task["ground_truth_patch"] |= {
        "base": commits["base_commit"],
        "merge": commits["merge_commit"],
    }
    task["environment"] |= {"strategy": "container", **environment}
    task |= {
        "task_id": "tempo-1",
        "repo": "acme/tempo",
        "repo_url": str(git_dir),
        "expected": json.loads((SAMPLE / "expected.json").read_text()),
    }
    tasks = place / "tasks"
    (tasks / "acme-tempo").mkdir(parents=True)
    named = {"name": "d", "version": "1", "contamination_cutoff": "2026-04-01T00:00:00Z"}
    (tasks / "dataset.json").write_text(json.dumps(named))
    (tasks / "acme-tempo/tempo-1.json").write_text(json.dumps(task))
    return tasks


DOCKERFILE = {"dockerfile": "docker/Dockerfile"}
DEVCONTAINER = {"devcontainer": ".devcontainer/devcontainer.json"}


@pytest.mark.parametrize(
    ("files", "environment", "told"),
    [
        ({}, {}, "names no image"),
        ({}, DOCKERFILE, "no such Dockerfile"),
        ({"docker/Dockerfile": "# empty\n"}, DOCKERFILE, "no FROM"),
        (
            {"docker/Dockerfile": f"FROM {BASE}\nRUN --mount=type=cache,target=/c true\n"},
            DOCKERFILE,
            "BuildKit, which is not used: RUN --mount",
        ),
        ({}, DEVCONTAINER, "no such devcontainer"),
        ({".devcontainer/devcontainer.json": '{"image": '}, DEVCONTAINER, "not JSON"),
        (
            {".devcontainer/devcontainer.json": '{"image": "i", "features": {"a": {}}} // x'},
            DEVCONTAINER,
            "not supported: features",
        ),
        (
            {".devcontainer/devcontainer.json": '{"build": {"dockerfile": "gone"}}'},
            DEVCONTAINER,
            "no such Dockerfile",
        ),
    ],
)
def test_what_the_base_commit_shows_to_be_wrong_is_refused_before_the_first_cell(
    shared_state: StateDirectory,
    tmp_path: Path,
    files: dict[str, str],
    environment: dict[str, str],
    told: str,
) -> None:
    tasks = dataset(tmp_path, files, environment)
    options = ("--tasks", "tempo-1", "--tasks-dir", tasks)
    out = tmp_path / "out"
    code, said = bench(shared_state, out, "scripted/gold", *options, DOCKER_HOST=NOWHERE)
    assert (code, told in said) == (3, True), said
    assert "\n  where: " in said
    assert "\n  next:  " in said
    assert records(out) == {}


def check_trouble(record: Any) -> None:
    """Trouble with a container is told as a container's, and is no score."""
    assert record["verdict"]["outcome"] == "infrastructure_error"
    assert record["verdict"]["score"] is None
    isolation = record["provenance"]["isolation"]
    assert (isolation["strategy"], isolation["sandbox"]) == ("container", "docker")
    assert (isolation["agent_network"], isolation["verify_network"]) == ("provider-only", "none")
    assert record["provenance"]["tool_surface"]["dependencies_writable"] is False


def test_a_missing_engine_is_trouble_and_never_a_score(
    shared_state: StateDirectory, tmp_path: Path
) -> None:
    options = ("--tasks", "sample", "--strategy", "container", "--image", BASE)
    out = tmp_path / "out"
    code, said = bench(shared_state, out, "scripted/gold", *options, DOCKER_HOST=NOWHERE)
    assert code == 4
    assert "cannot reach the container engine" in said
    (record,) = records(out).values()
    check_trouble(record)
    assert record["provenance"]["isolation"]["resources"] is None


def test_a_dockerfile_that_fails_is_trouble_and_never_a_score(
    engine: Engine, shared_state: StateDirectory, tmp_path: Path
) -> None:
    text = f"FROM {BASE}\nRUN echo it is $((40+2)) && false\n"
    tasks = dataset(tmp_path, {"docker/Dockerfile": text}, DOCKERFILE)
    options = ("--tasks", "tempo-1", "--tasks-dir", tasks)
    code, said = bench(shared_state, tmp_path / "out", "scripted/gold", *options)
    assert code == 4
    assert "the task's image cannot be built" in said
    (record,) = records(tmp_path / "out").values()
    check_trouble(record)
    assert "it is 42" in json.dumps(record["signals"]["infrastructure"])
    assert record["provenance"]["isolation"]["resources"]["memory_by"] in ("cgroup", "none")


def killed_when(process: "subprocess.Popen[str]", moment: Callable[[], bool]) -> None:
    """`kill -9` as soon as the moment has come."""
    deadline = time.monotonic() + PATIENCE
    while not moment() and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.kill()
    process.communicate()


def sweep(engine: Engine, state: StateDirectory) -> str:
    """Sweep, and see that nothing is left; what was swept."""
    doctor = nanobench(state, "doctor", "--sweep")
    said = "".join(doctor.communicate(timeout=PATIENCE))
    assert doctor.returncode == 0, said
    assert containers(engine, state) == []
    assert list(state.part("containers").iterdir()) == []
    return said


def test_the_containers_of_a_killed_bench_are_swept_by_the_doctor(
    engine: Engine, shared_state: StateDirectory, tmp_path: Path
) -> None:
    options = ("--tasks", "sample", "--strategy", "container", "--image", BASE)
    models, out = "scripted/gold", tmp_path / "out"
    process = nanobench(shared_state, "bench", "--models", models, "--out", out, *options)
    killed_when(process, lambda: bool(containers(engine, shared_state)))
    assert "swept: container" in sweep(engine, shared_state)


@pytest.mark.parametrize("moment", ["build", "install"])
def test_a_bench_killed_in_its_preparation_leaves_nothing_that_is_not_swept(
    engine: Engine, shared_state: StateDirectory, tmp_path: Path, moment: str
) -> None:
    state = StateDirectory.locate(tmp_path / "state")
    (state.root / "tools").symlink_to(shared_state.tools)
    slow = f"echo {tmp_path} >/dev/null && mkdir -p node_modules && sleep 300 && true"
    if moment == "build":
        text = f"FROM {BASE}\nRUN {slow}\n"
        tasks = dataset(tmp_path, {"docker/Dockerfile": text}, DOCKERFILE)
    else:
        tasks = dataset(tmp_path, {}, {"install": [slow]})

    def running() -> list[Any]:
        """The container of the build, which the engine itself makes and ends."""
        return [one for one in engine.api.containers() if str(tmp_path) in one["Command"]]

    def begun() -> bool:
        partial = state.environments.glob(".*.partial/source/node_modules")
        return bool(running() if moment == "build" else list(partial))

    out, options = tmp_path / "out", ("--tasks", "tempo-1", "--tasks-dir", tasks, "--image", BASE)
    process = nanobench(state, "bench", "--models", "scripted/gold", "--out", out, *options)
    killed_when(process, begun)
    said = sweep(engine, state)
    assert ("swept: container" in said) == (moment == "install")
    deadline = time.monotonic() + PATIENCE
    while running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running() == []
    assert [path for path in state.environments.iterdir() if path.is_dir()] == []
    assert list(state.runs.iterdir()) == []
