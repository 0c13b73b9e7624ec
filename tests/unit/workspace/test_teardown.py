import os
from pathlib import Path

import pytest

from nanobench.errors import StateError
from nanobench.workspace import teardown
from nanobench.workspace.teardown import remove_tree


def test_read_only_files_and_directories_are_removed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "a/b").mkdir(parents=True)
    (tree / "a/b/file").write_text("x")
    for path in (tree / "a/b/file", tree / "a/b", tree / "a", tree):
        path.chmod(0o400 if path.is_file() else 0o500)
    (tree / "a").chmod(0o000)
    remove_tree(tree)
    assert not tree.exists()


def test_a_directory_that_can_be_listed_and_not_entered_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root every directory can be entered, so the refusal is played."""
    tree = tmp_path / "tree"
    (tree / "a/b").mkdir(parents=True)
    (tree / "a").chmod(0o600)
    really = os.scandir

    def scandir(path: bytes) -> object:
        if not os.stat(os.path.dirname(path)).st_mode & 0o100:
            raise PermissionError(13, "Permission denied", path)
        return really(path)

    monkeypatch.setattr(teardown.os, "scandir", scandir)
    remove_tree(tree)
    assert not tree.exists()


def test_a_directory_that_refuses_is_made_writable_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root no mode refuses anything, so the refusal is played."""
    tree = tmp_path / "tree"
    (tree / "d").mkdir(parents=True)
    (tree / "d/file").touch()
    (tree / "d").chmod(0o500)
    really = os.unlink

    def unlink(path: bytes) -> None:
        if not os.stat(os.path.dirname(path)).st_mode & 0o200:
            raise PermissionError(13, "Permission denied", path)
        really(path)

    monkeypatch.setattr(teardown.os, "unlink", unlink)
    remove_tree(tree)
    assert not tree.exists()


def test_symlinks_are_removed_and_not_followed(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    (outside / "kept").touch()
    tree.mkdir()
    (tree / "link").symlink_to(outside)
    remove_tree(tree)
    link = tmp_path / "top"
    link.symlink_to(outside)
    remove_tree(link)
    assert (outside / "kept").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside"]


def test_missing_paths_plain_files_and_pipes_are_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "missing")
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    remove_tree(tmp_path / "file")
    remove_tree(tmp_path / "pipe")
    assert list(tmp_path.iterdir()) == []


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    name = "d" * 200
    for _ in range(40):  # 8,000 bytes, twice what the system takes as one path
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    remove_tree(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()

    def busy(path: bytes) -> None:
        raise OSError(16, "Device or resource busy", path)

    monkeypatch.setattr(teardown.os, "rmdir", busy)
    with pytest.raises(StateError, match="busy") as caught:
        remove_tree(tree)
    assert caught.value.where == str(tree)
