"""A place to run commands in: a workspace, a run directory, dependencies, and an environment."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from nanobench.environment.leftovers import real_directory
from nanobench.environment.sandbox import (
    Command,
    CommandResult,
    Mount,
    Network,
    Sandbox,
    SandboxName,
)
from nanobench.files import make_directory, write_atomic

FIXED_WORKSPACE = "/ws"
FIXED_RUN = "/run/nb"
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
# The shell enters the directory, so that a missing one, or a missing program, is the command's
# own failure (126, 127) and not the sandbox's.
ENTER = 'cd -- "$1" || exit 126; shift; exec "$@"'
HOME_PARTS = {
    "HOME": "home",
    "TMPDIR": "tmp",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
}
# An agent may commit, whoever owns the workspace.
GIT_CONFIG = """[user]
\tname = agent
\temail = agent@nanobench.invalid
[safe]
\tdirectory = *
"""
_NO_ENV: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Place:
    """Where on the host a room lies, and what is mounted into it beside workspace and run.

    Args:
        workspace: the tree; commands may write it.
        run_dir: home, temporary files and results; commands may write it.
        env: goes over the room's own variables.
        path: directories for PATH, before the system's.
        mounts: targets inside the workspace are given relative to it.
        residue: paths in the workspace, relative, that count as part of the base.
    """

    workspace: Path
    run_dir: Path
    env: Mapping[str, str] = field(default_factory=dict)
    path: tuple[Path, ...] = ()
    mounts: tuple[Mount, ...] = ()
    residue: frozenset[bytes] = frozenset()


class Room:
    """Runs commands for one workspace; as a context manager it leaves no mount point behind.

    Attributes:
        workspace: the workspace's path as commands see it.
        run_path: the run directory's path as commands see it.
        base_env: the whole environment of a command; nothing comes from the host's.
        residue: paths in the workspace, relative, that the dependency install left there.
        sandbox_name: what commands run in.
    """

    def __init__(self, sandbox: Sandbox, place: Place) -> None:
        self._sandbox = sandbox
        self._place = place
        self.sandbox_name: SandboxName = sandbox.name
        self.residue = place.residue
        fixed = sandbox.fixed_paths
        self.workspace = FIXED_WORKSPACE if fixed else str(place.workspace)
        self.run_path = FIXED_RUN if fixed else str(place.run_dir)
        for part in HOME_PARTS.values():
            make_directory(place.run_dir / part)
        write_atomic(place.run_dir / "gitconfig", GIT_CONFIG)
        self.base_env = {**self._own_env(), **place.env}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for mount in self._place.mounts:
            if not mount.target.startswith("/"):
                with suppress(OSError):  # not empty: the command put something beside it
                    (self._place.workspace / mount.target).rmdir()

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] = _NO_ENV,
        timeout_seconds: float,
        stdout: Path,
        stderr: Path,
        network: Network,
    ) -> CommandResult:
        """Run a command; nothing that it starts outlives it.

        Args:
            argv: a program on PATH, or a path as commands see it, and its arguments.
            cwd: relative to the workspace.
            env: goes over `base_env`.
            timeout_seconds: wall-clock, after which all is killed.
            stdout: a regular file that receives the standard output.
            stderr: a regular file that receives the standard error.
            network: what may be reached; a sandbox that cannot enforce `none` gives `host`.

        Raises:
            InterruptedRunError: the run was cancelled.
            StateError: an output file cannot be written.
        """
        command = Command(
            argv=("/bin/sh", "-c", ENTER, "nanobench", cwd, *argv),
            cwd=self.workspace,
            env={**self.base_env, **env},
            timeout_seconds=timeout_seconds,
            stdout=stdout,
            stderr=stderr,
            network=network,
        )
        return self._sandbox.run(command, self._mounts())

    def _mounts(self) -> list[Mount]:
        place = self._place
        mounts = [
            Mount(place.workspace, self.workspace, writable=True),
            Mount(place.run_dir, self.run_path, writable=True),
        ]
        if not self._sandbox.fixed_paths:
            return mounts
        for mount in place.mounts:
            if mount.target.startswith("/"):
                mounts.append(mount)
                continue
            # Before each command: an earlier one may have put a link in the way.
            if mount.kind == "bind":
                real_directory(place.workspace, Path(mount.target))
            mounts.append(replace(mount, target=f"{self.workspace}/{mount.target}"))
        return mounts

    def _own_env(self) -> dict[str, str]:
        path = (*(str(part) for part in self._place.path), *SYSTEM_PATH)
        return {
            **{name: f"{self.run_path}/{part}" for name, part in HOME_PARTS.items()},
            "PATH": ":".join(path),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": f"{self.run_path}/gitconfig",
        }
