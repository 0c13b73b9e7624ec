"""Grading stored runs: 10,000 records read and judged on one core, beside SWE-bench's grading.

Run it alone: `python benchmarks/grading.py [--records 10000] [--no-peer]`. Exit code 0: the goal
is met; 1: it is not.

A record is a real one of the sample task, with what a suite of 200 tests left in the place of its
suites: 40 target tests, of which a quarter of the runs pass all, and the others half, none with a
symptom of rule 3, or none without. `nanobench regrade` reads them from disk: each is parsed, its
schema version looked at, validated, judged by both rulesets.

The peer is `swebench.harness.grading.get_eval_report` (SWE-bench 5.0.2, from the package index, in
an environment of its own that is removed at the end) on as many logs of the same 200 tests in the
form that pytest prints. Where it cannot be installed, its figure of an earlier run is shown.

The two do not do the same work. SWE-bench finds the outcomes in the text of a log whenever it
grades, and says `resolved` or not. NanoBench reads the runner's result file once, when a run is
verified, and keeps the outcomes; from then on it grades records. What that reading takes is
measured too, and added in the last line, so that both go from what the runner wrote to a verdict.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from nanobench.model.record import Record
from nanobench.model.signals import SuiteSignals, Symptom, TestOutcome, VerificationSignals
from nanobench.pipeline.records import RECORD, parse_record
from nanobench.pipeline.regrading import regrade
from nanobench.scoring.judge import judge
from nanobench.verify.formats import parse

MOST_SECONDS = 10.0
TESTS, TARGETS = 200, 40
KINDS = ("solved", "half", "invented", "unclassified")
PARSED = 200  # result files, enough for a figure per file
PEER = "swebench==5.0.2"
PEER_SECONDS = 0.0012  # per log, of the run that docs/performance.md shows
TEMPLATE = Path(__file__).parents[1] / "tests/fixtures/records/1.0/lines-counted.json"
NAMES = [f"tests/test_module.py::test_case_{number:03}" for number in range(TESTS)]
ERROR = "AttributeError: 'Reader' object has no attribute 'frobnicate'"
FAILURE = "AssertionError: assert ['a', 'b', 'c'] == ['a', 'b', 'c', 'd']"
PEER_SCRIPT = """
import json, sys, time
from pathlib import Path
from swebench.harness.grading import get_eval_report
from swebench.types import TestSpec

names, targets = json.loads(sys.argv[2]), int(sys.argv[3])
spec = TestSpec(instance_id="i", image="", eval_script_list=[], repo="a/b", version="1",
                FAIL_TO_PASS=names[:targets], PASS_TO_PASS=names[targets:],
                log_parser="parse_log_pytest", eval_type="pass_and_fail")
prediction = {"instance_id": "i", "model_name_or_path": "m", "model_patch": "x"}
logs = sorted(Path(sys.argv[1]).iterdir())
before = time.process_time()
resolved = sum(get_eval_report(spec, prediction, str(log), True)["i"]["resolved"] for log in logs)
print(json.dumps({"seconds": time.process_time() - before, "resolved": resolved}))
"""


def passes(kind: str, number: int) -> bool:
    """Whether a test does; those that are no targets always do."""
    if number >= TARGETS or kind == "solved":
        return True
    return kind == "half" and number < TARGETS // 2


def message(kind: str) -> str:
    return ERROR if kind == "invented" else FAILURE


def trace(kind: str, number: int) -> str:
    """What pytest prints of a failure: some lines of the test, and the error."""
    steps = [f"        value = reader.step({step}, 'the name of a field')" for step in range(8)]
    head = f"    def test_case_{number:03}(reader):"
    return "\n".join([head, *steps, ">       reader.check()", f"E       {message(kind)}"])


def make_record(kind: str) -> Record:
    failed = [number for number in range(TARGETS) if not passes(kind, number)]
    targets = tuple(
        TestOutcome(
            id=NAMES[number],
            status="failed",
            error_type=message(kind).partition(":")[0],
            message=message(kind),
            details=trace(kind, number),
        )
        if number in failed
        else TestOutcome(id=NAMES[number], status="passed", duration_seconds=0.01)
        for number in range(TARGETS)
    )
    suite = SuiteSignals(
        name="pytest",
        language="Python",
        state="ok",
        exit_code=1 if failed else 0,
        duration_seconds=2.0,
        targets=targets,
        counts={"passed": TESTS - len(failed), "failed": len(failed)},
    )
    symptom = Symptom(
        kind="missing_symbol",
        language="Python",
        code="AttributeError",
        symbol="frobnicate",
        suite="pytest",
        test_ids=tuple(NAMES[:TARGETS]),
        message=ERROR,
        in_required_files_at_base=False,
        in_repository_at_base=False,
        in_golden_patch=False,
        in_agent_lines=True,
    )
    verification = VerificationSignals(
        possible=True, suites=(suite,), symptoms=(symptom,) if kind == "invented" else ()
    )
    template = parse_record(TEMPLATE.read_bytes())
    signals = template.signals.model_copy(update={"verification": verification})
    verdict = judge(signals, "1.1")
    return template.model_copy(update={"signals": signals, "verdict": verdict})


def write_records(root: Path, count: int) -> int:
    """Write the records in the layout of a bench; their size together."""
    records = {kind: make_record(kind) for kind in KINDS}
    size = 0
    for number in range(count):
        record = records[KINDS[number % len(KINDS)]]
        cell = record.cell.model_copy(update={"run": number + 1})
        directory = root / "cells" / cell.cell_id / "attempt-1"
        directory.mkdir(parents=True)
        size += (directory / RECORD).write_text(record.model_copy(update={"cell": cell}).to_json())
    return size


def make_log(kind: str) -> str:
    """A log of the same tests as pytest prints it with -rA, between the peer's marks."""
    failed = [number for number in range(TESTS) if not passes(kind, number)]
    lines = [">>>>> Start Test Output", "= test session starts =", f"collected {TESTS} items"]
    lines += (trace(kind, number) for number in failed)
    lines += ["= short test summary info ="]
    lines += (f"PASSED {NAMES[number]}" for number in range(TESTS) if number not in failed)
    lines += (f"FAILED {NAMES[number]} - {message(kind)}" for number in failed)
    lines += [f"= {len(failed)} failed, {TESTS - len(failed)} passed in 2.00s =", ""]
    return "\n".join([*lines, ">>>>> End Test Output", ""])


