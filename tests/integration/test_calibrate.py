"""`nanobench calibrate` on the sample task: known causes get their known labels."""

import gzip
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.scripted.behaviours import BEHAVIOURS
from nanobench.agent.scripted.labels import LABELS
from nanobench.agent.scripted.sources import TaskView
from nanobench.files import StateDirectory
from nanobench.model.record import Record

pytestmark = pytest.mark.real

# One run at least for every label of each ruleset but the clock's, which takes its time.
FAST = (
    "gold",
    "noop",
    "partial",
    "partial-below-half",
    "cross-language-half",
    "failed-edits",
    "hallucinated-api",
    "wrong-layer",
    "context-overflow",
    "auth-error",
    "mines-history",
)


@dataclass(frozen=True)
class Calibrated:
    """What the command left."""

    out: Path
    exit_code: int
    document: dict[str, Any]
    page: str
    records: dict[str, Record]
    stderr: str


def calibrate(out: Path, state: StateDirectory, *options: str) -> Calibrated:
    argv = [sys.executable, "-m", "nanobench", "calibrate", "--out", str(out), "--json"]
    done = subprocess.run(
        [*argv, "--state-dir", str(state.root), "--jobs", "2", *options],
        cwd=out.parent,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.stdout, done.stderr
    found = [Record.from_json(path.read_bytes()) for path in out.glob("cells/*/*/record.json")]
    return Calibrated(
        out,
        done.returncode,
        json.loads(done.stdout),
        (out / "calibration" / "calibration.md").read_text(),
        {record.cell.model.model: record for record in found},
        done.stderr,
    )


@pytest.fixture(scope="module")
def fast(shared_state: StateDirectory, tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    out = tmp_path_factory.mktemp("calibrate") / "out"
    return calibrate(out, shared_state, "--behaviours", ",".join(FAST), "--modes", "navigation")


def misses(found: Calibrated) -> list[dict[str, Any]]:
    return [check for check in found.document["checks"] if check["problem"]]


def test_known_causes_get_their_known_labels_under_every_ruleset(fast: Calibrated) -> None:
    assert misses(fast) == []
    assert fast.exit_code == 0, fast.stderr
    assert len(fast.document["checks"]) == 2 * len(FAST)
    assert {check["ruleset"] for check in fast.document["checks"]} == {"1.0", "1.1"}


def test_the_page_names_versions_confusion_and_coverage(fast: Calibrated) -> None:
    assert "nanocoder 1.30.0" in fast.page
    assert f"Run on {fast.document['ran_on']}" in fast.page
    assert "expected \\ got" in fast.page
    assert "coverage of the taxonomy" in fast.page
    assert "/" not in fast.page.partition("Versions:")[2].partition("\n")[0]


def test_no_git_command_of_the_agent_reaches_a_later_state(
    fast: Calibrated, view: TaskView
) -> None:
    record = fast.records["mines-history"]
    assert record.signals.edits.observed == ()
    attempts = record.signals.trajectory.history_attempts
    assert {command.split()[1] for command in attempts} >= {"log", "fsck", "fetch", "checkout"}
    (path,) = fast.out.glob("cells/scripted-mines*/*/outputs/agent-report.log.gz")
    report = json.loads(gzip.decompress(path.read_bytes()))
    said = {call["arguments"]["command"]: call["result"] for call in report["toolCalls"]}
    (counts,) = (said[command] for command in said if "cat-file" in command)
    objects = {kind: int(number) for number, kind in re.findall(r"(\d+) (\w+)", counts)}
    blobs = {entry.sha for entry in view.snapshot.entries.values()}
    assert (objects["commit"], objects["blob"]) == (1, len(blobs))
    assert said["git log --all --oneline"].count("\n") == 2
    assert said["git reflog"] == "EXIT_CODE: 0\n"
    assert said["git fsck --unreachable --lost-found"] == "EXIT_CODE: 0\n"
    merge = [said[command] for command in said if str(view.task.merge_commit) in command]
    assert len(merge) == 3
    assert all(result.startswith("EXIT_CODE: 128") for result in (*merge, said["git fetch origin"]))


def test_nothing_checked_is_no_success(shared_state: StateDirectory, tmp_path: Path) -> None:
    options = ("--behaviours", "cross-language-half", "--modes", "hinted")
    found = calibrate(tmp_path / "out", shared_state, *options)
    assert found.exit_code == 1
    assert found.document["checks"] == []
    assert "nothing was checked" in found.stderr


@pytest.mark.slow
def test_every_behaviour_in_every_mode(shared_state: StateDirectory, tmp_path: Path) -> None:
    found = calibrate(tmp_path / "out", shared_state)
    assert misses(found) == []
    assert found.exit_code == 0, found.stderr
    assert found.document["not_applicable"] == []
    assert {check["behaviour"] for check in found.document["checks"]} == set(BEHAVIOURS)
    for tally in found.document["tallies"]:
        assert tally["never_seen"] == []
        assert set(tally["seen"]) == set(LABELS)
