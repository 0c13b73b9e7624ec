"""The Docker-compatible engine of this machine: reached, examined, and its errors made readable."""

import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nanobench.environment.cgroups import Limits
from nanobench.environment.limits import DISK_BYTES, confinement
from nanobench.environment.tool_run import hide_credentials
from nanobench.errors import EnvironmentSetupError
from nanobench.model.resources import LimitedBy, ResourceLimits

if TYPE_CHECKING:
    from docker import DockerClient

NEEDED_BYTES = 2 << 30
CONTACT_SECONDS = 120
START_REMEDY = (
    "install and start Docker or Podman, or name its socket in DOCKER_HOST; see `nanobench doctor`"
)
CONTROLLERS_REMEDY = (
    "let the engine use control groups (for a rootless one: cgroup v2 with delegated controllers)"
)
DISK_REMEDY = "free some space: `nanobench doctor --sweep`, then `docker system prune`"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}
_CONTROLLERS = {"pids": "PidsLimit", "memory": "MemoryLimit", "cpu": "CpuCfsQuota"}
_NO_SPACE = ("no space left", "disk quota exceeded")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Engine:
    """A reached engine.

    Args:
        client: its client; threads may share it.
        version: as it tells it.
        rootless: it runs without root's rights, so that a container's root is this user.
        architecture: as images name it, such as `amd64`.
        data: where it keeps images, as a path of its own machine.
        limits: of every container.
        controllers: the limits that it can enforce: `pids`, `memory`, `cpu`.
    """

    client: "DockerClient"
    version: str
    rootless: bool
    architecture: str
    data: str
    limits: Limits
    controllers: frozenset[str]

    @property
    def api(self) -> Any:
        """The engine's own calls, one method each."""
        return self.client.api

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()

    def held(self, controller: str) -> LimitedBy:
        """What enforces a limit."""
        return "cgroup" if controller in self.controllers else "none"

    @property
    def resources(self) -> ResourceLimits:
        """What each container may use; the engine's control groups hold it to that."""
        return ResourceLimits(
            processes=self.limits.processes,
            processes_by=self.held("pids"),
            memory_bytes=self.limits.memory_bytes,
            memory_by=self.held("memory"),
            cpus=self.limits.cpus,
            cpus_by=self.held("cpu"),
            disk_bytes=DISK_BYTES,
            disk_by="watch",
        )

    def limit_options(self) -> dict[str, int]:
        """The limits as the engine takes them; one that it cannot enforce would be an error."""
        options = {
            "pids": {"pids_limit": self.limits.processes},
            "memory": {
                "mem_limit": self.limits.memory_bytes,
                "memswap_limit": self.limits.memory_bytes,
            },
            "cpu": {"nano_cpus": self.limits.cpus * 10**9},
        }
        asked = (options[name] for name in sorted(self.controllers))
        return {key: value for option in asked for key, value in option.items()}

    def check_space(self, bytes_needed: int = NEEDED_BYTES) -> None:
        """Refuse to begin what would fill the disk; an engine in a VM is not looked into.

        Raises:
            EnvironmentSetupError: too little is free where the engine keeps its images.
        """
        place = Path(self.data)
        if not self.data or not place.is_dir():
            return
        free = shutil.disk_usage(place).free
        if free < bytes_needed:
            raise EnvironmentSetupError(
                f"the container engine has {free / (1 << 30):.1f} GiB of space left, "
                f"{bytes_needed / (1 << 30):.0f} are needed",
                where=self.data,
                remedy=DISK_REMEDY,
            )


def connect(environ: Mapping[str, str] = os.environ) -> Engine:
    """Reach the engine that DOCKER_HOST, or else the current Docker context, names.

    Raises:
        EnvironmentSetupError: there is none, it is on another machine, or it cannot run Linux.
    """
    address = _address(environ)
    parts = urlsplit(address)
    if parts.scheme == "ssh" or (parts.hostname and parts.hostname not in _LOOPBACK):
        raise EnvironmentSetupError(
            "the container engine is on another machine, where this one's files are not",
            where=hide_credentials(address),
            remedy="use an engine on this machine: unset DOCKER_HOST, or name a local socket in it",
        )
    if parts.scheme == "unix":
        _check_socket(parts.path)
    with talking("reach the container engine", START_REMEDY, address):
        import docker

        if environ.get("DOCKER_HOST"):
            client = docker.from_env(timeout=CONTACT_SECONDS, environment=dict(environ))
        else:
            client = docker.DockerClient(base_url=address, timeout=CONTACT_SECONDS)
        info = client.info()
        version = str(info.get("ServerVersion", ""))
    if info.get("OSType", "linux") != "linux":
        raise EnvironmentSetupError(
            f"the container engine runs {info['OSType']} containers",
            remedy="switch it to Linux containers",
        )
    machine = str(info.get("Architecture", ""))
    return Engine(
        client=client,
        version=version,
        rootless=any("rootless" in option for option in info.get("SecurityOptions") or ()),
        architecture=ARCHITECTURES.get(machine, machine),
        data=str(info.get("DockerRootDir", "")),
        limits=_limits(info),
        controllers=frozenset(name for name, key in _CONTROLLERS.items() if info.get(key)),
    )


def _check_socket(path: str) -> None:
    """Tell a socket that is absent, dead or forbidden, each with what to do about it."""
    remedies: dict[type[OSError], str] = {
        PermissionError: "join the group that may use it (`sudo usermod -aG docker $USER`), or "
        "use a rootless engine",
    }
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(CONTACT_SECONDS)
            probe.connect(path)
    except OSError as error:
        raise EnvironmentSetupError(
            f"cannot reach the container engine: {error.strerror or error}",
            where=f"unix://{path}",
            remedy=remedies.get(type(error), START_REMEDY),
        ) from None


def _limits(info: Mapping[str, Any]) -> Limits:
    """Those of commands on this machine, as far as the engine's own machine has as much."""
    ours = confinement().limits
    return Limits(
        processes=ours.processes,
        memory_bytes=min(ours.memory_bytes, int(info.get("MemTotal") or 0) or ours.memory_bytes),
        cpus=min(ours.cpus, int(info.get("NCPU") or 0) or ours.cpus),
    )


@contextmanager
def talking(purpose: str, remedy: str = "", where: str = "") -> Iterator[None]:
    """Turn what goes wrong between us and the engine into the error a user can act on.

    Raises:
        EnvironmentSetupError: the engine refused, failed, or went away.
    """
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException) as error:
        said = hide_credentials(str(getattr(error, "explanation", None) or error))
        raise failure(f"cannot {purpose}", said, remedy or START_REMEDY, where) from error


def failure(what: str, said: str, remedy: str, where: str = "") -> EnvironmentSetupError:
    """An error of the engine; a full disk is told as what it is."""
    if any(words in said.lower() for words in _NO_SPACE):
        what, remedy = f"{what}: no space is left", DISK_REMEDY
    shown = ": ".join(filter(None, (hide_credentials(where), said.strip()[-1000:])))
    return EnvironmentSetupError(what, where=shown, remedy=remedy)


def _address(environ: Mapping[str, str]) -> str:
    named = environ.get("DOCKER_HOST")
    if named:
        return named
    from docker.context import ContextAPI

    try:
        context = ContextAPI.get_current_context()
    except Exception:
        context = None
    return (context.Host if context is not None else "") or "unix:///var/run/docker.sock"
