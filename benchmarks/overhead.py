"""NanoBench's own CPU per cell: 50 cells through the real pipeline, with an agent that is free.

Run it alone: `python benchmarks/overhead.py [--files 400] [--cells 50] [--sandbox NAME]`. It makes
a repository of its own (two languages, ignore rules, an install command, two suites), puts its
task through the verification gate, and runs it. Exit code 0: every goal is met; 1: one is not.

Only the agent is a stand-in: a shell runs, instead of Nanocoder, a script that makes one edit,
leaves one ignored file and prints a valid report. The forwarder to the gateway is the real one, in
Node. The suites are scripts that write JUnit XML. All these are counted: nothing is subtracted.

What is counted is the CPU time of this process and of every descendant: a process's time reaches
its parent when it is waited for. bubblewrap's outer process ends without waiting for the first
process of the namespace (which has waited for all others in it), so that this benchmark adopts
orphans and waits for them itself. The sum is then what a CPU accounting group of the kernel shows
(0.0767 s and 0.0767 s per cell of one run); without it, 0.02 s of each cell would be lost.

It works in memory (`/dev/shm`) where it can, as workspace.py does and for the same reason: what
a file system takes to create 800 files is not ours. `--directory` measures another place.
"""

import argparse
import ctypes
import functools
import json
import os
import random
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from nanobench.agent.gateway.server import Gateway
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.dataset.catalog import TaskEntry, load_task
from nanobench.dataset.gates.findings import Findings
from nanobench.dataset.gates.states import States
from nanobench.dataset.gates.verification import verification_gate
from nanobench.dataset.planning import PlanOptions, build_plan
from nanobench.dataset.task_files import rewrite
from nanobench.environment.native import NativeEnvironment
from nanobench.environment.sandbox import probe_sandboxes
from nanobench.environment.toolchain import Toolchain
from nanobench.files import StateDirectory
from nanobench.model.plan import Cell, ModelRef
from nanobench.model.record import Record
from nanobench.pipeline.bench import Bench, PlannedTask, Services, resolve
from nanobench.pipeline.cell import run_cell
from nanobench.pipeline.pool import run_cells
from nanobench.pipeline.store import ResultStore

MOST_CPU_SECONDS = 0.15
MOST_GROWTH = 1.02
WARM_CELL = 5  # memory is compared from here on
TESTS = 40  # of a suite; the first five are targets
BYTES_PER_FILE = 10_000
PR_SET_CHILD_SUBREAPER = 36
WORDS = [f"{verb}_{noun}" for verb in ("read", "write", "parse", "build") for noun in "abcdef"]
AGENT = """\
printf 'version = 2\\n' > src/part00/module0000.py
mkdir build && printf 'x' > build/output
printf '%s' '{"kind": "success", "exitCode": 0, "finalText": "Done.", "filesChanged":
 ["src/part00/module0000.py"], "toolCalls": [{"name": "write_file", "arguments":
 {"path": "src/part00/module0000.py", "content": "version = 2"}, "result": "File written"}]}'
"""
SUITE = f"""\
read -r line < "$1"
{{
  echo '<testsuite name="suite">'
  number=0
  while [ $number -lt {TESTS} ]; do
    number=$((number + 1))
    echo "<testcase classname=\\"suite.module\\" name=\\"test_$number\\" time=\\"0.01\\">"
    if [ $number -le 5 ] && [ "$line" != 'version = 2' ]; then
      echo "<failure message=\\"AssertionError: assert 1 == 2\\">AssertionError</failure>"
    fi
    echo '</testcase>'
  done
  echo '</testsuite>'
}} > "$2"
[ "$line" = 'version = 2' ]
"""
# Only where it is done once: without fixed paths each room would install, which is not ours.
INSTALL = "mkdir -p .venv/bin node_modules/.bin && touch .venv/pyvenv.cfg node_modules/.bin/tool"


