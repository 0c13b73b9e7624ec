"""The files of one commit, as the search for test commands looks at them."""

import posixpath
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nanobench.dataset.clone import Clone

_ENOUGH = 1024 * 1024


@dataclass(frozen=True)
class Tree:
    """Paths (UTF-8 only) to blobs."""

    clone: Clone
    blobs: dict[str, str]

    @classmethod
    def at(cls, clone: Clone, commit: str) -> "Tree":
        """The files of a commit.

        Raises:
            RepositoryError: the clone lacks it.
        """
        named = {}
        for path, sha in clone.tree(commit).items():
            try:
                named[path.decode()] = sha
            except UnicodeDecodeError:
                continue
        return cls(clone, named)

    def __contains__(self, path: str) -> bool:
        return path in self.blobs

    def text(self, path: str) -> str:
        """A file's first MiB as text; empty if there is none."""
        if path not in self.blobs:
            return ""
        return self.clone.blobs([self.blobs[path]])[0][:_ENOUGH].decode(errors="replace")

    def toml(self, path: str) -> dict[str, Any]:
        """A file of TOML; empty if there is none, or if it is not TOML."""
        try:
            return tomllib.loads(self.text(path))
        except (ValueError, RecursionError):
            return {}

    def above(self, path: str, names: Sequence[str]) -> Iterator[str]:
        """The directories over `path` that hold one of the files, nearest first; the root is `.`"""
        directory = posixpath.dirname(path)
        while True:
            if any(inside(directory, name) in self.blobs for name in names):
                yield directory or "."
            if not directory:
                return
            directory = posixpath.dirname(directory)

    def nearest(self, path: str, names: Sequence[str]) -> str | None:
        """The nearest of them."""
        return next(self.above(path, names), None)


def inside(directory: str, name: str) -> str:
    """The path of a file in a directory of the tree."""
    return name if directory in ("", ".") else f"{directory}/{name}"


def below(path: str, directory: str) -> str:
    """A path as seen from a directory above it."""
    return path if directory == "." else posixpath.relpath(path, directory)


def subtable(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """A table within tables; an empty one if there is none."""
    for name in names:
        found = document.get(name)
        document = found if isinstance(found, dict) else {}
    return document
