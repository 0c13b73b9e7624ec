"""Run a trusted tool of ours on the host (npm, uv) and turn its failure into an error."""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nanobench.environment.plain import Plain
from nanobench.environment.sandbox import Command
from nanobench.errors import EnvironmentSetupError

NOT_FOUND = 127
TAIL_BYTES = 2000
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True)
class Tool:
    """What is run, to what purpose, and what to advise if it ends with another exit code.

    The host's environment is kept, because the user's registries, proxies and certificates
    are configured there; `env` goes over it.
    """

    purpose: str
    argv: Sequence[str | Path]
    remedy: str
    cwd: Path = Path("/")
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 900.0
    exit_code: int = 0


def run_tool(tool: Tool) -> str:
    """The tool's standard output, decoded.

    Raises:
        EnvironmentSetupError: it failed; the end of its output is in the error.
        InterruptedRunError: the run was cancelled.
    """
    with tempfile.TemporaryDirectory(prefix="nanobench-tool-") as directory:
        stdout, stderr = Path(directory, "stdout"), Path(directory, "stderr")
        result = Plain().run(
            Command(
                argv=tuple(str(part) for part in tool.argv),
                cwd=str(tool.cwd),
                env={**os.environ, **tool.env},
                timeout_seconds=tool.timeout_seconds,
                stdout=stdout,
                stderr=stderr,
                network="host",
            ),
            (),
        )
        if result.exit_code != tool.exit_code:
            ending = "timed out" if result.timed_out else f"exited with {result.exit_code}"
            if result.exit_code == NOT_FOUND:
                ending = "is not installed"
            raise EnvironmentSetupError(
                f"cannot {tool.purpose}: {Path(tool.argv[0]).name} {ending}",
                where=log_tail(stdout, stderr),
                remedy=tool.remedy,
            )
        return stdout.read_text(errors="replace")


def log_tail(*logs: Path) -> str:
    """The last lines of the logs together, without credentials that stand in URLs."""
    text = ""
    for log in logs:
        if log.is_file():
            with log.open("rb") as stream:
                stream.seek(max(0, log.stat().st_size - TAIL_BYTES))
                text += stream.read().decode(errors="replace")
    return hide_credentials(text).strip()[-TAIL_BYTES:]


def hide_credentials(text: str) -> str:
    """The text without the user names and passwords of its URLs."""
    return _CREDENTIALS.sub("", text)
