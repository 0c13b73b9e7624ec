"""Directories that are built once, by one process, and are whole or absent."""

from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from nanobench.files import make_directory, state_error
from nanobench.workspace.teardown import remove_tree

_PARTIAL = ".partial"


def build_once(
    target: Path,
    build: Callable[[Path], None],
    is_whole: Callable[[Path], bool] = Path.is_dir,
) -> Path:
    """`target`, built by `build` in an empty directory beside it and renamed if it is not whole.

    Other threads and processes wait; what a killed process left is thrown away.

    Raises:
        StateError: the state directory cannot be written.
        NanobenchError: whatever `build` raises; nothing is left then.
    """
    if is_whole(target):
        return target
    parent = make_directory(target.parent)
    partial = parent / f".{target.name}{_PARTIAL}"
    try:
        with FileLock(_lock_of(partial)):
            if is_whole(target):
                return target
            remove_tree(partial)
            partial.mkdir()
            try:
                build(partial)
                remove_tree(target)
                partial.rename(target)
            finally:
                remove_tree(partial)
    except OSError as error:
        raise state_error(error, target) from error
    return target


def sweep_partial(parent: Path) -> list[Path]:
    """Remove what killed processes built half in `parent`; that of living ones is locked."""
    swept = []
    for partial in sorted(parent.glob(f".*{_PARTIAL}")):
        try:
            with FileLock(_lock_of(partial), timeout=0):
                remove_tree(partial)
                swept.append(partial)
        except Timeout:
            continue
    return swept


def _lock_of(partial: Path) -> Path:
    return partial.with_name(partial.name.removesuffix(_PARTIAL) + ".lock")
