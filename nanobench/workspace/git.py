"""The one place that runs git: hardened by default, with the user's configuration to fetch.

Hardened means that nothing but the arguments decides: no system, user or inherited setting, no
hook, no file-system monitor, no global ignore or attributes file. git never runs on a
repository that an agent could write (docs: the agent's `.git` can carry commands).
"""

import errno
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nanobench.errors import RepositoryError, StateError
from nanobench.files import state_error

FETCH_TIMEOUT_SECONDS = 3600.0

_HARDENING = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    # Names that only other systems forbid (`git~1`) must not stop a diff here.
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_FETCH_SETTINGS = (
    "protocol.version=2",
    "gc.auto=0",
    "maintenance.auto=false",
    # A server that stalls is an error, not a hang.
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=120",
)
_CREDENTIALS = re.compile(r"://[^/@\s]+@")
_BLOB_BATCH = 512
_DISK_TROUBLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class GitError(RepositoryError):
    """git ended with an error; `what` holds its own words."""


def run_git(
    *args: str | bytes,
    git_dir: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    user_config: bool = False,
) -> bytes:
    """Run git and return its standard output.

    Args:
        args: the command and its arguments.
        git_dir: the repository; never one that an agent could write.
        stdin: what git reads.
        env: variables added to the hardened (or the user's) environment.
        user_config: obey the user's git configuration (credentials, `insteadOf`); for fetches.

    Raises:
        GitError: git is absent or ended with an error.
        StateError: the disk is full or cannot be written.
    """
    settings = _FETCH_SETTINGS if user_config else _HARDENING
    base = _user_environment() if user_config else hardened_environment()
    try:
        done = subprocess.run(
            git_argv(settings, git_dir, args),
            input=stdin,
            env={**base, **(env or {})},
            capture_output=True,
            check=False,
            timeout=FETCH_TIMEOUT_SECONDS if user_config else None,
            # Without a terminal, ssh cannot ask for a password or a host key; and Ctrl-C reaches
            # this process alone, which would otherwise take git's death for trouble.
            start_new_session=True,
        )
    except FileNotFoundError:
        raise GitError("git is not installed", remedy="install git 2.30 or newer") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {_name(args)} took over {FETCH_TIMEOUT_SECONDS:.0f} s") from None
    if done.returncode != 0:
        raise _failure(args, git_dir, done)
    return done.stdout


def _failure(
    args: Sequence[str | bytes], git_dir: Path | None, done: "subprocess.CompletedProcess[bytes]"
) -> GitError | StateError:
    words = git_words(done.stderr) or f"exit code {done.returncode}"
    for code in _DISK_TROUBLE:
        if os.strerror(code) in words:
            return state_error(OSError(code, words), git_dir or Path.cwd())
    return GitError(
        f"git {_name(args)} failed: {words}",
        where=str(git_dir or ""),
        remedy="check the free space; a damaged directory can be removed, it is built again",
    )


def git_argv(
    settings: Sequence[str], git_dir: Path | None, args: Sequence[str | bytes]
) -> list[str | bytes]:
    """The argument list of a git command with these settings on top."""
    argv: list[str | bytes] = ["git"]
    for setting in settings:
        argv += ["-c", setting]
    if git_dir is not None:
        # An explicit directory also keeps git from asking who owns it.
        argv.append(f"--git-dir={git_dir}")
    return [*argv, *args]


def hardened_argv(git_dir: Path, args: Sequence[str | bytes]) -> list[str | bytes]:
    """The argument list for a hardened git that someone else starts."""
    return git_argv(_HARDENING, git_dir, args)


def hardened_environment() -> dict[str, str]:
    """An environment in which no setting of the machine or the user reaches git."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }


# Variables that would point git at another repository than the one named.
_LOCAL_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_QUARANTINE_PATH",
)


def _user_environment() -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in _LOCAL_VARIABLES}
    return {
        **inherited,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS_REQUIRE": "never",
    }


def _name(args: Sequence[str | bytes]) -> str:
    words = (os.fsdecode(word) for word in args)
    return next((word for word in words if not word.startswith("-")), "")


def without_credentials(text: str) -> str:
    """The text without the user part of its URLs."""
    return _CREDENTIALS.sub("://", text)


def git_words(stderr: bytes) -> str:
    """What git itself gives as its reason: its error lines, else its last line."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("fatal:", "error:", "remote: "))]
    return without_credentials("; ".join(errors[-3:] or lines[-1:]))[:500]


def read_blobs(
    git_dir: Path, shas: Sequence[str], env: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """The contents of blobs, in the order asked.

    Raises:
        GitError: an object is missing or broken.
    """
    for start in range(0, len(shas), _BLOB_BATCH):
        batch = shas[start : start + _BLOB_BATCH]
        wanted = "".join(f"{sha}\n" for sha in batch).encode()
        output = run_git("cat-file", "--batch", git_dir=git_dir, stdin=wanted, env=env)
        offset = 0
        for sha in batch:
            end = output.index(b"\n", offset)
            header = output[offset:end].split()
            if len(header) != 3:
                raise GitError(f"object {sha} is missing", where=str(git_dir))
            offset = end + 1 + int(header[2]) + 1
            yield output[end + 1 : offset - 1]
