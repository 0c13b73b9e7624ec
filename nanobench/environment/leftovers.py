"""What an install leaves in a source tree: found, sorted, kept, and laid into other trees."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Marks = Mapping[bytes, str]

DEPENDENCY_NAMES = frozenset({b"node_modules", b".venv", b"venv", b".pnpm-store", b".yarn"})
VENV_MARK = "pyvenv.cfg"
COPIED_FILES = 500
COPIED_BYTES = 32 << 20
NEVER_KEPT = frozenset({b"__pycache__"})


@dataclass(frozen=True)
class Leftovers:
    """Paths relative to the tree.

    Args:
        directories: the topmost new ones that hold dependencies; used as they are.
        files: other new files.
        changed: files that the install changed; other trees have them as they were.
    """

    directories: tuple[bytes, ...]
    files: tuple[bytes, ...]
    changed: tuple[bytes, ...]

    @property
    def paths(self) -> frozenset[bytes]:
        """What counts as part of the base in a tree that has it."""
        return frozenset(self.directories) | frozenset(self.files)


def mark(tree: Path) -> dict[bytes, str]:
    """Each directory and file of a tree, without its top `.git`, with what identifies it."""
    return dict(_walk(os.fsencode(tree), b"", None))


def find_leftovers(tree: Path, before: Marks) -> Leftovers:
    """Compare a tree with its marks from before the install.

    A directory is dependencies if its name or content says so or if it is large; the files of
    a smaller one (`x.egg-info`, `dist`) are listed, since a test run may want to write there.
    """
    root = os.fsencode(tree)
    directories, files, changed = [], [], []
    for path, seen in _walk(root, b"", before):
        if seen != _DIRECTORY:
            if path not in before:
                files.append(path)
            elif before[path] != seen:
                changed.append(path)
        elif path not in before:
            inside = [path + b"/" + name for name in files_below(root + b"/" + path)]
            if _holds_dependencies(root, path, inside):
                directories.append(path)
            else:
                files += (name for name in inside if not NEVER_KEPT & set(name.split(b"/")))
    return Leftovers(*(tuple(sorted(paths)) for paths in (directories, files, changed)))


def files_below(directory: bytes) -> list[bytes]:
    """All files and links below a directory, relative to it."""
    found = []
    for place, names, files in os.walk(directory):
        links = [name for name in names if os.path.islink(os.path.join(place, name))]  # noqa: PTH114, PTH118
        found += [os.path.relpath(os.path.join(place, name), directory) for name in files + links]  # noqa: PTH118
    return found


def real_directory(tree: Path, relative: Path) -> Path:
    """`tree/relative` as a true directory; a file or link that stands in its way is removed.

    A hostile tree may have put a link there that leads out.
    """
    path = tree
    for part in relative.parts:
        path = path / part
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            path.unlink()
        path.mkdir(exist_ok=True)
    return path


def lay_file(source: Path, tree: Path, relative: Path) -> None:
    """Copy a kept file into a tree, unless something stands there already."""
    target = real_directory(tree, relative.parent) / relative.name
    if not os.path.lexists(target):
        shutil.copy2(source, target, follow_symlinks=False)


_DIRECTORY = "directory"
_SPECIAL = "special"


def file_mark(path: bytes, status: os.stat_result) -> str:
    """What identifies a file: its executable bit and content, or a link's target."""
    if stat.S_ISLNK(status.st_mode):
        return f"link {os.readlink(path)!r}"  # noqa: PTH115 - bytes
    if not stat.S_ISREG(status.st_mode):
        return _SPECIAL
    with Path(os.fsdecode(path)).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return f"{bool(status.st_mode & stat.S_IXUSR)} {digest}"


def _walk(root: bytes, below: bytes, before: Marks | None) -> Iterator[tuple[bytes, str]]:
    """Marks of a tree; does not enter directories that `before`, if given, lacks."""
    with os.scandir(root + b"/" + below if below else root) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        path = below + b"/" + entry.name if below else entry.name
        if path == b".git" or entry.name in NEVER_KEPT:
            continue
        if not entry.is_dir(follow_symlinks=False):
            seen = file_mark(entry.path, entry.stat(follow_symlinks=False))
            if seen != _SPECIAL:
                yield path, seen
            continue
        yield path, _DIRECTORY
        if before is None or path in before:
            yield from _walk(root, path, before)


def _holds_dependencies(root: bytes, path: bytes, inside: list[bytes]) -> bool:
    if path.rpartition(b"/")[2] in DEPENDENCY_NAMES or len(inside) > COPIED_FILES:
        return True
    full = os.fsdecode(root + b"/" + path)
    if Path(full, VENV_MARK).is_file():
        return True
    sizes = (os.lstat(root + b"/" + name).st_size for name in inside)
    return sum(sizes) > COPIED_BYTES
