"""A task's attachments through a whole bench: given, withheld, refused, or not what was pinned."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nanobench.agent.scripted.sources import TaskView
from nanobench.files import StateDirectory
from nanobench.model.record import Record
from nanobench.model.task import Task

pytestmark = pytest.mark.real

IMAGE = "tempo/units.py"  # what a file is, its task says
TEXT = "tempo/notation.py"


class Desk:
    """A dataset of tasks like the sample, with attachments."""

    def __init__(self, root: Path, state: StateDirectory, view: TaskView) -> None:
        self.root, self.state, self.view = root, state, view
        (root / "tasks" / "sample").mkdir(parents=True)
        dataset = {"name": "test", "version": "0", "contamination_cutoff": "2026-04-01T00:00:00Z"}
        (root / "tasks" / "dataset.json").write_text(json.dumps(dataset))

    def sha256(self, path: str) -> str:
        return hashlib.sha256(self.view.snapshot.blob(path.encode())).hexdigest()

    def add(self, task_id: str, *, optional: bool, image_sha256: str | None = None) -> None:
        image = image_sha256 or self.sha256(IMAGE)
        document = json.loads(self.view.task.to_json()) | {
            "task_id": task_id,
            "attachments": [
                {"path": IMAGE, "media_type": "image/png", "sha256": image},
                {"path": TEXT, "media_type": "text/plain", "sha256": self.sha256(TEXT)},
            ],
            "attachments_optional": optional,
        }
        Task.model_validate(document)
        (self.root / "tasks" / "sample" / f"{task_id}.json").write_text(json.dumps(document))

    def bench(self) -> "subprocess.CompletedProcess[str]":
        command = ("-m", "nanobench", "bench", "--models", "scripted/gold", "--out", "out")
        return subprocess.run(
            (sys.executable, *command),
            cwd=self.root,
            env={**os.environ, "NANOBENCH_STATE_DIR": str(self.state.root)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def records(self) -> dict[str, Record]:
        paths = self.root.glob("out/cells/*/attempt-1/record.json")
        found = (Record.from_json(path.read_bytes()) for path in paths)
        return {record.cell.task_id: record for record in found}


@pytest.fixture
def desk(tmp_path: Path, shared_state: StateDirectory, view: TaskView) -> Desk:
    return Desk(tmp_path, shared_state, view)


def test_an_image_that_is_needed_is_a_recorded_capability_error(desk: Desk) -> None:
    desk.add("needs-image", optional=False)
    desk.add("text-suffices", optional=True)
    done = desk.bench()
    assert done.returncode == 4, done.stderr
    records = desk.records()

    refused = records["needs-image"]
    assert refused.verdict.outcome == "infrastructure_error"
    assert refused.verdict.score is None
    assert refused.signals.agent.ending == "not_started"
    (trouble,) = refused.signals.infrastructure
    assert "missing capability: Nanocoder 1.30.0" in trouble
    assert f"{IMAGE} (image/png)" in trouble
    assert TEXT not in trouble

    ran = records["text-suffices"]
    assert ran.verdict.solved
    assert ran.provenance.tool_surface.attachments == (TEXT,)
    assert ran.provenance.tool_surface.attachments_withheld == (IMAGE,)
    assert not ran.provenance.tool_surface.vision
    assert ran.signals.trajectory.known
    assert not ran.signals.trajectory.vision


def test_an_attachment_that_is_not_the_pinned_one_runs_nothing(desk: Desk) -> None:
    desk.add("changed", optional=True, image_sha256="0" * 64)
    done = desk.bench()
    assert done.returncode == 3
    assert f"the attachment has the SHA-256 {desk.sha256(IMAGE)}" in done.stderr
    assert "0" * 64 in done.stderr
    assert "attachments[0]: tempo/units.py" in done.stderr
    assert desk.records() == {}


def test_an_attachment_that_is_no_file_of_the_base_commit_is_named(
    desk: Desk, view: TaskView
) -> None:
    desk.add("absent", optional=True)
    path = desk.root / "tasks" / "sample" / "absent.json"
    path.write_text(path.read_text().replace(f'"path": "{TEXT}"', '"path": "tempo"'))
    done = desk.bench()
    assert done.returncode == 3
    assert "attachments[1]: tempo" in done.stderr
