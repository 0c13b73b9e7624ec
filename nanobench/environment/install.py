"""Run a task's install commands in a room, with what package managers need and no more."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC
from hashlib import sha256
from pathlib import Path

from nanobench.environment import compilers
from nanobench.environment.room import FIXED_RUN, Place, Room
from nanobench.environment.runtimes import Runtimes
from nanobench.environment.sandbox import CommandResult, Mount, Sandbox
from nanobench.environment.tool_run import NOT_FOUND, log_tail
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import EnvironmentSetupError
from nanobench.files import make_directory
from nanobench.model.task import Task

FIXED_CACHE = "/run/nb-cache"
FIXED_DEPENDENCIES = "/run/nb-deps"
DEPENDENCIES = "deps"  # beside the run directory of an install at fixed paths, else inside it
SYSTEM_CERTIFICATES = "/etc/ssl/certs"
_REMEDY = "check the task's environment and the connection to the package registries"
_ABSENT = "name what the command starts in environment.runtimes, or let an install command bring it"
# npm's words when a registry says that all fitting versions are newer than allowed. Mirrors
# often date a version by when they first saw it.
TOO_NEW = ("with a date before", "ENOVERSIONS")
# Where certificates and registries come from is the machine's affair: passed to installs only.
CERTIFICATE_VARIABLES = (
    "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR", "SSL_CERT_FILE",
)  # fmt: skip
NETWORK_VARIABLES = (
    "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
    "UV_DEFAULT_INDEX", "UV_INDEX_URL", "npm_config_registry",
)  # fmt: skip


@dataclass(frozen=True)
class Installer:
    """Opens the rooms of one task, and installs its dependencies in them.

    `own_system`: commands see another system than this machine's, which does not trust the
    certificates that this one does.
    """

    sandbox: Sandbox
    toolchain: Toolchain
    runtimes: Runtimes
    task: Task
    own_system: bool = False

    def room(self, place: Place) -> Room:
        """A room in which installed dependencies are used; tools do not install by themselves."""
        deps, run = self._paths(place.run_dir)
        shared = (one.source for one in place.mounts if one.target == FIXED_DEPENDENCIES)
        kept = next(shared, place.run_dir / DEPENDENCIES)
        compiled = compilers.has_compiled(kept)
        if "java" in self.runtimes.compilers:
            compilers.lay_gradle(kept, deps, place.run_dir)
        downloaded = compilers.using_env(self.runtimes.compilers, deps, run, compiled)
        return self._open(place, {**self._env(), "UV_NO_SYNC": "1", **downloaded})

    def run(self, workspace: Path, run_dir: Path) -> tuple[str, ...]:
        """Run every install command in the workspace.

        Returns:
            The commands for which npm's registry had no version old enough, so that they ran
            without the task's date.

        Raises:
            EnvironmentSetupError: a command failed, or could not be started.
            StateError: a directory cannot be written.
        """
        if not self.task.environment.install:
            return ()
        cache = make_directory(self.toolchain.caches / self._repository())
        seen = FIXED_CACHE if self.sandbox.fixed_paths else str(cache)
        mounts = (Mount(cache, FIXED_CACHE, writable=True), *_certificates(self.own_system))
        deps, run = self._paths(run_dir)
        if self.runtimes.compilers:
            apart = run_dir.parent if self.sandbox.fixed_paths else run_dir
            kept = make_directory(apart / DEPENDENCIES)
            mounts = (*mounts, Mount(kept, FIXED_DEPENDENCIES, writable=True))
        downloading = compilers.install_env(self.runtimes.compilers, deps, run)
        place = Place(workspace, run_dir, mounts=mounts)
        with (
            self._open(place, {**self._env(), **self._install_env(seen), **downloading}) as room,
            # Out of the commands' reach: they could put links in place of the next one's log.
            tempfile.TemporaryDirectory(prefix=".install-", dir=run_dir.parent) as logs,
        ):
            lines = self.task.environment.install
            return tuple(
                line for line in lines if not self._run_line(room, line, Path(logs, "log"))
            )

    def _run_line(self, room: Room, line: str, log: Path) -> bool:
        """Run a command, without the date if npm cannot keep it; whether the date was kept."""
        result = self._try_line(room, line, log, {})
        dated = result.exit_code == 0 or not any(word in self._said(log) for word in TOO_NEW)
        if not dated:
            result = self._try_line(room, line, log, {"npm_config_before": ""})
        if result.exit_code == 0:
            return dated
        ending = f"exited with {result.exit_code}"
        if result.timed_out:
            ending = f"did not end within {self.task.environment.install_timeout_seconds} s"
        elif not result.launched:
            ending = "could not be started"
        raise EnvironmentSetupError(
            f"an install command of task {self.task.task_id} {ending}: {line}",
            where=self._said(log),
            remedy=_ABSENT if result.exit_code == NOT_FOUND else _REMEDY,
        )

    def _try_line(self, room: Room, line: str, log: Path, env: dict[str, str]) -> CommandResult:
        environment = self.task.environment
        return room.run(
            ("/bin/sh", "-c", line),
            env=env,
            timeout_seconds=environment.install_timeout_seconds,
            stdout=log.with_suffix(".stdout"),
            stderr=log.with_suffix(".stderr"),
            network="none" if environment.network.install == "none" else "host",
        )

    @staticmethod
    def _said(log: Path) -> str:
        return log_tail(log.with_suffix(".stdout"), log.with_suffix(".stderr"))

    def _open(self, place: Place, env: dict[str, str]) -> Room:
        roots = (*self.toolchain.read_only_roots(), *self.runtimes.roots)
        system = tuple(Mount(root, str(root)) for root in roots)
        return Room(
            self.sandbox,
            replace(
                place,
                env={**env, **self.task.environment.env},
                path=self.runtimes.path,
                mounts=(*system, *place.mounts),
            ),
        )

    def _paths(self, run_dir: Path) -> tuple[str, str]:
        """Downloaded dependencies and run directory, as commands see them."""
        if self.sandbox.fixed_paths:
            return FIXED_DEPENDENCIES, FIXED_RUN
        return str(run_dir / DEPENDENCIES), str(run_dir)

    def _env(self) -> dict[str, str]:
        python = self.runtimes.python
        return {
            **self.runtimes.env,
            **({"UV_PYTHON": str(python)} if python else {}),
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
            "npm_config_update_notifier": "false",
            # pnpm would install before it runs a script, and fetch another pnpm before that.
            "pnpm_config_verify_deps_before_run": "false",
            "pnpm_config_manage_package_manager_versions": "false",
            "COREPACK_ENABLE_AUTO_PIN": "0",
        }

    def _install_env(self, cache: str) -> dict[str, str]:
        before = self.task.dependencies_before().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        passed = (*CERTIFICATE_VARIABLES, *NETWORK_VARIABLES)
        return {
            **{name: os.environ[name] for name in passed if name in os.environ},
            "CI": "1",
            "UV_EXCLUDE_NEWER": before,
            "UV_CACHE_DIR": f"{cache}/uv",
            "UV_LINK_MODE": "copy",  # an environment must not share files with a cache
            "UV_VENV_CLEAR": "1",  # a command may run a second time
            "UV_COMPILE_BYTECODE": "1",  # it is read-only afterwards
            "npm_config_before": before,
            "npm_config_cache": f"{cache}/npm",
            "pnpm_config_store_dir": f"{cache}/pnpm",
            "YARN_CACHE_FOLDER": f"{cache}/yarn",
            "YARN_ENABLE_TELEMETRY": "0",
        }

    def _repository(self) -> str:
        """A download cache per repository: what one's code does to it reaches no other."""
        return sha256(self.task.repo_url.encode()).hexdigest()[:16]


def _certificates(own_system: bool) -> Iterator[Mount]:
    """What the certificate variables name, at its own paths, unless the sandbox shows it anyway."""
    named = {os.environ.get(name, "") for name in CERTIFICATE_VARIABLES}
    given: list[Path] = []
    for path in sorted(Path(name) for name in named if name):
        shown = not own_system and path.is_relative_to(SYSTEM_CERTIFICATES)
        inside = any(path.is_relative_to(directory) for directory in given)
        if path.is_absolute() and path.exists() and not shown and not inside:
            given.append(path)
            yield Mount(path, str(path))
