"""The files kept beside a record."""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from nanobench.files import write_atomic
from nanobench.pipeline.acting import Acted
from nanobench.pipeline.artifacts import (
    AGENT_PATCH,
    AGENT_REPORT,
    AGENT_STDERR,
    GATEWAY_LOG,
    PROMPT,
)
from nanobench.pipeline.checksums import SUMS, write_sums
from nanobench.pipeline.store import OUTPUTS
from nanobench.verify.outputs import CommandOutput, OutputStore
from nanobench.workspace.diff import WorkspaceDiff


@dataclass(frozen=True)
class Artifacts:
    """The names of the kept files, and the SHA-256 (hex) of the agent's patch if there is one."""

    names: tuple[str, ...]
    patch_sha256: str | None


def keep_artifacts(directory: Path, acted: Acted | None, diff: WorkspaceDiff | None) -> Artifacts:
    """Keep the prompt, the agent's report, its stderr, its patch and the provider's exchanges.

    Raises:
        StateError: they cannot be written.
    """
    if acted is not None:
        outputs = OutputStore(directory / OUTPUTS)
        _store(outputs, AGENT_REPORT, acted, acted.run.report_path)
        _store(outputs, AGENT_STDERR, acted, acted.run.stderr_path)
        write_atomic(directory / PROMPT, acted.prompt)
        if acted.exchanges is not None:
            lines = (json.dumps(asdict(one), sort_keys=True) for one in acted.exchanges)
            write_atomic(directory / GATEWAY_LOG, "".join(f"{line}\n" for line in lines))
    if diff is not None:
        write_atomic(directory / AGENT_PATCH, diff.patch)
    names = sorted(
        path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()
    )
    write_sums(directory, names)
    sha256 = hashlib.sha256(diff.patch).hexdigest() if diff is not None else None
    return Artifacts((*names, SUMS), sha256)


def _store(outputs: OutputStore, output_id: str, acted: Acted, source: Path) -> None:
    """The agent could have put anything in the place of its own files: only a regular one goes."""
    if source.is_symlink() or not source.is_file():
        return
    outputs.store(
        output_id, CommandOutput("nanocoder run", acted.run, source, stderr=Path(os.devnull))
    )
