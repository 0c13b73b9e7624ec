import os
from pathlib import Path

import pytest

from nanobench.errors import StateError
from nanobench.workspace.changes import EXECUTABLE, REGULAR, SYMLINK, Change, apply_changes


def write(path: str | bytes, content: bytes, mode: int = REGULAR) -> Change:
    return Change(os.fsencode(path), mode, content, None)


def delete(path: str | bytes) -> Change:
    return Change(os.fsencode(path), None, None, REGULAR)


def test_files_links_and_modes_are_written_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        changes = [write("d/x.sh", b"#!", EXECUTABLE), write("a", b"1"), write("l", b"a", SYMLINK)]
        assert apply_changes(tmp_path, changes) == []
    finally:
        os.umask(before)
    assert (tmp_path / "d/x.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "l").readlink() == Path("a")


def test_a_directory_can_become_a_file_and_a_file_a_directory(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/e/x").write_text("x")
    (tmp_path / "f").write_text("f")
    changes = [write("d", b"now a file"), delete("d/e/x"), delete("f"), write("f/y", b"y")]
    assert apply_changes(tmp_path, changes) == []
    assert (tmp_path / "d").read_bytes() == b"now a file"
    assert (tmp_path / "f/y").read_bytes() == b"y"


def test_nothing_is_written_or_deleted_through_a_symlink(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    tree.mkdir()
    (outside / "kept").write_text("kept")
    (tree / "link").symlink_to(outside)
    skipped = apply_changes(tree, [write("link/new", b"x"), delete("link/kept")])
    assert skipped == ["link/kept", "link/new"]
    assert [path.name for path in outside.iterdir()] == ["kept"]


def test_a_symlink_in_the_same_changes_is_no_way_out(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    tree.mkdir()
    assert apply_changes(tree, [write("a", b"../outside", SYMLINK), write("a/b", b"x")]) == ["a/b"]
    assert list(outside.iterdir()) == []


def test_a_symlink_target_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("whole")
    (tmp_path / "link").symlink_to("victim")
    assert apply_changes(tmp_path, [write("link", b"own content")]) == []
    assert (tmp_path / "victim").read_text() == "whole"
    assert not (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "a/../../x", ".git/hooks/x", "s/.GIT/c", "a//b"]
)
def test_unsafe_paths_are_skipped(tmp_path: Path, path: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    assert apply_changes(tree, [write(path, b"x")]) == [path]
    assert list(tree.iterdir()) == []
    assert apply_changes(tree, [delete(path)]) == [path]


def test_a_filled_directory_and_unstored_content_are_conflicts(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/x").touch()
    huge = Change(b"huge", REGULAR, None, None)
    assert apply_changes(tmp_path, [write("d", b"file"), huge, delete("d")]) == ["d", "d", "huge"]
    assert (tmp_path / "d/x").exists()


def test_deleting_what_is_gone_is_no_conflict(tmp_path: Path) -> None:
    assert apply_changes(tmp_path, [delete("gone"), delete("no/dir/gone")]) == []


def test_odd_names_are_kept_byte_for_byte(tmp_path: Path) -> None:
    names = [b"-dash", b"new\nline", b"caf\xe9", b'"q"', b" space "]
    assert apply_changes(tmp_path, [write(name, b"x") for name in names]) == []
    assert sorted(os.listdir(os.fsencode(tmp_path))) == sorted(names)


def test_a_tree_that_is_gone_is_a_state_error(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="cannot write"):
        apply_changes(tmp_path / "gone", [write("a", b"x")])
