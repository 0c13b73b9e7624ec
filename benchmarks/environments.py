"""What starting in an environment costs, beside an overlay mount and `docker run` of a no-op.

Run it alone: `python benchmarks/environments.py [--state-dir DIR] [--rounds 9]`. For each strategy
that works here it installs the sample task's dependencies (timed), then starts in them again and
again: a fresh workspace, the environment over it, and a command that does nothing. Then twenty
cells, four at a time, each of which imports its own code and tries to damage what is shared.
Containers need an engine and `--image` (by default the one that scripts/make-base-image makes).
Wall-clock medians of this one run; exit code 0: the goals are met; 1: one is not.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from nanobench.dataset.sample.sample import sample_task
from nanobench.environment.container.engine import connect
from nanobench.environment.container.images import Images
from nanobench.environment.protocol import Prepared
from nanobench.environment.sandbox import best_sandbox
from nanobench.environment.strategies import Choice, Environments, StrategyName
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import EnvironmentSetupError
from nanobench.files import StateDirectory
from nanobench.model.task import Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.snapshot import Snapshot, SnapshotStore
from nanobench.workspace.teardown import remove_tree

READY_SECONDS: dict[StrategyName, float] = {"native": 1.0, "container": 2.0}
CELLS, AT_A_TIME = 20, 4
DAMAGE = "rm -rf .venv/lib 2>/dev/null; echo x > .venv/pyvenv.cfg; "
OWN_CODE = "import tempo, pytest; print(tempo.__file__, open('own').read())"


class Lab:
    """The sample task on one state directory, as the cells of one bench meet it."""

    def __init__(self, state: StateDirectory, strategy: StrategyName, image: str) -> None:
        self.state = state
        self.task: Task = sample_task(state)
        self.work = Path(tempfile.mkdtemp(dir=state.runs))
        self.installed = self.count_installs()
        toolchain, choice = Toolchain(state.tools), Choice(strategy, image)
        self.environment = Environments(state, toolchain, best_sandbox(), choice)

    def count_installs(self) -> int:
        return len(list(self.state.environments.glob("[0-9a-f]*")))

    def prepare(self) -> tuple[Prepared, Snapshot]:
        store = SnapshotStore(self.state.snapshots, ObjectCache(self.state.repositories))
        snapshot = store.get(self.task.repo_url, self.task.base_commit)
        return self.environment.prepare(self.task, snapshot), snapshot

    def start(self, name: str, script: str) -> str:
        """Everything that a cell does before its command runs, and the command."""
        prepared, snapshot = self.prepare()
        place = self.work / name
        snapshot.unpack(place / "ws")
        (place / "ws" / "own").write_text(name)
        with prepared.open(place / "ws", place / "run") as room:
            result = room.run(
                ("/bin/sh", "-c", script),
                timeout_seconds=120,
                stdout=place / "stdout",
                stderr=place / "stderr",
                network="none",
            )
        said, complained = ((place / name).read_text() for name in ("stdout", "stderr"))
        remove_tree(place)
        if result.exit_code != 0:
            sys.exit(f"a cell failed: {said}{complained}")
        return said


def seconds(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def overlay(place: Path) -> None:
    """Mount and unmount an overlay of an empty directory."""
    parts = {name: place / name for name in ("lower", "upper", "work", "merged")}
    for part in parts.values():
        part.mkdir(parents=True)
    options = ",".join(f"{name}dir={parts[name]}" for name in ("lower", "upper", "work"))
    argv = ["mount", "-t", "overlay", "overlay", "-o", options, str(parts["merged"])]
    subprocess.run(argv, check=True, capture_output=True)
    subprocess.run(["umount", str(parts["merged"])], check=True)
    shutil.rmtree(place)


def container(image: str) -> Callable[[], object]:
    """`docker run` of a no-op, as the command line does it."""
    argv = ["docker", "run", "--rm", "--network", "none", "--entrypoint", "true", image]
    return lambda: subprocess.run(argv, check=True, capture_output=True)


def compare(lab: Lab, rounds: int, image: str | None) -> float:
    """The median of a start; prints the ratios. Without an image nothing is run in containers."""
    peers: dict[str, Callable[[int], object]] = {}
    if os.geteuid() == 0:
        # Not on an overlay itself, which cannot be the upper layer of another.
        place = Path(tempfile.mkdtemp(dir="/dev/shm"))
        peers["overlay mount"] = lambda number: overlay(place / str(number))
    if image and shutil.which("docker"):
        run_container = container(image)
        peers["docker run of a no-op"] = lambda number: run_container()
    own: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in peers}
    for number in range(rounds):
        own.append(seconds(partial(lab.start, f"round-{number}", "true")))
        for name, run in peers.items():
            theirs[name].append(seconds(partial(run, number)))
    median = statistics.median(own)
    print(f"workspace + environment + no-op     {median:.3f} s, slowest {max(own):.3f} s")
    for name, times in theirs.items():
        other = statistics.median(times)
        print(f"{name:<35} {other:.3f} s: ours is {median / other:.1f} x")
    for name in {"overlay mount", "docker run of a no-op"} - set(peers):
        print(f"{name:<35} not possible here")
    return median


def share(lab: Lab) -> bool:
    """Twenty cells, four at a time, that damage what they can; whether each saw its own code."""
    script = DAMAGE + f'.venv/bin/python -c "{OWN_CODE}"'
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        names = [f"cell-{number}" for number in range(CELLS)]
        said = list(pool.map(lambda name: lab.start(name, script), names))
    apart = all(text.split()[-1].endswith(name) for name, text in zip(names, said, strict=True))
    installs = lab.count_installs() - lab.installed
    print(f"{CELLS} cells, {AT_A_TIME} at a time: {installs} new install, cross-talk: {not apart}")
    return apart and installs <= 1


def measure(state: StateDirectory, strategy: StrategyName, rounds: int, image: str | None) -> bool:
    """Everything about one strategy; whether its goals are met."""
    lab = Lab(state, strategy, image or "")
    try:
        prepared, _ = lab.prepare()
        print(f"{strategy}: {prepared.sandbox.name}; install {prepared.install_seconds} s")
        median = compare(lab, rounds, image)
        shared = share(lab)
    finally:
        lab.environment.close()
        remove_tree(lab.work)
    met = median <= READY_SECONDS[strategy] and shared
    goal = f"ready within {READY_SECONDS[strategy]:g} s, one install, no cross-talk"
    print(f"{strategy} goals: {goal}: {'met' if met else 'missed'}\n")
    return met


def usable(image: str) -> str | None:
    """The image, if an engine has it."""
    try:
        engine = connect()
        here = Images(engine).is_here(image)
        engine.close()
    except EnvironmentSetupError as error:
        print(f"container: not possible here: {error.what}")
        return None
    if not here:
        print(f"container: the engine has no image {image}")
    return image if here else None


def main() -> int:
    parser = argparse.ArgumentParser(description="Cost of starting in an environment")
    parser.add_argument("--state-dir", type=Path, help="a warm one; a new one by default")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--image", default="nanobench-base:bookworm")
    chosen = parser.parse_args()
    image = usable(chosen.image)
    with tempfile.TemporaryDirectory(prefix="nanobench-environments-") as directory:
        state = StateDirectory.locate(chosen.state_dir or directory)
        met = measure(state, "native", chosen.rounds, image)
        if image:
            met &= measure(state, "container", chosen.rounds, image)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
