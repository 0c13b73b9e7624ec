"""CPU of `nanobench report`: 1,000 and 10,000 records merged, judged and rendered.

Run it alone: `python benchmarks/report.py [--records 1000 10000] [--rounds 5] [--inspect PYTHON]
[--large 100000]`.
Exit code 0: every goal is met; 1: one is not. Start-up is included on both sides. With `--large`,
as many records are reported once; wall-clock and peak memory are held against their goals.

The records are of the size of real ones without their outputs (about 2 KB), spread over five
models; their numbers are made with a fixed seed. With `--inspect`, the Python of an environment
that holds inspect-ai, Inspect writes as many samples to an .eval log with its own writer and
reads them back whole (`read_eval_log`), each in a process of its own; only reading is counted.
Rounds are interleaved, and medians are compared.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nanobench.model.plan import AgentSettings, Cell, Limits, ModelRef, Plan, PlanTask, TaskFacts
from nanobench.model.record import Record

SHARE_OF_INSPECT = 0.25
MOST_GROWTH = 10.5
LARGE_SECONDS = 60
LARGE_BYTES = 1.5e9
RUNS = 5
MODELS = tuple(f"model-{letter}" for letter in "abcde")
DIGEST = "a" * 64
OUTCOMES: tuple[dict[str, Any], ...] = (
    {"score": 1.0, "label": "Complete Resolution", "solved": True},
    {
        "score": 0.5,
        "label": "Partial Resolution",
        "solved": False,
        "category": "partial_fix_only",
        "rule": 5,
        "level": "1 + 2",
        "evidence": ["3 of 5 target tests pass", "src/app/service.py was edited"],
    },
    {
        "score": 0.0,
        "label": "Zero Signal",
        "solved": False,
        "rule": 2,
        "level": "1 structural",
        "evidence": ["none of the 2 required files was edited"],
    },
)
INSPECT_WRITE = """
import sys
from inspect_ai.log import (EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, EvalStats,
    write_eval_log)
from inspect_ai.scorer import Score
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.log import EvalResults
count, path = int(sys.argv[1]), sys.argv[2]
text = "x" * 400
samples = [EvalSample(id=n, epoch=1, input=text, target="t",
    messages=[ChatMessageUser(content=text)], output=ModelOutput.from_content("m", text),
    scores={"s": Score(value=n % 2, explanation=text)}) for n in range(count)]
spec = EvalSpec(created="2026-01-01T00:00:00+00:00", task="t", dataset=EvalDataset(), model="m",
    config=EvalConfig())
write_eval_log(EvalLog(eval=spec, samples=samples, results=EvalResults(), stats=EvalStats()), path)
"""
INSPECT_READ = """
import sys
from inspect_ai.log import read_eval_log
assert len(read_eval_log(sys.argv[2]).samples) == int(sys.argv[1])
"""

PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--records", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inspect", type=Path, metavar="PYTHON")
    parser.add_argument("--large", type=int, metavar="RECORDS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        met = measure(Path(place), options.records, options.rounds, options.inspect)
        if options.large:
            met &= large(Path(place), options.large)
    return 0 if met else 1


def large(place: Path, count: int) -> bool:
    """One report of many records, by a process whose memory is its own."""
    write_results(place / "large", count)
    command = [sys.executable, "-c", PEAK, *reporting_command(place / "large", place / "out")]
    start = time.monotonic()
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    wall, peak = time.monotonic() - start, int(done.stdout)
    print(
        f"{count} records: {wall:.0f} s (goal {LARGE_SECONDS}), "
        f"{peak / 1e9:.2f} GB (goal {LARGE_BYTES / 1e9})"
    )
    return wall <= LARGE_SECONDS and peak <= LARGE_BYTES


def measure(place: Path, counts: list[int], rounds: int, inspect: Path | None) -> bool:
    jobs: dict[str, Callable[[], float]] = {}
    for count in counts:
        results = place / str(count)
        size = write_results(results, count)
        print(f"{count} records of {size / count:.0f} bytes")
        jobs[f"nanobench {count}"] = reporting(results, place / f"report-{count}")
    if inspect is not None:
        log = place / "samples.eval"
        subprocess.run([inspect, "-c", INSPECT_WRITE, str(counts[0]), str(log)], check=True)
        jobs[f"inspect {counts[0]}"] = lambda: cpu(
            [inspect, "-c", INSPECT_READ, str(counts[0]), log]
        )
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(rounds + 1):
        for name, job in jobs.items():
            seconds = job()
            if number:  # the first round compiles and warms the disk
                found[name].append(seconds)
    medians = {name: statistics.median(times) for name, times in found.items()}
    for name, times in found.items():
        print(f"{name}: {min(times):.2f} / {medians[name]:.2f} / {max(times):.2f} s CPU")
    return judge(medians, counts)


def judge(medians: dict[str, float], counts: list[int]) -> bool:
    met = True
    first = medians[f"nanobench {counts[0]}"]
    if f"inspect {counts[0]}" in medians:
        share = first / medians[f"inspect {counts[0]}"]
        met &= share <= SHARE_OF_INSPECT
        print(f"{share:.3f} of Inspect's CPU (goal {SHARE_OF_INSPECT})")
    for count in counts[1:]:
        growth, most = medians[f"nanobench {count}"] / first, MOST_GROWTH * count / counts[0] / 10
        met &= growth <= most
        print(f"{count} records: {growth:.2f} times {counts[0]} (goal {most:.2f})")
    return met


def reporting(results: Path, out: Path) -> Callable[[], float]:
    return lambda: cpu([*reporting_command(results, out), "--json"])


def reporting_command(results: Path, out: Path) -> list[Any]:
    """Markdown and JSON; the page with every run's detail is another matter."""
    options = ["--out", out, "--no-html"]
    return [sys.executable, "-m", "nanobench", "report", results, *options]


