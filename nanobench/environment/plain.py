"""No isolation, but containment: a supervisor lets no process outlive its command."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nanobench.environment.limits import confinement
from nanobench.environment.process import Running, Wrapper, run_wrapped
from nanobench.environment.sandbox import (
    Command,
    CommandResult,
    Mount,
    Sandbox,
    SandboxName,
    writable_places,
)
from nanobench.model.resources import ResourceLimits

# -I and -S: nothing of the command's environment or of site-packages reaches the supervisor.
SUPERVISOR = (sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py")))


@dataclass(frozen=True)
class Plain:
    """Commands see the whole host and its network, with the command's environment only."""

    name: ClassVar[SandboxName] = "none"
    fixed_paths: ClassVar[bool] = False
    isolates_network: ClassVar[bool] = False

    @classmethod
    def candidates(cls) -> Sequence[Sandbox]:
        """One, wherever POSIX processes exist."""
        return [cls()] if os.name == "posix" else []

    @property
    def resources(self) -> ResourceLimits:
        """The limits of every command on this machine."""
        return confinement().told()

    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        """Run below a supervisor; `mounts` and the network policy have no effect here."""
        parent = str(os.getpid())
        wrapper = Wrapper(
            argv=lambda status: (*SUPERVISOR, "--parent", parent, str(status), *command.argv),
            env=command.env,
            stop=_terminate,
            cwd=command.cwd,
            places=writable_places(mounts),
        )
        return run_wrapped(command, wrapper)


def _terminate(running: Running) -> None:
    running.process.terminate()
