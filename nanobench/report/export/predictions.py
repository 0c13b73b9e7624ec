"""Predictions as SWE-bench's harness takes them: one JSON line per task, a file per model and run.

https://www.swebench.com/SWE-bench/guides/evaluation/
"""

import hashlib
import json

from nanobench.agent.report_file import read_bounded
from nanobench.pipeline.artifacts import AGENT_PATCH
from nanobench.report.attempts import Attempt

_PATCH_LIMIT = 64 * 1024 * 1024


def prediction(attempt: Attempt) -> str | None:
    """The line of one run; null if the patch that the record names is not there, or another."""
    record = attempt.record
    patch = b""
    if record.agent_patch_sha256 is not None:
        if attempt.directory is not None:
            _, patch = read_bounded(attempt.directory / AGENT_PATCH, _PATCH_LIMIT)
        if hashlib.sha256(patch).hexdigest() != record.agent_patch_sha256:
            return None
    line = {
        "instance_id": record.cell.task_id,
        "model_name_or_path": str(record.cell.model),
        "model_patch": patch.decode("utf-8", "replace"),
    }
    return json.dumps(line, sort_keys=True) + "\n"
