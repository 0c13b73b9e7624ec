"""The second, trusted stage of a task's gates: read what the first one left, and tell it.

The first stage ran foreign code without any right. All that it left is data: of bounded size, of a
known shape, and written anew as Markdown here.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from nanobench.errors import InvalidInputError
from nanobench.github.archives import Bounds, extract, read_document
from nanobench.github.baseline_sources import from_run
from nanobench.model.gate import GateResult

if TYPE_CHECKING:
    from nanobench.github.client import Client

GATE_FILE = "gate.json"
_GATE_BYTES = 2 * 1024 * 1024
_BOUNDS = Bounds(bytes=16 * 1024 * 1024, files=50, depth=4)


def read_gate_result(place: Path) -> GateResult:
    """The gate result in a directory, in a zip archive, or in a file.

    Raises:
        InvalidInputError: it is missing, too large, hostile, or no gate result.
    """
    if place.is_symlink() or not place.exists():
        raise InvalidInputError("there is no gate result", where=str(place))
    if place.is_dir():
        return read_document(place / GATE_FILE, GateResult, _GATE_BYTES)
    if place.suffix == ".json":
        return read_document(place, GateResult, _GATE_BYTES)
    with tempfile.TemporaryDirectory(prefix="nanobench-gate-") as directory:
        extract(place, Path(directory), _BOUNDS)
        return read_document(Path(directory) / GATE_FILE, GateResult, _GATE_BYTES)


def fetch_gate_result(client: Client, run_id: int, name: str) -> GateResult:
    """The gate result that a run left as the artifact `name`.

    Raises:
        InvalidInputError: there is none, or it is hostile or no gate result.
        InfrastructureError: GitHub refuses or fails.
    """
    with tempfile.TemporaryDirectory(prefix="nanobench-gate-") as directory:
        archive = Path(directory, "artifact.zip")
        if not from_run(client, run_id, name, archive):
            raise InvalidInputError(
                f"the run left no artifact {name!r}",
                where=f"run {run_id}",
                remedy="see its log: the gates did not come to an end",
            )
        return read_gate_result(archive)