def cpu(command: list[Any]) -> float:
    """Seconds of CPU of a command and its descendants, start-up included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def write_results(root: Path, count: int) -> int:
    """A plan and its records as a bench leaves them; gives the bytes of all records."""
    cells = list(planned(count))
    tasks = sorted({cell.task_id for cell in cells})
    plan = Plan(
        tasks=tuple(
            PlanTask(task_id=t, origin="dataset", sha256=DIGEST, tier=4, facts=facts(n))
            for n, t in enumerate(tasks)
        ),
        cells=tuple(cells),
    )
    root.mkdir()
    (root / "plan.json").write_text(plan.to_json())
    chance, size = random.Random(7), 0
    for cell in cells:
        home = root / "cells" / cell.cell_id / "attempt-1"
        home.mkdir(parents=True)
        size += (home / "record.json").write_text(record(cell, chance.choice(OUTCOMES)))
    return size


def facts(number: int) -> TaskFacts:
    """Of tasks in a dataset of twelve repositories."""
    languages = ("Python", "TypeScript", "Go", "Rust", "Java")
    return TaskFacts(
        languages=(languages[number % 5],) if number % 7 else languages[:2],
        domain=f"domain {number % 12}",
        task_type=("bug fix", "feature")[number % 2],
        reasoning_category=f"category {number % 6}",
        token_estimate=10_000 * (1 + number % 10),
        merged_at=datetime(2026, 5, 1 + number % 28, tzinfo=UTC),
    )


def planned(count: int) -> Iterator[Cell]:
    for number in range(count):
        rest, model = divmod(number, len(MODELS))
        task, run = divmod(rest, RUNS)
        yield Cell(
            model=ModelRef(provider="acme", model=MODELS[model]),
            task_id=f"task-{task:05}",
            mode="hinted",
            run=run + 1,
        )


def record(cell: Cell, outcome: dict[str, Any]) -> str:
    document = Record.model_validate(
        {
            "cell": cell,
            "attempt": 1,
            "provenance": _provenance(),
            "signals": _signals(),
            "verdict": {"ruleset": "1.1", "outcome": "graded", **outcome},
            "completion": {
                "verification_summary": "1 suite ran: 2 of 5 target tests pass",
                "commands_run": [],
                "artifacts_created": [],
                "remaining_failures": ["tests/test_service.py::test_retry"],
            },
            "agent_patch_sha256": DIGEST,
            "timing": {"started_at": "2026-05-01T00:00:00Z", "phases_seconds": {"agent": 60.0}},
        }
    ).model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps({"schema_version": "1.1", **document}, indent=1)


def _provenance() -> dict[str, Any]:
    return {
        "nanobench": "0.1.0",
        "nanocoder": "1.30.0",
        "node": "22.12.0",
        "platform": "linux-x64",
        "task_sha256": DIGEST,
        "task_schema": "1.0",
        "dataset": "nanobench 1.0.0",
        "environment_key": DIGEST,
        "isolation": {
            "strategy": "native",
            "sandbox": "bubblewrap",
            "agent_network": "provider-only",
            "verify_network": "none",
        },
        "tool_surface": {
            "tools": ["read_file", "write_file", "execute_bash"],
            "agents_md_sha256": None,
            "web_access": False,
            "vision": False,
            "dependencies_writable": False,
        },
        "settings": AgentSettings(),
        "limits": Limits(),
        "temperature": "pinned",
        "non_deterministic": False,
    }


def _signals() -> dict[str, Any]:
    tests = [f"tests/test_service.py::test_{name}" for name in ("get", "put", "retry", "a", "b")]
    outcomes = [{"id": n, "status": "passed" if i < 2 else "failed"} for i, n in enumerate(tests)]
    return {
        "mode": "hinted",
        "required_files": ["src/app/service.py", "src/app/store.py"],
        "agent": {
            "ending": "completed",
            "exit_code": 0,
            "report": "complete",
            "report_bytes": 10_000,
            "usage": {"input_tokens": 70_000, "output_tokens": 3_000, "source": "gateway"},
        },
        "edits": {
            "source": "diff",
            "observed": [{"path": "src/app/service.py", "change": "modified", "size": 500}],
            "reported": ["src/app/service.py"],
            "required_observed": ["src/app/service.py"],
        },
        "verification": {
            "possible": True,
            "suites": [
                {
                    "name": "tests",
                    "language": "Python",
                    "state": "ok",
                    "exit_code": 1,
                    "duration_seconds": 1.5,
                    "targets": outcomes,
                    "regressions": [],
                    "counts": {"passed": 40, "failed": 3},
                }
            ],
        },
    }


if __name__ == "__main__":
    sys.exit(main())
