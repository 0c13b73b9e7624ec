"""The state directory, and writes that are whole or absent."""

import errno
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nanobench.errors import StateError

_REMEDIES = {
    errno.ENOSPC: "free some space or choose another directory",
    errno.EDQUOT: "raise the quota or choose another directory",
    errno.EROFS: "choose a directory on a writable file system",
    errno.EACCES: "choose a directory that you may write to",
    errno.EPERM: "choose a directory that you may write to",
    errno.ENOENT: "do not clean or move the directory while a run uses it; run the command again",
    errno.ENOTDIR: "a file stands where a directory is needed; choose another path",
    errno.EEXIST: "a file stands where a directory is needed; choose another path",
}


def state_error(error: OSError, path: Path) -> StateError:
    """Turn a failed write into the error a user can act on."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return StateError(
        f"cannot write: {reason}",
        where=str(path),
        remedy=_REMEDIES.get(error.errno or 0, "choose another directory"),
    )


def make_directory(path: Path) -> Path:
    """Create `path` and its parents.

    Raises:
        StateError: it cannot be created or is a file.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise state_error(error, path) from None
    return path


def write_atomic(path: Path, content: bytes | str) -> None:
    """Write a file that is either whole or absent, also after a crash.

    Raises:
        StateError: the disk is full, read-only, or the directory is gone.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise state_error(error, path) from None


@dataclass(frozen=True)
class StateDirectory:
    """Where caches and live runs lie (`--state-dir`, `NANOBENCH_STATE_DIR`)."""

    root: Path

    @classmethod
    def locate(cls, chosen: str | os.PathLike[str] | None = None) -> "StateDirectory":
        """The chosen directory, the environment's, or `nanobench` in the user's cache.

        Raises:
            StateError: it cannot be created.
        """
        named = chosen or os.environ.get("NANOBENCH_STATE_DIR")
        if named:
            root = Path(named).expanduser()
        else:
            base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
            root = Path(base).expanduser() / "nanobench"
        return cls(make_directory(root).resolve())

    def part(self, name: str) -> Path:
        """A directory inside, created.

        Raises:
            StateError: it cannot be created.
        """
        return make_directory(self.root / name)

    @property
    def repositories(self) -> Path:
        """Bare repositories, one per URL."""
        return self.part("repositories")

    @property
    def snapshots(self) -> Path:
        """Unpackable workspaces, one per base commit."""
        return self.part("snapshots")

    @property
    def tools(self) -> Path:
        """Node, Nanocoder, package managers and their download caches."""
        return self.part("tools")

    @property
    def environments(self) -> Path:
        """Installed dependencies, one directory per environment key."""
        return self.part("environments")

    @property
    def runs(self) -> Path:
        """Directories of runs in progress; empty when nothing runs."""
        return self.part("runs")
