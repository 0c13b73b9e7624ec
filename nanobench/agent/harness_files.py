"""Files of a task's repository that Nanocoder would read (SPEC X2, X4)."""

import hashlib
import os
import shutil
from pathlib import Path

# What each does stands in `config/index.js`, `config/mcp-config-loader.js` of 1.30.0.
_FILES = ("agents.config.json", ".env", ".mcp.json", "nanocoder-preferences.json")
_DIRECTORY = ".nanocoder"


def hide_harness_files(workspace: Path) -> tuple[bytes, ...]:
    """Remove what would configure the harness, at the root only, where Nanocoder looks.

    A symbolic link is removed, never followed. A directory in the place of a file has no
    effect on Nanocoder and stays.

    Returns:
        The removed paths, sorted: their absence is no edit of the agent's.
    """
    hidden: list[bytes] = []
    for name in _FILES:
        path = workspace / name
        if path.is_symlink() or path.is_file():
            path.unlink()
            hidden.append(os.fsencode(name))
    top = workspace / _DIRECTORY
    if top.is_symlink() or top.is_file():
        top.unlink()
        hidden.append(os.fsencode(_DIRECTORY))
    elif top.is_dir():
        hidden += _files_below(top, workspace)
        shutil.rmtree(top)
    return tuple(sorted(hidden))


def agents_md_sha256(workspace: Path) -> str | None:
    """SHA-256 (hex) of the AGENTS.md that Nanocoder appends to its prompt; null if none.

    A link inside the workspace is followed, as Nanocoder does; one that leads out is not.
    """
    path = workspace / "AGENTS.md"
    try:
        real = path.resolve(strict=True)
        if not (real.is_file() and real.is_relative_to(workspace.resolve())):
            return None
        with real.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, RuntimeError):
        return None


def _files_below(top: Path, workspace: Path) -> list[bytes]:
    found: list[bytes] = []
    for directory, subdirectories, files in os.walk(top, followlinks=False):
        here = Path(directory)
        links = [name for name in subdirectories if (here / name).is_symlink()]
        found += [os.fsencode((here / name).relative_to(workspace)) for name in files + links]
    return found
