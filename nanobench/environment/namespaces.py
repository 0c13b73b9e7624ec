"""util-linux `unshare`: own processes and, by policy, no network; files are the host's."""

import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nanobench.environment.limits import confinement
from nanobench.environment.plain import SUPERVISOR
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


@dataclass(frozen=True)
class Namespaces:
    """Commands see the host's files, but no process outside and no privilege.

    Args:
        setpriv: path of util-linux's program.
        unshare: path of util-linux's program.
        options: what makes the namespaces possible for this user; a user namespace also keeps
            the harness's own processes unreadable, so it comes first, for root too.
    """

    setpriv: str
    unshare: str
    options: tuple[str, ...]
    name: ClassVar[SandboxName] = "namespaces"
    fixed_paths: ClassVar[bool] = False
    isolates_network: ClassVar[bool] = True

    @classmethod
    def candidates(cls) -> Sequence[Sandbox]:
        """From the tightest to the one that only root can use."""
        setpriv, unshare = shutil.which("setpriv"), shutil.which("unshare")
        if setpriv is None or unshare is None:
            return ()
        variants: list[tuple[str, ...]] = [
            ("--user", "--map-current-user", "--keep-caps"),
            ("--user", "--map-root-user"),
        ]
        if os.geteuid() == 0:
            variants.append(())
        return [cls(setpriv, unshare, options) for options in variants]

    @property
    def resources(self) -> ResourceLimits:
        """The limits of every command on this machine."""
        return confinement().told()

    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        """Run as a child of a new PID namespace's init; `mounts` have no effect here."""
        unshare = [
            self.setpriv, "--pdeathsig", "KILL",
            self.unshare, *self.options, "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc",
        ]  # fmt: skip
        supervisor = [*SUPERVISOR, "--held"]
        if command.network == "none":
            unshare.append("--net")
            supervisor.append("--loopback")
        confined = [
            self.setpriv, "--no-new-privs",
            "--ambient-caps=-all", "--inh-caps=-all", "--bounding-set=-all",
        ]  # fmt: skip
        wrapper = Wrapper(
            argv=lambda status: (*unshare, *supervisor, str(status), *confined, *command.argv),
            env=command.env,
            stop=_kill_init,
            cwd=command.cwd,
            places=writable_places(mounts),
            held=True,
        )
        return run_wrapped(command, wrapper)


def _kill_init(running: Running) -> None:
    """Kill the namespace's init; `unshare` reaps it when all below it are dead, then ends."""
    pid = running.process.pid
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        if children:
            return
    running.kill()
