"""What a sandbox is, and which of them works on this machine."""

import functools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from nanobench.errors import EnvironmentSetupError
from nanobench.model.resources import ResourceLimits

SandboxName = Literal["bubblewrap", "namespaces", "none", "docker"]
Network = Literal["host", "none"]
PROBE_SECONDS = 20.0


@dataclass(frozen=True)
class Mount:
    """Something of the host that a command sees at `target`; read-only unless `writable`.

    A `tmpfs` mount is empty and writable, and its `source` is not looked at. Sandboxes without
    fixed paths ignore mounts: their commands see the host.
    """

    source: Path
    target: str
    writable: bool = False
    kind: Literal["bind", "tmpfs"] = "bind"


def writable_places(mounts: Sequence[Mount]) -> tuple[Path, ...]:
    """The directories of the host that a command with these mounts may write to."""
    return tuple(one.source for one in mounts if one.writable and one.kind == "bind")


@dataclass(frozen=True)
class Command:
    """A command with the whole environment that it gets; outputs go to regular files.

    Paths in `argv`, `cwd` and `env` are those that the command itself sees.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    timeout_seconds: float
    stdout: Path
    stderr: Path
    network: Network = "none"


@dataclass(frozen=True)
class CommandResult:
    """How a command ended.

    Args:
        exit_code: negative if a signal killed the command, null if it was never known.
        timed_out: the time limit ended it, with all that it had started.
        launched: false when the sandbox itself failed, so that the command never ran.
        disk_full: it was ended because the disk is full, and not by what it had written.
    """

    exit_code: int | None
    timed_out: bool
    duration_seconds: float
    launched: bool
    disk_full: bool = False


class Kind(Protocol):
    """What can be said of a sandbox, also of one in which nothing was run."""

    @property
    def name(self) -> SandboxName:
        """As the record names it."""
        ...

    @property
    def fixed_paths(self) -> bool:
        """Whether commands see the mounts at their targets, and nothing else of the host."""
        ...

    @property
    def isolates_network(self) -> bool:
        """Whether the network policy `none` is enforced."""
        ...

    @property
    def resources(self) -> ResourceLimits | None:
        """What each command may use, and what holds it to that; null if that is not known."""
        ...


class Sandbox(Kind, Protocol):
    """Runs commands; whatever a command starts is dead when `run` returns."""

    @property
    def resources(self) -> ResourceLimits:
        """What each command may use, and what holds it to that."""
        ...

    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        """Run a command to its end or to its time limit.

        Raises:
            InterruptedRunError: the run was cancelled.
            StateError: an output file cannot be written.
        """
        ...


@dataclass(frozen=True)
class Probe:
    """What trying a sandbox on this machine showed; `problem` is empty when it works."""

    name: SandboxName
    sandbox: Sandbox | None
    problem: str = ""


@functools.cache
def probe_sandboxes() -> tuple[Probe, ...]:
    """Try every sandbox with the flags that it uses, best first; once per process."""
    from nanobench.environment.bubblewrap import Bubblewrap
    from nanobench.environment.namespaces import Namespaces
    from nanobench.environment.plain import Plain

    probes = []
    for kind in (Bubblewrap, Namespaces, Plain):
        sandbox, problem = first_working(kind.candidates())
        probes.append(Probe(kind.name, sandbox, problem))
    return tuple(probes)


def best_sandbox() -> Sandbox:
    """The strongest sandbox that works here.

    Raises:
        EnvironmentSetupError: not even plain processes can be run.
    """
    for probe in probe_sandboxes():
        if probe.sandbox is not None:
            return probe.sandbox
    raise EnvironmentSetupError(
        "no command can be run on this machine",
        where="; ".join(f"{probe.name}: {probe.problem}" for probe in probe_sandboxes()),
        remedy="run `nanobench doctor`; native runs need Linux, macOS or WSL2",
    )


def first_working(candidates: Sequence[Sandbox]) -> tuple[Sandbox | None, str]:
    """The first candidate that runs a shell without network, or the last one's complaint."""
    problem = "not installed"
    for candidate in candidates:
        problem = _try(candidate)
        if not problem:
            return candidate, ""
    return None, problem


def _try(sandbox: Sandbox) -> str:
    with tempfile.TemporaryDirectory(prefix="nanobench-probe-") as directory:
        place = Path(directory)
        command = Command(
            argv=("/bin/sh", "-c", "exit 7"),
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            timeout_seconds=PROBE_SECONDS,
            stdout=place / "stdout",
            stderr=place / "stderr",
        )
        try:
            result = sandbox.run(command, ())
        except OSError as error:
            return str(error)
        if result.launched and result.exit_code == 7:
            return ""
        said = (place / "stderr").read_bytes().decode(errors="replace").strip()
        return said[-300:] or f"the probe ended with {result.exit_code}"