def make_result(kind: str) -> str:
    """A result file of the same tests as pytest writes it."""
    cases = []
    for number in range(TESTS):
        case = f'<testcase classname="tests.test_module" name="test_case_{number:03}" time="0.01"'
        if passes(kind, number):
            cases.append(f"{case} />")
        else:
            text = message(kind).replace("'", "&#39;")
            cases.append(
                f'{case}><failure message="{text}">{trace(kind, number).replace(">", "&gt;")}'
            )
            cases.append("</failure></testcase>")
    return f'<testsuites><testsuite name="pytest">{"".join(cases)}</testsuite></testsuites>'


def write_each(root: Path, texts: dict[str, str], count: int) -> int:
    root.mkdir()
    size = 0
    for number in range(count):
        size += (root / f"{number:05}").write_text(texts[KINDS[number % len(KINDS)]])
    return size


def seconds_of_grading(root: Path, count: int) -> float:
    """CPU seconds of judging every record by the ruleset that takes longer."""
    slowest = 0.0
    for ruleset in ("1.0", "1.1"):
        before = time.process_time()
        found = regrade(root, ruleset)
        slowest = max(slowest, time.process_time() - before)
        if found.records != count or found.problems:
            raise SystemExit(f"not all records were judged: {found.problems[:3]}")
    kinds = Counter(make_record(kind).verdict.category for kind in KINDS)
    if set(kinds) != {None, "partial_fix_only", "hallucinated_api", "unclassified"}:
        raise SystemExit(f"the records are not what they should be: {kinds}")
    return slowest


def seconds_of_parsing(root: Path) -> float:
    """CPU seconds of reading one result file."""
    write_each(root, {kind: make_result(kind) for kind in KINDS}, PARSED)
    before = time.process_time()
    for path in sorted(root.iterdir()):
        if len(parse("junit", path, "/ws").tests) != TESTS:
            raise SystemExit("a result file was not read whole")
    return (time.process_time() - before) / PARSED


def seconds_of_peer(root: Path, count: int) -> float | None:
    """CPU seconds of the peer per log; null if it cannot be installed."""
    uv = Path(sys.executable).with_name("uv")
    python = root / "peer" / "bin" / "python"
    logs = root / "logs"
    try:
        subprocess.run([uv, "venv", "-q", root / "peer"], check=True, timeout=60)
        subprocess.run(
            [uv, "pip", "install", "-q", "--python", python, PEER], check=True, timeout=600
        )
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{PEER} cannot be installed: {error}", file=sys.stderr)
        return None
    size = write_each(logs, {kind: make_log(kind) for kind in KINDS}, count)
    print(f"logs      {count}, {size / count / 1000:.1f} kB each, for {PEER}")
    found = subprocess.run(
        [python, "-c", PEER_SCRIPT, logs, json.dumps(NAMES), str(TARGETS)],
        check=True,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    answer = json.loads(found.stdout)
    if answer["resolved"] != sum(KINDS[n % len(KINDS)] == "solved" for n in range(count)):
        raise SystemExit(f"the peer read the logs otherwise: {answer}")
    return float(answer["seconds"]) / count


def measure(root: Path, count: int, with_peer: bool) -> bool:
    """Print the figures and whether they meet the goal."""
    size = write_records(root / "out", count)
    print(f"records   {count}, {size / count / 1000:.1f} kB each")
    grading = seconds_of_grading(root / "out", count)
    shutil.rmtree(root / "out")
    parsing = seconds_of_parsing(root / "results")
    peer = seconds_of_peer(root, count) if with_peer else None
    each = grading / count
    told = "" if peer else f" (not measured now: the figure of an earlier run, {PEER})"
    peer = peer or PEER_SECONDS
    print(f"CPU ms    grading a record {each * 1e3:.3f}, reading a result file {parsing * 1e3:.3f}")
    print(f"peer      grading a log {peer * 1e3:.3f}{told}")
    print(f"ratio     grading {peer / each:.1f}, with the reading {peer / (each + parsing):.1f}")
    goal = MOST_SECONDS * count / 10_000
    met = grading <= goal
    print(f"CPU s     {grading:.2f} for all  (goal <= {goal:g}): {'met' if met else 'MISSED'}")
    return met


def default_directory() -> Path:
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the grading of stored records.")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--no-peer", action="store_true", help="do not install SWE-bench")
    parser.add_argument("--directory", type=Path, default=default_directory())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(
        prefix="nanobench-benchmark-", dir=options.directory
    ) as directory:
        met = measure(Path(directory), options.records, not options.no_peer)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
