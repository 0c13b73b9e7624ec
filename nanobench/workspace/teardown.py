"""Remove what a run left, whatever it did to its files."""

import errno
import os
import shutil
import stat
import subprocess
from pathlib import Path

from nanobench.errors import StateError


def remove_tree(path: Path) -> None:
    """Remove a file or a whole directory; symlinks are removed, never followed.

    Read-only files and directories go too, and names longer than the system takes. A path
    that does not exist is fine.

    Raises:
        StateError: something cannot be removed.
    """
    root = os.fsencode(path)
    try:
        _remove(root)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and _remove_deep(path):
            return
        raise StateError(
            f"cannot remove: {error.strerror}",
            where=os.fsdecode(error.filename or root),
            remedy="end what still uses it, then remove it by hand",
        ) from None


def _remove(root: bytes) -> None:
    if not os.path.isdir(root) or os.path.islink(root):
        os.unlink(root)
        return
    directories = [root]
    for directory in directories:  # grows while it is walked: parents before children
        for entry in list_directory(directory):
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.path)
            else:
                _unlink(directory, entry.path)
    for directory in reversed(directories):
        _rmdir(directory)


def list_directory(directory: bytes) -> list[os.DirEntry[bytes]]:
    """What stands in a directory, of which an agent may have taken the rights from itself."""
    if os.lstat(directory).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(directory, stat.S_IRWXU)  # its names may be readable and what they name not
    with os.scandir(directory) as entries:
        return list(entries)


def _unlink(directory: bytes, path: bytes) -> None:
    try:
        os.unlink(path)
    except PermissionError:
        os.chmod(directory, 0o700)
        os.unlink(path)


def _rmdir(directory: bytes) -> None:
    try:
        os.rmdir(directory)
    except PermissionError:
        os.chmod(os.path.dirname(directory), 0o700)
        os.rmdir(directory)


def _remove_deep(path: Path) -> bool:
    """Trees deeper than a path can say: `rm` walks them by directory handles."""
    if shutil.which("rm") is None or shutil.which("chmod") is None:
        return False
    subprocess.run(["chmod", "-R", "u+rwX", "--", path], capture_output=True, check=False)
    return not subprocess.run(["rm", "-rf", "--", path], capture_output=True).returncode
