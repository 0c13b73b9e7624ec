"""`nanobench bench` and `demo` with the real Nanocoder: what they give, and what they leave."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.dataset.sample.sample import build_repository
from nanobench.environment.toolchain import Toolchain
from nanobench.model.plan import AgentSettings

pytestmark = pytest.mark.real

SAMPLE = Path(sys.modules["nanobench.dataset.sample.sample"].__file__ or "").parent
PATIENCE = 240.0
DEMO = {
    ("gold", "hinted"): (1.0, None, None),
    ("noop", "hinted"): (0.0, None, 2),
    ("context-overflow", "hinted"): (0.0, "context_window_exceeded", 1),
    ("noop", "navigation"): (0.0, "insufficient_context_read", 2),
    ("hallucinated-api", "hinted"): (0.0, "hallucinated_api", 3),
    ("wrong-layer", "hinted"): (0.0, "wrong_abstraction_layer", 4),
    ("partial", "hinted"): (0.5, "partial_fix_only", 5),
    ("cross-language-half", "navigation"): (0.1, "missing_cross_language_change", 6),
}
BENCH = ("bench", "--models", "scripted/noop,scripted/gold", "--tasks", "sample", "--jobs", "1")


@dataclass(frozen=True)
class Machine:
    """A state directory, a home and a directory for temporary files, of the test's own."""

    root: Path

    @property
    def state(self) -> Path:
        return self.root / "state"

    def start(self, *arguments: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "nanobench", *map(str, arguments)],
            cwd=self.root,
            env={
                **os.environ,
                "HOME": str(self.root / "home"),
                "TMPDIR": str(self.root / "tmp"),
                "NANOBENCH_STATE_DIR": str(self.state),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments)
        return ended(process)

    def leftovers(self) -> list[str]:
        """Files outside the state and output directories, and directories of runs."""
        places = (self.root / "home", self.root / "tmp", self.state / "runs")
        return [str(path) for place in places if place.exists() for path in place.rglob("*")]


def ended(process: "subprocess.Popen[str]") -> "subprocess.CompletedProcess[str]":
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in err, err
    assert "internal error" not in err, err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture(scope="module")
