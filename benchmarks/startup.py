"""Start-up: `nanobench --help` against `python -c pass`, CPU seconds of interleaved runs.

Goal: at most 5.5 times (an empty click application is at about 4.4).
"""

import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 15
GOAL = 5.5


def cpu_seconds(argv: list[str]) -> float:
    """User and system CPU seconds of one run of `argv`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print both medians and their ratio."""
    program = Path(sys.executable).with_name("nanobench")
    floor_argv, help_argv = [sys.executable, "-c", "pass"], [str(program), "--help"]
    for argv in (floor_argv, help_argv):
        cpu_seconds(argv)
    floor, shown = [], []
    for _ in range(ROUNDS):
        floor.append(cpu_seconds(floor_argv))
        shown.append(cpu_seconds(help_argv))
    ratio = statistics.median(shown) / statistics.median(floor)
    print(f"python -c pass     {statistics.median(floor):.4f} CPU s")
    print(f"nanobench --help   {statistics.median(shown):.4f} CPU s")
    verdict = "met" if ratio <= GOAL else "MISSED"
    print(f"ratio              {ratio:.2f}  (goal <= {GOAL}: {verdict})")


if __name__ == "__main__":
    main()
