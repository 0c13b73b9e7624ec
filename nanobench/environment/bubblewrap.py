"""bubblewrap: fixed paths, a read-only system, its own processes, network by policy."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
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

TMP_BYTES = 4 << 30
RUN_BYTES = 16 << 20
SHARED_BYTES = 1 << 30
HOSTNAME = "nanobench"
# Of /etc only what programs need to run, name and trust; never keys, users' files or secrets.
ETC = (
    "alternatives", "ca-certificates/extracted", "crypto-policies", "fonts", "java",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "mime.types", "pki/ca-trust/extracted",
    "pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf", "protocols", "services",
    "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
SYSTEM_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
READ_ONLY_ROOT = ("--remount-ro", "/")  # the last option: nothing can be placed after it
NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\n"
HOSTS = f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost {HOSTNAME}\n"
# Waits as a held command does, but first until process 1 sleeps: then it has asked for its death
# signal. A shell's own variables are not the command's.
HOLD = (
    'while read -r _ _ hold _ </proc/1/stat && [ "$hold" != S ]; do :; done; '
    'printf . >&0 && read -r hold && unset OLDPWD PWD SHLVL hold && exec "$@" </dev/null'
)
# bubblewrap reports 128 + N for a command killed by signal N; these are the signals that kill.
SIGNAL_CODES = {128 + number: -number for number in (2, 4, 6, 7, 8, 9, 11, 13, 15, 24, 25, 31)}


@dataclass(frozen=True)
class Bubblewrap:
    """Commands see `/usr`, a little of `/etc`, private `/tmp` and `/run`, and the mounts.

    All capabilities are dropped, the environment is exactly the command's, and the wrapper
    itself starts with an empty one, because its environment can be read from inside.
    """

    executable: str
    name: ClassVar[SandboxName] = "bubblewrap"
    fixed_paths: ClassVar[bool] = True
    isolates_network: ClassVar[bool] = True

    @classmethod
    def candidates(cls) -> Sequence[Sandbox]:
        """One if the program is installed."""
        found = shutil.which("bwrap")
        return [cls(found)] if found else []

    @property
    def resources(self) -> ResourceLimits:
        """The limits of every command on this machine."""
        return confinement().told()

    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        """Run in new namespaces; see `Sandbox.run`."""
        options = [*_system(command.network), *_mounts(mounts)]
        options += ["--chdir", command.cwd]
        for name, value in command.env.items():
            options += ["--setenv", name, value]
        with ExitStack() as stack:
            descriptors, etc_options = stack.enter_context(_etc_files(command))
            # Through a descriptor, so that /proc/1/cmdline names no path of the host.
            arguments = stack.enter_context(
                _memory_file(_joined([*options, *etc_options, *READ_ONLY_ROOT]))
            )
            wrapper = Wrapper(
                argv=lambda status: (
                    self.executable,
                    "--args", str(arguments),
                    "--json-status-fd", str(status),
                    "--", "/bin/sh", "-c", HOLD, "sh", *command.argv,
                ),
                env={},
                stop=Running.kill_tree,
                descriptors=(*descriptors, arguments),
                places=writable_places(mounts),
                held=True,
            )  # fmt: skip
            result = run_wrapped(command, wrapper)
        if result.exit_code is None:
            return result
        return replace(result, exit_code=SIGNAL_CODES.get(result.exit_code, result.exit_code))


def _system(network: str) -> list[str]:
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--clearenv", "--hostname", HOSTNAME]
    if network == "host":
        options.append("--share-net")
    options += ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/nix/store", "/nix/store"]
    for name in SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    options += ["--proc", "/proc", "--dev", "/dev"]
    options += ["--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    options += ["--size", str(TMP_BYTES), "--tmpfs", "/tmp"]  # noqa: S108 - the sandbox's own
    options += ["--size", str(RUN_BYTES), "--tmpfs", "/run", "--symlink", "../tmp", "/var/tmp"]  # noqa: S108
    for name in ETC:
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return options


def _mounts(mounts: Sequence[Mount]) -> list[str]:
    options: list[str] = []
    for mount in mounts:
        if mount.kind == "tmpfs":
            options += ["--size", str(TMP_BYTES), "--tmpfs", mount.target]
        else:
            flag = "--bind" if mount.writable else "--ro-bind"
            options += [flag, str(mount.source), mount.target]
    return options


@contextmanager
def _etc_files(command: Command) -> Iterator[tuple[list[int], list[str]]]:
    """Descriptors of generated files in /etc, and the options that place them."""
    user, home = os.geteuid(), command.env.get("HOME", "/")
    passwd = f"root:x:0:0::{home}:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
    group = "root:x:0:\nnogroup:x:65534:\n"
    if user not in (0, 65534):
        passwd += f"nanobench:x:{user}:{os.getegid()}::{home}:/bin/sh\n"
        group += f"nanobench:x:{os.getegid()}:\n"
    files = {"hosts": HOSTS, "nsswitch.conf": NSSWITCH, "passwd": passwd, "group": group}
    resolver = Path("/etc/resolv.conf")
    if command.network == "host" and resolver.is_file():
        files["resolv.conf"] = resolver.read_text(errors="replace")
    descriptors: list[int] = []
    options: list[str] = []
    with ExitStack() as stack:
        for name, text in files.items():
            descriptor = stack.enter_context(_memory_file(text.encode()))
            descriptors.append(descriptor)
            options += ["--perms", "0644", "--ro-bind-data", str(descriptor), f"/etc/{name}"]
        yield descriptors, options


@contextmanager
def _memory_file(content: bytes) -> Iterator[int]:
    descriptor = os.memfd_create("nanobench")
    try:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _joined(options: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(option) + b"\0" for option in options)
