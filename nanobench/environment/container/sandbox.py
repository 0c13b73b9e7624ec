"""A container per command: what it starts dies with it, and nothing of it is left."""

import os
import re
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from threading import Thread
from typing import Any, ClassVar, Literal

from nanobench.environment.bubblewrap import HOSTNAME, SIGNAL_CODES, TMP_BYTES
from nanobench.environment.cancel import cancelled
from nanobench.environment.container.engine import Engine, talking
from nanobench.environment.container.ledger import Ledger
from nanobench.environment.disk import WATCH_SECONDS, DiskWatch
from nanobench.environment.limits import DISK_BYTES
from nanobench.environment.sandbox import (
    Command,
    CommandResult,
    Mount,
    SandboxName,
    writable_places,
)
from nanobench.errors import EnvironmentSetupError
from nanobench.files import state_error
from nanobench.model.resources import ResourceLimits

STAGE = "/run/nb.command"
# The shell stays the first process: it cannot be killed from inside, and its end ends all.
# The command writes to regular files, and finds its variables in a file: neither the engine nor
# an image that is made of the container ever holds them.
FIRST = (
    f'set -a; . {STAGE}/env; set +a; cd -- "$1" || exit 126; shift; '
    f'"$@" </dev/null >{STAGE}/stdout 2>{STAGE}/stderr; exit $?'
)
TMPFS = f"rw,exec,nosuid,nodev,mode=1777,size={TMP_BYTES}"
START_REMEDY = (
    "check that the image has /bin/sh, and that the engine may see the state directory and the "
    "directory of NanoBench (on Docker Desktop: Settings, Resources, File sharing)"
)
AWAY_REMEDY = "see what the engine tells (`docker info`), then repeat the command"
WAIT_SECONDS = 30.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Containers:
    """What is known of the containers of a task before there is one.

    `resources` are null if the engine was not reached.
    """

    resources: ResourceLimits | None

    name: ClassVar[SandboxName] = "docker"
    fixed_paths: ClassVar[bool] = True
    isolates_network: ClassVar[bool] = True


@dataclass(frozen=True)
class ContainerSandbox:
    """Runs each command in a container of its own, of one image.

    No capabilities, no new privileges, the engine's system call filter, a read-only root with
    private `/tmp` and `/run`, and of the machine only the mounts.

    Args:
        engine: where containers run.
        image: their image, by id.
        ledger: marks every container as this process's, for the sweep.
        user: whom the commands run as, `UID:GID`.
        owner: to whom the files of writable mounts are given first; null if they are theirs.
        outside: the engine's network for commands that may reach one.
    """

    engine: Engine
    image: str
    ledger: Ledger
    user: str
    owner: tuple[int, int] | None = None
    outside: Literal["host", "bridge"] = "host"

    name: ClassVar[SandboxName] = "docker"
    fixed_paths: ClassVar[bool] = True
    isolates_network: ClassVar[bool] = True

    @property
    def resources(self) -> ResourceLimits:
        """What each container may use; the engine's control groups hold it to that."""
        return self.engine.resources

    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        """Run in a new container; see `Sandbox.run`.

        Raises:
            EnvironmentSetupError: the container cannot be started, or the engine went away.
        """
        cancelled.check()
        with self.ledger.directory() as stage:
            _write_stage(command, stage)
            staged = (*mounts, *_stage(command, stage))
            for mount in staged:
                if self.owner is not None and mount.writable:
                    _give(mount.source, self.owner)
            with talking(f"create a container of the image {self.image}", START_REMEDY):
                created = self.engine.api.create_container(**self._options(command, staged))
            container = str(created["Id"])
            try:
                return self._finish(container, command, writable_places(mounts))
            finally:
                self._remove(container)

    def _finish(self, container: str, command: Command, places: tuple[Path, ...]) -> CommandResult:
        watch = DiskWatch(places, DISK_BYTES)
        started = time.monotonic()
        with talking(f"start a container of the image {self.image}", START_REMEDY):
            self.engine.api.start(container)
        with cancelled.killing(lambda: self._kill_soon(container)):
            code = self._wait(container, command.timeout_seconds, watch)
        if watch.exceeded:
            with command.stderr.open("a") as stream:
                stream.write(f"nanobench: ended, because {watch.exceeded}\n")
        return CommandResult(
            exit_code=-SIGKILL if code is None else SIGNAL_CODES.get(code, code),
            timed_out=code is None and not watch.exceeded,
            duration_seconds=time.monotonic() - started,
            launched=True,
            disk_full=watch.others,
        )

    def _wait(self, container: str, seconds: float, watch: DiskWatch) -> int | None:
        """The exit code; null when the time limit or the watch had to end the container."""
        deadline = time.monotonic() + seconds
        with talking("wait for a container", AWAY_REMEDY):
            while (left := deadline - time.monotonic()) > 0 and not watch.look():
                code = self._wait_a_little(container, min(left, WATCH_SECONDS))
                if code is not None:
                    return code
            self._kill(container)
            self.engine.api.wait(container, timeout=WAIT_SECONDS)
        return None

    def _wait_a_little(self, container: str, seconds: float) -> int | None:
        from requests.exceptions import ConnectionError as Lost
        from requests.exceptions import ReadTimeout

        try:
            return int(self.engine.api.wait(container, timeout=seconds)["StatusCode"])
        except ReadTimeout:
            return None
        except Lost as error:  # a time-out while the body is read comes as this
            if "timed out" in str(error).lower():
                return None
            raise

    def _kill_soon(self, container: str) -> None:
        """From a signal handler or another thread: the engine is not waited for."""
        Thread(target=self._kill, args=(container,), daemon=True).start()

    def _kill(self, container: str) -> None:
        with suppress(EnvironmentSetupError), talking("kill a container"):
            self.engine.api.kill(container)

    def _remove(self, container: str) -> None:
        """What cannot be removed now is swept later."""
        with suppress(EnvironmentSetupError), talking("remove a container"):
            self.engine.api.remove_container(container, v=True, force=True)

    def _options(self, command: Command, mounts: Sequence[Mount]) -> dict[str, Any]:
        apart = command.network == "none"
        tmpfs = {mount.target: TMPFS for mount in mounts if mount.kind == "tmpfs"}
        host = self.engine.api.create_host_config(
            mounts=[_bind(mount) for mount in mounts if mount.kind == "bind"],
            tmpfs={"/tmp": TMPFS, "/run": TMPFS, "/var/tmp": TMPFS, **tmpfs},  # noqa: S108 - the container's own
            network_mode="none" if apart else self.outside,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges", "label=disable"],
            read_only=True,
            **self.engine.limit_options(),
            ulimits=_rlimits(),
            shm_size="1g",
            log_config={"type": "none"},
        )
        return {
            "image": self.image,
            "entrypoint": ["/bin/sh", "-c", FIRST, "nanobench"],
            "command": [command.cwd, *command.argv],
            "user": self.user,
            "working_dir": "/",
            "labels": dict(self.ledger.labels),
            "host_config": host,
            **({"hostname": HOSTNAME} if apart else {}),
        }


