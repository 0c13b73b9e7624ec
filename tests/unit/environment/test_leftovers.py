import os
from pathlib import Path

import pytest

from nanobench.environment.leftovers import (
    COPIED_FILES,
    find_leftovers,
    lay_file,
    mark,
    real_directory,
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / ".git").mkdir(parents=True)
    (root / "pkg").mkdir()
    (root / "pkg" / "code").write_text("1")
    return root


def test_nothing_new_is_nothing_left(tree: Path) -> None:
    before = mark(tree)
    os.utime(tree / "pkg" / "code", (1, 1))
    (tree / ".git" / "index").write_text("x")
    left = find_leftovers(tree, before)
    assert (left.directories, left.files, left.changed) == ((), (), ())


def test_dependencies_are_topmost_directories(tree: Path) -> None:
    before = mark(tree)
    for place in ("node_modules/a/node_modules/b", "pkg/node_modules/.bin", "pkg/env"):
        (tree / place).mkdir(parents=True)
    (tree / "pkg" / "env" / "pyvenv.cfg").touch()
    left = find_leftovers(tree, before)
    assert left.directories == (b"node_modules", b"pkg/env", b"pkg/node_modules")
    assert left.files == ()


def test_large_directory_is_taken_as_it_is_and_a_small_one_by_files(tree: Path) -> None:
    before = mark(tree)
    (tree / "large").mkdir()
    for number in range(COPIED_FILES + 1):
        (tree / "large" / str(number)).touch()
    (tree / "x.egg-info" / "sub").mkdir(parents=True)
    (tree / "x.egg-info" / "sub" / "names").touch()
    (tree / "x.egg-info" / "__pycache__").mkdir()
    (tree / "x.egg-info" / "__pycache__" / "a.pyc").touch()
    left = find_leftovers(tree, before)
    assert left.directories == (b"large",)
    assert left.files == (b"x.egg-info/sub/names",)


def test_changes_of_content_mode_and_kind_are_seen(tree: Path) -> None:
    for name in ("content", "mode", "kind", "gone"):
        (tree / name).write_text("x")
    before = mark(tree)
    (tree / "content").write_text("y")
    (tree / "mode").chmod(0o755)
    (tree / "kind").unlink()
    (tree / "kind").symlink_to("x")
    (tree / "gone").unlink()
    assert find_leftovers(tree, before).changed == (b"content", b"kind", b"mode")


def test_odd_names_and_links_out_are_files(tree: Path, tmp_path: Path) -> None:
    before = mark(tree)
    name = b"new\nline \xff"
    Path(os.fsdecode(os.fsencode(tree) + b"/" + name)).touch()
    (tree / "out").symlink_to(tmp_path)
    os.mkfifo(tree / "fifo")
    assert find_leftovers(tree, before).files == (name, b"out")


def test_directory_is_made_through_no_link(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tree / "link").symlink_to(outside)
    (tree / "file").touch()
    assert real_directory(tree, Path("link/a")) == tree / "link" / "a"
    assert real_directory(tree, Path("file/a")).is_dir()
    assert list(outside.iterdir()) == []
    assert (tree / "link").is_dir()
    assert not (tree / "link").is_symlink()


def test_kept_file_is_laid_only_where_nothing_stands(tree: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    lay_file(kept, tree, Path("new/place"))
    lay_file(kept, tree, Path("pkg/code"))
    assert (tree / "new" / "place").read_text() == "kept"
    assert (tree / "pkg" / "code").read_text() == "1"
    (tree / "dangling").symlink_to(tmp_path / "target")
    lay_file(kept, tree, Path("dangling"))
    assert not (tmp_path / "target").exists()