class StandIns(Toolchain):
    """The toolchain with a script in the place of Nanocoder, and Node for the forwarder alone."""

    @functools.cached_property
    def node(self) -> Path:
        stand_in = self.runtime / "node"
        real = shlex.quote(str(super().node))
        stand_in.write_text(f'#!/bin/sh\n[ "$1" = -e ] && exec {real} "$@"\nexec /bin/sh "$@"\n')
        stand_in.chmod(0o755)
        return stand_in

    @functools.cached_property
    def node_version(self) -> str:
        return "none"

    def nanocoder(self, version: str) -> Path:
        entry = self.runtime / "agent.sh"
        if not entry.exists():
            entry.write_text(AGENT)
        return entry

    def compile_cache(self, version: str) -> Path:
        return self.runtime


@dataclass
class Meter:
    """CPU seconds of this process and its descendants, by cell and phase."""

    cells: list[float] = field(default_factory=list)
    phases: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    memory: list[int] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    _phase: str = ""
    _since: float = 0.0

    @contextmanager
    def cell(self) -> Iterator[None]:
        started, wall = used(), time.monotonic()
        self._phase, self._since = "begin", started
        yield
        self._turn("")
        self.cells.append(self._since - started)
        self.wall.append(time.monotonic() - wall)
        self.memory.append(psutil.Process().memory_info().rss)

    def phase(self, cell: Cell, name: str) -> None:
        self._turn("judge, keep, tear down" if name == "judge" else name)

    def done(self, cell: Cell, record: Record) -> None:
        if record.verdict.outcome != "graded":
            raise SystemExit(f"a cell was not graded: {record.verdict}")

    def kept(self, cell: Cell, record: Record) -> None:
        raise SystemExit("a cell was kept: the output directory is not new")

    def _turn(self, name: str) -> None:
        now = used()
        self.phases[self._phase].append(now - self._since)
        self._phase, self._since = name, now


