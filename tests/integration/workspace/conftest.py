"""Real repositories for the workspace: odd names, hostile attributes, a past and a future."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.snapshot import Snapshot, SnapshotStore

ATTRIBUTES = b"""\
*.txt text eol=crlf
*.u16 text working-tree-encoding=UTF-16
*.id ident
*.evil filter=evil
*.lock -diff
"""
BASE_FILES: dict[bytes, bytes] = {
    b"README.md": b"# sample\n",
    b".gitattributes": ATTRIBUTES,
    b".gitignore": b"*.log\nbuild/\n!keep.log\n",
    b"sub/.gitignore": b"/local\n",
    b"src/app.py": b"".join(b"line %d\n" % number for number in range(40)),
    b"src/lib/util.py": b"def util():\n    return 1\n",
    b"crlf.txt": b"one\r\ntwo\n",
    b"wide.u16": b"plain bytes\n",
    b"version.id": b"$Id$\n",
    b"filtered.evil": b"raw\n",
    b"pkg.lock": b"a\nb\n",
    b"binary.bin": bytes(range(256)) * 4,
    b"empty": b"",
    b"tracked.log": b"tracked although ignored\n",
    b"with space.txt": b"s\n",
    b'with "quotes" and \\.txt': b"q\n",
    b"new\nline.txt": b"n\n",
    b"caf\xe9.dat": b"latin\n",
    b"-dash": b"d\n",
    b":(top)magic": b"m\n",
}


class Origin:
    """A repository that commits can be fetched from."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = str(path)
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "trunk")
        self.git("config", "core.autocrlf", "false")
        # Filters of the attributes must not change what is committed here.
        (path / ".git/info/attributes").write_text(
            "* -text -filter -working-tree-encoding -ident -eol\n"
        )

    def git(self, *args: str, stdin: bytes = b"") -> bytes:
        identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.invalid"]
        done = subprocess.run(
            ["git", "-C", str(self.path), *identity, *args], input=stdin, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def write(self, path: bytes, content: bytes) -> None:
        target = os.path.join(os.fsencode(self.path), path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as stream:
            stream.write(content)

    def commit(self, message: str) -> str:
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").decode().strip()


@dataclass(frozen=True)
class History:
    """An origin with its past, its base commit and its future."""

    origin: Origin
    past: str
    base: str
    merge: str
    later: str


@pytest.fixture(autouse=True)
def isolated_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def history(tmp_path: Path) -> History:
    origin = Origin(tmp_path / "origin")
    origin.write(b"README.md", b"# older\n")
    past = origin.commit("Begin")
    for path, content in BASE_FILES.items():
        origin.write(path, content)
    origin.write(b"run.sh", b"#!/bin/sh\n")
    (origin.path / "run.sh").chmod(0o755)
    (origin.path / "link").symlink_to("src/app.py")
    (origin.path / "absolute").symlink_to("/etc/hostname")
    (origin.path / "to-dir").symlink_to("src")
    base = origin.commit("Base")
    origin.write(b"src/app.py", b"golden\n")
    origin.write(b"src/new.py", b"added by the merge\n")
    origin.write(b"image.bin", bytes(range(255, -1, -1)))
    (origin.path / "src/lib/util.py").rename(origin.path / "src/util.py")
    (origin.path / "README.md").chmod(0o755)
    (origin.path / "empty").unlink()
    merge = origin.commit("Make the app golden\n\nIt was not.\n")
    origin.write(b"secret", b"of the future\n")
    return History(origin, past, base, merge, origin.commit("Later"))


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    return ObjectCache(tmp_path / "state/repositories")


@pytest.fixture
def store(tmp_path: Path, cache: ObjectCache) -> SnapshotStore:
    return SnapshotStore(tmp_path / "state/snapshots", cache)


@pytest.fixture
def snapshot(history: History, store: SnapshotStore) -> Snapshot:
    return store.get(history.origin.url, history.base)


@pytest.fixture
def workspace(snapshot: Snapshot, tmp_path: Path) -> Path:
    destination = tmp_path / "ws"
    snapshot.unpack(destination)
    return destination
