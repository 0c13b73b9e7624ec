import hashlib
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from nanobench.workspace.snapshot import Entry


def _tree(files: dict[str, str | tuple[int, str]]) -> Any:
    """What an image is built from looks at of a snapshot."""
    entries, contents = {}, {}
    for name, file in files.items():
        mode, text = file if isinstance(file, tuple) else (0o100644, file)
        path = name.encode()
        entries[path] = Entry(mode, hashlib.sha1(text.encode()).hexdigest())
        contents[path] = text.encode()

    def blobs(paths: Iterable[bytes]) -> dict[bytes, bytes]:
        return {path: contents[path] for path in paths}

    return SimpleNamespace(
        entries=entries, blobs=blobs, blob=lambda path: contents[path], commit="c" * 40
    )


@pytest.fixture
def tree() -> Callable[[dict[str, Any]], Any]:
    """A snapshot of files, each a text or a mode and a text."""
    return _tree
