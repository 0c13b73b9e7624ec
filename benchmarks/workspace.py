"""What a warm workspace costs, beside `tar x` of the same files and a depth-1 fetch.

Run it alone: `python benchmarks/workspace.py [--files 400] [--rounds 9]`. It makes a repository
of its own with some history, interleaves the three ways round by round, counts CPU seconds with
child processes, and prints ratios of the medians of this one run. Exit code 0: both goals are
met; 1: one is not.

It works in memory (`/dev/shm`) where it can: on a busy disk the creation of files, which is the
same in all three ways, costs more than everything else. `--directory` measures another place.
"""

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.snapshot import SnapshotStore

MOST_OF_TAR = 1.25
LEAST_OVER_FETCH = 8.0
HISTORY = 30
WORDS = [
    f"{first}_{second}" for first in ["read", "write", "parse", "build"] for second in "abcdef"
]


def cpu_seconds(work: Callable[[], None]) -> float:
    """CPU time of `work`, its child processes counted."""
    before = _used()
    work()
    return _used() - before


def _used() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(kind) for kind in kinds]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def git(directory: Path, *args: str) -> str:
    identity = ("-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "gc.auto=0")
    argv = ["git", "-C", str(directory), *identity, *args]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def make_repository(directory: Path, files: int) -> str:
    """A source tree of this many files, about 8 KiB each, with a history before and after."""
    chance = random.Random(0)
    directory.mkdir()
    git(directory, "init", "-q", "-b", "main")
    paths = [directory / f"src/part{n % 40:02}/module{n:04}.py" for n in range(files)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (" ".join(chance.choices(WORDS, k=6)) for _ in range(150))
        path.write_text("\n".join(lines))
    base = ""
    for number in range(HISTORY):
        for path in chance.sample(paths, len(paths) // 10):
            path.write_text(f"{path.read_text()}\nchange {number}")
        git(directory, "add", "-A")
        git(directory, "commit", "-q", "-m", f"Change {number}")
        if number == HISTORY // 2:
            base = git(directory, "rev-parse", "HEAD")
    git(directory, "repack", "-adq")
    return base


def fetch(source: Path, commit: str, destination: Path) -> None:
    """The shallow way: init, fetch of one commit, checkout."""
    destination.mkdir()
    git(destination, "init", "-q")
    git(destination, "fetch", "-q", "--depth=1", source.as_uri(), commit)
    git(destination, "checkout", "-q", "FETCH_HEAD")


def untar(archive: Path, destination: Path) -> None:
    destination.mkdir()
    subprocess.run(["tar", "-xf", str(archive), "-C", str(destination)], check=True)


def measure(root: Path, files: int, rounds: int) -> dict[str, list[float]]:
    source = root / "source"
    commit = make_repository(source, files)
    store = SnapshotStore(root / "snapshots", ObjectCache(root / "repositories"))
    url = source.as_uri()
    reference = root / "reference"
    store.get(url, commit).unpack(reference)
    archive = root / "reference.tar"
    subprocess.run(["tar", "-cf", str(archive), "-C", str(reference), "."], check=True)
    ways: dict[str, Callable[[Path], None]] = {
        "tar x": lambda place: untar(archive, place),
        "workspace": lambda place: store.get(url, commit).unpack(place),
        "fetch": lambda place: fetch(source, commit, place),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            place = root / f"{name}-{number}"
            spent = cpu_seconds(lambda way=way, place=place: way(place))  # type: ignore[misc]
            if number:  # the first round warms the page cache
                times[name].append(spent)
    # Trees are kept until here: ext4 is slow to hand out inodes that were freed moments ago.
    return times


def report(files: int, times: dict[str, list[float]]) -> bool:
    middle = {name: statistics.median(values) for name, values in times.items()}
    print(f"{files} files, {len(times['fetch'])} interleaved rounds, CPU s with child processes")
    for name, values in times.items():
        print(f"  {name:<10} {min(values):.4f} / {middle[name]:.4f} / {max(values):.4f}")
    over_tar = middle["workspace"] / middle["tar x"]
    under_fetch = middle["fetch"] / middle["workspace"]
    goals = [
        (over_tar <= MOST_OF_TAR, f"workspace / tar x   {over_tar:.2f} (at most {MOST_OF_TAR})"),
        (
            under_fetch >= LEAST_OVER_FETCH,
            f"fetch / workspace   {under_fetch:.1f} (at least {LEAST_OVER_FETCH:g})",
        ),
    ]
    for met, line in goals:
        print(f"  {line}: {'met' if met else 'not met'}")
    return all(met for met, _ in goals)


def _default_directory() -> Path:
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure a warm workspace against its peers.")
    parser.add_argument("--files", type=int, nargs="+", default=[400, 4000])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--directory", type=Path, default=_default_directory())
    options = parser.parse_args()
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    print(f"in {options.directory}")
    met = True
    for files in options.files:
        with tempfile.TemporaryDirectory(
            prefix="nanobench-benchmark-", dir=options.directory
        ) as root:
            met &= report(files, measure(Path(root), files, options.rounds))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