def warm(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state directory that has Nanocoder already, by hard links."""
    version = AgentSettings().nanocoder
    toolchain.nanocoder(version)
    state = tmp_path_factory.mktemp("machine") / "state"
    target = state / "tools" / "runtime" / "nanocoder"
    target.mkdir(parents=True)
    source = toolchain.runtime / "nanocoder" / version
    subprocess.run(["cp", "-al", source, target / version], check=True, timeout=120)
    return state


@pytest.fixture
def machine(warm: Path, tmp_path: Path) -> Iterator[Machine]:
    """Whatever a test does, nothing may be left outside the state and output directories."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "state").symlink_to(warm)
    machine = Machine(tmp_path)
    yield machine
    assert machine.leftovers() == []


def records(out: Path) -> dict[str, dict[str, Any]]:
    """The standing record of each cell directory."""
    found = sorted(out.glob("cells/*/attempt-*/record.json"))
    return {path.parents[1].name: json.loads(path.read_text()) for path in found}


def without_times(value: Any) -> Any:
    """A record or a report without the times, the only fields that equal runs differ in."""
    if isinstance(value, dict):
        times = ("timing", "duration_seconds", "agent_seconds")
        return {key: without_times(item) for key, item in value.items() if key not in times}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def test_the_demo_shows_every_category_and_is_the_same_each_time(machine: Machine) -> None:
    outs = [machine.root / name for name in ("first", "second")]
    for out in outs:
        done = machine.run("demo", "--out", out)
        assert done.returncode == 0, done.stderr
        assert f"report: {out}/report/report.html" in done.stdout
    first, second = (records(out) for out in outs)
    seen = {
        (record["cell"]["model"]["model"], record["cell"]["mode"]): tuple(
            record["verdict"][name] for name in ("score", "category", "rule")
        )
        for record in first.values()
    }
    assert seen == DEMO
    assert [without_times(r) for r in first.values()] == [without_times(r) for r in second.values()]
    for name, record in first.items():
        completion = record["completion"]
        assert "target tests pass" in completion["verification_summary"]
        assert completion["commands_run"][0]["command"] == "nanocoder run"
        kept = completion["artifacts_created"]
        assert {"agent.patch", "prompt.txt"} <= set(kept)
        assert all((outs[0] / "cells" / name / "attempt-1" / path).is_file() for path in kept)
    told = [json.loads((out / "report" / "report.json").read_bytes()) for out in outs]
    assert without_times(told[0]) == without_times(told[1])
    page = (outs[0] / "report" / "report.html").read_text()
    assert page.count('<script type="application/json" data-run=') == len(first)


def phase_of(out: Path) -> str | None:
    """The phase of the one cell that runs, if one does."""
    for path in out.glob("cells/*/attempt-*/status.json"):
        if not (path.parent / "record.json").exists():
            try:
                return str(json.loads(path.read_text())["phase"])
            except (OSError, ValueError):
                return None
    return None


def held_at(process: "subprocess.Popen[str]", out: Path, phase: str, finished: int) -> None:
    """Stop NanoBench itself once `finished` cells have a record and the next is in `phase`."""

    def there() -> bool:
        return len(records(out)) >= finished and phase_of(out) == phase

    deadline = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        if there():
            process.send_signal(signal.SIGSTOP)
            if there():
                return
            process.send_signal(signal.SIGCONT)
        time.sleep(0.005)


def family(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("phase", ["agent", "verify"])
@pytest.mark.parametrize(
    "signals",
    [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM, signal.SIGINT)],
    ids=["SIGINT", "SIGTERM", "impatient"],
)
def test_an_interrupted_bench_leaves_nothing_and_resumes(
    machine: Machine, phase: str, signals: tuple[signal.Signals, ...]
) -> None:
    out = machine.root / "out"
    process = machine.start(*BENCH, "--out", out)
    held_at(process, out, phase, finished=1)
    children = family(process)
    for number in signals:
        process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    done = ended(process)
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    assert done.stdout == ""
    assert alive(children) == []
    assert machine.leftovers() == []
    kept = records(out)
    assert len(kept) == len(list(out.glob("cells/*/attempt-*")))
    # A cell whose last suite has ended may come to its record before the signal comes to it.
    assert len(kept) in ((1,) if phase == "agent" else (1, 2))

    again = machine.run(*BENCH, "--out", out, "--json")
    assert again.returncode == 0, again.stderr
    assert again.stdout == (out / "report" / "report.json").read_text()
    assert again.stderr.count("(kept)") == len(kept)
    after = records(out)
    assert {name: after[name] for name in kept} == kept
    assert sorted(r["verdict"]["score"] for r in after.values()) == [0.0, 1.0]
    assert [r["attempt"] for r in after.values()] == [1, 1]


def test_a_killed_bench_is_swept_and_its_attempt_counts(machine: Machine) -> None:
    out = machine.root / "out"
    process = machine.start(*BENCH, "--out", out)
    held_at(process, out, "agent", finished=1)
    children = family(process)
    process.kill()
    process.communicate()
    _, still = psutil.wait_procs(children, timeout=60)
    assert alive(still) == []
    assert any((machine.state / "runs").iterdir())
    (cut,) = (p for p in out.glob("cells/*/attempt-1") if not (p / "record.json").exists())

    again = machine.run(*BENCH, "--out", out)
    assert again.returncode == 0, again.stderr
    assert machine.leftovers() == []
    assert records(out)[cut.parent.name]["attempt"] == 2
    assert sorted(path.name for path in cut.parent.glob("attempt-*")) == ["attempt-1", "attempt-2"]


def test_a_second_bench_on_the_same_directory_is_told_to_wait(machine: Machine) -> None:
    out = machine.root / "out"
    process = machine.start(*BENCH, "--out", out)
    held_at(process, out, "agent", finished=0)
    second = machine.run(*BENCH, "--out", out)
    process.send_signal(signal.SIGCONT)
    first = ended(process)
    assert second.returncode == 4
    assert "another bench is using this output directory\n  where: " in second.stderr
    assert first.returncode == 0, first.stderr
    assert sorted(r["verdict"]["score"] for r in records(out).values()) == [0.0, 1.0]


def test_a_state_directory_that_moves_during_a_run_is_a_clear_error(
    machine: Machine,
) -> None:
    out, state = machine.root / "out", machine.state.resolve()
    process = machine.start(*BENCH, "--out", out)
    held_at(process, out, "agent", finished=1)
    moved = state.with_name("moved")
    state.rename(moved)
    try:
        process.send_signal(signal.SIGCONT)
        done = ended(process)
    finally:
        shutil.rmtree(state, ignore_errors=True)  # what the run made anew
        moved.rename(state)
    assert done.returncode == 4, done.stderr
    assert (
        f"the state directory was removed or moved during the run\n  where: {state}" in done.stderr
    )
    assert len(records(out)) == len(list(out.glob("cells/*/attempt-*"))) == 1
    again = machine.run(*BENCH, "--out", out)
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("(kept)") == 1


def test_trouble_with_an_install_is_told_once_and_tried_three_times(machine: Machine) -> None:
    tasks = machine.root / "tasks"
    (tasks / "acme").mkdir(parents=True)
    dataset = {"name": "d", "version": "1", "contamination_cutoff": "2026-04-01T00:00:00Z"}
    (tasks / "dataset.json").write_text(json.dumps(dataset))
    task = json.loads((SAMPLE / "task.json").read_text()) | {"task_id": "t", "repo": "acme/tempo"}
    task["repo_url"] = str(machine.root / "tempo.git")
    task["expected"] = json.loads((SAMPLE / "expected.json").read_text())
    task["environment"]["install"] = ["echo the registry burns >&2; exit 3"]
    (tasks / "acme" / "t.json").write_text(json.dumps(task))
    build_repository(machine.root / "tempo.git")
    models = ("bench", "--models", "scripted/noop,scripted/gold,scripted/partial")
    for attempt in (1, 2, 3, 3):
        done = machine.run(*models, "--tasks", "t", "--out", machine.root / "out")
        assert done.returncode == 4, done.stderr
        assert [r["attempt"] for r in records(machine.root / "out").values()] == [attempt] * 3
        error = done.stderr[done.stderr.index("error: ") :]
        assert "3 of 3 cells have no score\n  where: 3 of them: environment: " in error
        assert error.count("an install command of task t exited with 3") == 1
        rows = re.findall(
            r"^scripted/.*infrastructure: environment: .+$", done.stdout, re.MULTILINE
        )
        assert len(rows) == 3