def _rlimits() -> list[dict[str, Any]]:
    """Those that commands on the machine itself have too."""
    from docker.types import Ulimit

    limits = {"core": 0, "fsize": DISK_BYTES}
    return [Ulimit(name=name, soft=limit, hard=limit) for name, limit in limits.items()]


def _bind(mount: Mount) -> dict[str, Any]:
    from docker.types import Mount as Bind

    bound: dict[str, Any] = Bind(
        mount.target, str(mount.source), type="bind", read_only=not mount.writable
    )
    return bound


def _write_stage(command: Command, stage: Path) -> None:
    """New files, whatever an earlier command put there, and the command's variables."""
    for path in (command.stdout, command.stderr):
        try:
            path.unlink(missing_ok=True)
            path.open("xb").close()
        except OSError as error:
            raise state_error(error, path) from None
    env = {"USER": HOSTNAME, "LOGNAME": HOSTNAME, **command.env}
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in env.items() if _fits(name)]
    try:
        stage.chmod(0o755)
        (stage / "env").write_text("".join(lines))
    except OSError as error:
        raise state_error(error, stage) from None


def _fits(name: str) -> bool:
    if _NAME.fullmatch(name):
        return True
    raise EnvironmentSetupError(
        f"a variable of the task has no name that a shell can hold: {name!r}",
        remedy="rename it in the task's `environment.env`",
    )


def _stage(command: Command, stage: Path) -> tuple[Mount, ...]:
    return (
        Mount(stage / "env", f"{STAGE}/env"),
        Mount(command.stdout, f"{STAGE}/stdout", writable=True),
        Mount(command.stderr, f"{STAGE}/stderr", writable=True),
    )


def _give(place: Path, owner: tuple[int, int]) -> None:
    """Make a file, or all in a directory, the owner's; links are not followed."""
    try:
        os.lchown(place, *owner)
        if place.is_dir() and not place.is_symlink():
            for directory, names, files in os.walk(place):
                for name in (*names, *files):
                    os.lchown(Path(directory, name), *owner)
    except OSError as error:
        raise state_error(error, place) from None
