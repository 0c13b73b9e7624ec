import subprocess
from pathlib import Path

import pytest

from nanobench.workspace.paths import display, is_git_metadata, parents


@pytest.mark.parametrize("path", ["src/a.py", 'with "quotes"', "new\nline", "naïve/ü.txt", "-x"])
def test_utf8_paths_are_shown_as_they_are(path: str) -> None:
    assert display(path.encode()) == path


def test_other_bytes_are_quoted_exactly_as_git_quotes_them(tmp_path: Path) -> None:
    name = b'caf\xe9 "q" \\ \n\t\x01\x7f.txt'
    (tmp_path / "x").touch()
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    entry = b"100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t" + name + b"\0"
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "update-index", "-z", "--index-info"], input=entry, check=True)
    shown = subprocess.run([*git, "ls-files", "--cached"], capture_output=True, check=True).stdout
    assert display(name) == shown.decode().rstrip("\n")


def test_parents_come_nearest_first_without_the_root() -> None:
    assert parents(b"a/b/c.txt") == [b"a/b", b"a"]
    assert parents(b"c.txt") == []


def test_git_metadata_is_recognised_in_any_case() -> None:
    assert is_git_metadata(b".GiT")
    assert not is_git_metadata(b".gitignore")