def used() -> float:
    """CPU seconds so far, those of ended descendants included."""
    with suppress(ChildProcessError):  # between two phases only orphans are left
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def git(directory: Path, *args: str) -> str:
    identity = ("-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "gc.auto=0")
    argv = ["git", "-C", str(directory), *identity, *args]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def make_task(root: Path, files: int, install: bool) -> Path:
    """A repository of this many files, about 10 kB each, and the task file of its last change."""
    chance = random.Random(0)
    repository = root / "repository"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    for number in range(files):
        suffix = "py" if number % 2 == 0 else "js"
        path = repository / f"src/part{number % 40:02}/module{number:04}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = ["version = 1"]
        text += (" ".join(chance.choices(WORDS, k=8)) for _ in range(BYTES_PER_FILE // 64))
        path.write_text("\n".join(text) + "\n")
    (repository / ".gitignore").write_text("build/\n*.log\n.venv/\nnode_modules/\n")
    base = commit(repository, "Begin")
    required = ["src/part00/module0000.py", "src/part01/module0001.js"]
    for name in required:
        (repository / name).write_text("version = 2\n")
    (repository / "tests").mkdir()
    (repository / "tests/suite.sh").write_text(SUITE)
    commit(repository, "Raise the version")
    task = root / "overhead.json"
    patch = git(repository, "diff", "--binary", base, "HEAD")
    document = task_document(repository, base, patch, required, install)
    task.write_text(json.dumps(document))
    return task


def commit(repository: Path, message: str) -> str:
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", message)
    return git(repository, "rev-parse", "HEAD").strip()


def task_document(
    repository: Path, base: str, patch: str, required: Sequence[str], install: bool
) -> dict[str, Any]:
    suites = [
        {
            "name": name,
            "language": language,
            "command": f"sh tests/suite.sh {path} {{OUT}}",
            "format": "junit",
        }
        for name, language, path in zip(
            ("python", "javascript"), ("Python", "JavaScript"), required, strict=True
        )
    ]
    return {
        "task_id": "overhead",
        "repo": "benchmarks/overhead",
        "repo_url": str(repository),
        "base_commit": base,
        "languages": ["Python", "JavaScript"],
        "domain": "none",
        "complexity_tier": "Tier 1 (Isolated Edit)",
        "task_type": "feature",
        "reasoning_category": "none",
        "token_estimate": 1000,
        "problem_statement": "Raise the version in both languages.",
        "required_files": required,
        "ground_truth_patch": patch,
        "contributor": "nobody",
        "merged_at": "2026-01-01T00:00:00Z",
        "suites": suites,
        "test_files": ["tests/suite.sh"],
        "environment": {"install": [INSTALL] if install else []},
    }


def services_of(state: StateDirectory, sandbox: str | None) -> Services:
    services = Services(state)
    if sandbox is not None:
        found = next(probe for probe in probe_sandboxes() if probe.name == sandbox)
        if found.sandbox is None:
            raise SystemExit(f"{sandbox} does not work here: {found.problem}")
        services.sandbox = found.sandbox
    services.toolchain = StandIns(state.tools)
    services.environment = NativeEnvironment(state, services.toolchain, services.sandbox)
    return services


def gated(task: Path, services: Services, outputs: Path) -> TaskEntry:
    """The task with what its tests do, as the gate finds it."""
    entry = load_task(task)
    material = resolve(PlannedTask(entry.task, entry.sha256, "benchmark"), services)
    runs = States(material, services, outputs).run((1,), lambda phrase: None)
    findings = Findings("verification", entry.task.task_id)
    expected = verification_gate(runs["base"][0], runs["golden"][0], findings)
    if expected is None:
        raise SystemExit(f"the task fails its gate: {findings.outcome()}")
    rewrite(task, {"expected": expected.model_dump(mode="json")})
    return load_task(task)


def measure(root: Path, files: int, cells: int, sandbox: str | None = None) -> Meter:
    """Run the cells, one at a time."""
    services = services_of(StateDirectory.locate(root / "state"), sandbox)
    entry = gated(make_task(root, files, services.sandbox.fixed_paths), services, root / "gate")
    options = PlanOptions(runs=cells)
    plan = build_plan([ModelRef(provider="local", model="none")], [entry], options).plan
    meter = Meter()
    provider = {"name": "local", "baseUrl": "http://127.0.0.1:9/v1", "models": ["none"]}
    with ScriptedServer() as scripted, Gateway() as gateway:
        bench = Bench(
            plan=plan,
            tasks={entry.task.task_id: PlannedTask(entry.task, entry.sha256, "benchmark")},
            services=services,
            store=ResultStore(root / "out"),
            progress=meter,
            scripted=scripted,
            gateway=gateway,
            environ={"NANOCODER_PROVIDERS": json.dumps([provider])},
            cwd=root,
        )
        bench.store.adopt(plan)

        def run(cell: Cell) -> Record:
            with meter.cell():
                return run_cell(cell, bench)

        run_cells(plan.cells, run, jobs=1)
    print(f"{files} files, {cells} cells, sandbox: {services.sandbox.name}")
    return meter


def report(meter: Meter) -> bool:
    """Print the figures and whether they meet the goals."""
    median = statistics.median(meter.cells)
    print(f"CPU s per cell        median {median:.4f}   p90 {percentile(meter.cells, 90):.4f}")
    for name, values in meter.phases.items():
        print(f"  {name:<24} {statistics.median(values):.4f}")
    print(f"wall s per cell       median {statistics.median(meter.wall):.4f}")
    warm, end = meter.memory[min(WARM_CELL, len(meter.memory)) - 1], meter.memory[-1]
    growth = end / warm
    print(f"memory MiB            cell {WARM_CELL}: {warm / 2**20:.1f}   last: {end / 2**20:.1f}")
    goals: Mapping[str, bool] = {
        f"CPU s per cell        {median:.4f}  (goal <= {MOST_CPU_SECONDS})": (
            median <= MOST_CPU_SECONDS
        ),
        f"memory last / warm    {growth:.3f}  (goal <= {MOST_GROWTH})": growth <= MOST_GROWTH,
    }
    for line, met in goals.items():
        print(f"{line}: {'met' if met else 'MISSED'}")
    return all(goals.values())


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def default_directory() -> Path:
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure NanoBench's own CPU per cell.")
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--cells", type=int, default=50)
    parser.add_argument("--sandbox", choices=["bubblewrap", "namespaces", "none"])
    parser.add_argument("--directory", type=Path, default=default_directory())
    options = parser.parse_args()
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(
        prefix="nanobench-benchmark-", dir=options.directory
    ) as directory:
        meter = measure(Path(directory), options.files, options.cells, options.sandbox)
    return 0 if report(meter) else 1


if __name__ == "__main__":
    sys.exit(main())
