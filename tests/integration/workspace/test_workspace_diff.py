"""What an agent left, in workspaces that try to hide it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import StateError
from nanobench.workspace import scan
from nanobench.workspace.changes import EXECUTABLE, REGULAR, SYMLINK, apply_changes
from nanobench.workspace.diff import WorkspaceDiff, diff_workspace
from nanobench.workspace.snapshot import Snapshot
from nanobench.workspace.teardown import remove_tree

Diff = Callable[..., WorkspaceDiff]


def git(workspace: Path, *args: str) -> str:
    identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.invalid"]
    argv = ["git", "-C", str(workspace), *identity, *args]
    return subprocess.run(argv, capture_output=True, check=True).stdout.decode(errors="replace")


@pytest.fixture
def diff(workspace: Path, snapshot: Snapshot, tmp_path: Path) -> Diff:
    scratch = tmp_path / "scratch"

    def run(**options: Any) -> WorkspaceDiff:
        made = diff_workspace(workspace, snapshot, scratch, **options)
        assert not scratch.exists() or not list(scratch.iterdir())
        return made

    return run


def summary(made: WorkspaceDiff) -> dict[str, str]:
    return {edit.path: edit.change for edit in made.edits}


def write(workspace: Path, path: bytes, content: bytes) -> None:
    target = os.fsencode(workspace) + b"/" + path
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as stream:
        stream.write(content)


def test_an_untouched_workspace_has_no_difference_and_runs_no_git(
    diff: Diff, monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    for path in workspace.rglob("*"):  # all times changed, nothing else
        if not path.is_symlink():
            os.utime(path)

    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert diff() == WorkspaceDiff((), (), b"", (), (), False)


def test_every_kind_of_change_is_seen_and_reproduced(
    diff: Diff, workspace: Path, snapshot: Snapshot, tmp_path: Path
) -> None:
    write(workspace, b"src/app.py", b"changed\n")
    (workspace / "src/lib/util.py").rename(workspace / "src/renamed.py")
    (workspace / "README.md").unlink()
    (workspace / "run.sh").chmod(0o644)
    (workspace / "empty").chmod(0o755)
    write(workspace, b"binary.bin", b"\0\1\2")
    write(workspace, b"new/deep/file", b"new\n")
    (workspace / "link").unlink()
    (workspace / "link").symlink_to("/etc/passwd")
    (workspace / "pkg.lock").unlink()
    (workspace / "pkg.lock").symlink_to("src")
    (workspace / "to-dir").unlink()
    (workspace / "to-dir").mkdir()
    write(workspace, b"to-dir/x", b"x")
    for name in (b"a b", b'"q"', b"n\nl", b"\xff\xfe", b"-rf", b":(glob)*", b"git~1", b"b\\s"):
        write(workspace, name, name)

    made = diff()
    assert summary(made) == {
        "src/app.py": "modified",
        "src/lib/util.py": "deleted",
        "src/renamed.py": "added",
        "README.md": "deleted",
        "run.sh": "mode",
        "empty": "mode",
        "binary.bin": "modified",
        "new/deep/file": "added",
        "link": "modified",
        "pkg.lock": "type",
        "to-dir": "deleted",
        "to-dir/x": "added",
        "a b": "added",
        '"q"': "added",
        "n\nl": "added",
        '"\\377\\376"': "added",
        "-rf": "added",
        ":(glob)*": "added",
        "git~1": "added",
        "b\\s": "added",
    }
    by_path = {change.path: change for change in made.changes}
    assert [change.path for change in made.changes] == sorted(by_path)
    assert by_path[b"link"].content == b"/etc/passwd"
    assert (by_path[b"pkg.lock"].mode, by_path[b"pkg.lock"].base_mode) == (SYMLINK, REGULAR)
    assert (by_path[b"run.sh"].mode, by_path[b"run.sh"].base_mode) == (REGULAR, EXECUTABLE)
    assert next(edit for edit in made.edits if edit.path == "binary.bin").binary
    assert b"rename from src/lib/util.py\nrename to src/renamed.py" in made.patch

    by_changes, by_patch = tmp_path / "by-changes", tmp_path / "by-patch"
    snapshot.unpack(by_changes)
    assert apply_changes(by_changes, made.changes) == []
    assert diff_workspace(by_changes, snapshot, tmp_path / "again").changes == made.changes
    snapshot.unpack(by_patch)
    (tmp_path / "agent.patch").write_bytes(made.patch)
    every_name = ("-c", "core.protectNTFS=false")
    git(by_patch, *every_name, "apply", "--index", str(tmp_path / "agent.patch"))
    assert diff_workspace(by_patch, snapshot, tmp_path / "again").changes == made.changes


def test_a_symlink_that_replaces_a_directory_is_not_followed(
    diff: Diff, workspace: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (workspace / "src").rename(outside)
    write(outside, b"planted", b"of the host\n")
    (workspace / "src").symlink_to(outside)
    made = diff()
    assert summary(made) == {"src": "added", "src/app.py": "deleted", "src/lib/util.py": "deleted"}
    assert b"of the host" not in made.patch


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A program that tells on whoever runs it."""
    program = tmp_path / "canary.sh"
    program.write_text(f"#!/bin/sh\necho run >> {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    return program


def test_planted_commands_do_not_run_and_hide_nothing(
    diff: Diff, workspace: Path, canary: Path, tmp_path: Path
) -> None:
    write(workspace, b"src/app.py", b"changed\n")
    write(workspace, b"hidden.txt", b"untracked\n")
    write(workspace, b"README.md", b"hidden by the index\n")
    write(workspace, b"empty", b"hidden too\n")
    git(workspace, "update-index", "--assume-unchanged", "README.md")
    git(workspace, "update-index", "--skip-worktree", "empty")
    settings = {
        "filter.evil.clean": str(canary),
        "filter.evil.smudge": str(canary),
        "filter.evil.process": str(canary),
        "filter.evil.required": "true",
        "core.fsmonitor": str(canary),
        "core.hooksPath": str(tmp_path / "hooks"),
        "core.excludesFile": str(workspace / "all"),
        "core.fileMode": "false",
        "core.worktree": "/etc",
        "diff.external": str(canary),
        "diff.evil.textconv": str(canary),
        "core.pager": str(canary),
    }
    for key, value in settings.items():
        git(workspace, "config", key, value)
    (tmp_path / "hooks").mkdir()
    for hook in ("post-index-change", "pre-commit", "reference-transaction", "post-checkout"):
        shutil.copy(canary, tmp_path / "hooks" / hook)
    write(workspace, b"all", b"*\n")
    write(workspace, b".gitattributes", b"* filter=evil diff=evil text eol=crlf\n")
    write(workspace, b".git/info/attributes", b"* filter=evil working-tree-encoding=UTF-16\n")
    write(workspace, b".gitignore", b"*\n")
    write(workspace, b".git/info/exclude", b"*\n")
    made = diff()
    assert summary(made) == {
        "src/app.py": "modified",
        "hidden.txt": "added",
        "README.md": "modified",
        "empty": "modified",
        "all": "added",
        ".gitattributes": "modified",
        ".gitignore": "modified",
    }
    assert b"+hidden too" in made.patch
    assert not (tmp_path / "ran").exists()


def test_an_encoding_attribute_does_not_empty_the_diff(diff: Diff, workspace: Path) -> None:
    """git itself aborts on bytes that do not fit the claimed encoding."""
    write(workspace, b".gitattributes", b"* text working-tree-encoding=UTF-16\n")
    write(workspace, b"odd", b"\x00\xd8odd")
    made = diff()
    assert summary(made) == {".gitattributes": "modified", "odd": "added"}
    assert next(change for change in made.changes if change.path == b"odd").content == (
        b"\x00\xd8odd"
    )


def test_the_users_own_git_settings_change_nothing(
    diff: Diff, workspace: Path, monkeypatch: pytest.MonkeyPatch, canary: Path, tmp_path: Path
) -> None:
    write(workspace, b"src/app.py", b"changed\n")
    write(workspace, b"new.swp", b"editor\n")
    plain = diff()
    home = tmp_path / "home"
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.swp\n")
    (home / ".gitconfig").write_text(
        f"[diff]\n\texternal = {canary}\n\tnoprefix = true\n\tmnemonicPrefix = true\n"
        "[core]\n\tabbrev = 5\n[color]\n\tui = always\n"
    )
    monkeypatch.setenv("GIT_DIR", str(workspace / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(canary))
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u9")
    assert diff() == plain
    assert not (tmp_path / "ran").exists()


def test_ignored_files_are_pollution_by_the_rules_of_the_base_only(
    diff: Diff, workspace: Path
) -> None:
    write(workspace, b".gitignore", b"new.py\n")  # the agent's rules do not count
    write(workspace, b"new.py", b"x\n")
    write(workspace, b"out.log", b"ignored\n")
    write(workspace, b"n\nl.log", b"ignored\n")
    write(workspace, b"keep.log", b"kept by a negation\n")
    write(workspace, b"build/a/b", b"ignored\n")
    write(workspace, b"sub/local", b"ignored there\n")
    write(workspace, b"local", b"not ignored here\n")
    write(workspace, b"tracked.log", b"tracked files are never ignored\n")
    made = diff()
    assert made.pollution == ("build/", "n\nl.log", "out.log", "sub/local")
    assert set(summary(made)) == {".gitignore", "new.py", "keep.log", "local", "tracked.log"}


def test_ignored_and_dropped_directories_are_not_walked(
    diff: Diff, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for directory in (b"build", b"node_modules", b".nanocoder", b"src/__pycache__", b".pnpm-store"):
        write(workspace, directory + b"/deep/file", b"x")
    write(workspace, b"src/stale.pyc", b"x")
    listed: list[bytes] = []
    really = scan.list_directory

    def listing(location: bytes) -> list[os.DirEntry[bytes]]:
        listed.append(location.removeprefix(os.fsencode(workspace) + b"/"))
        return really(location)

    monkeypatch.setattr(scan, "list_directory", listing)
    made = diff()
    assert made.changes == ()
    assert made.pollution == (
        ".nanocoder/",
        ".pnpm-store/",
        "build/",
        "node_modules/",
        "src/__pycache__/",
        "src/stale.pyc",
    )
    assert sorted(listed) == [b"", b"src/", b"src/lib/", b"sub/"]


def test_much_pollution_is_counted_not_listed(diff: Diff, workspace: Path) -> None:
    for number in range(205):
        write(workspace, b"%03d.log" % number, b"")
    made = diff()
    assert len(made.pollution) == 201
    assert made.pollution[-1] == "(5 more)"


def test_hidden_files_are_not_deleted_but_their_return_shows(diff: Diff, workspace: Path) -> None:
    (workspace / "README.md").unlink()
    (workspace / "empty").unlink()
    hidden = {b"README.md", b"empty"}
    assert diff(hidden=hidden).changes == ()
    write(workspace, b"empty", b"made again\n")
    assert summary(diff(hidden=hidden)) == {"empty": "modified"}


def test_residue_of_the_install_is_part_of_the_base(diff: Diff, workspace: Path) -> None:
    write(workspace, b"pkg.egg-info/PKG-INFO", b"x")
    write(workspace, b"src/_version.py", b"x")
    write(workspace, b"src/app.py", b"changed\n")
    made = diff(residue={b"pkg.egg-info/", b"src/_version.py", b"src", b"src/app.py"})
    assert summary(made) == {"src/app.py": "modified"}  # no residue covers what is tracked
    assert made.pollution == ()


def test_commits_of_the_agent_count_and_are_told(diff: Diff, workspace: Path) -> None:
    write(workspace, b"src/app.py", b"committed\n")
    git(workspace, "commit", "-qam", "Work")
    made = diff()
    assert summary(made) == {"src/app.py": "modified"}
    assert made.agent_committed


@pytest.mark.parametrize(
    ("commands", "committed"),
    [
        ([["switch", "-qc", "topic"]], False),
        ([["switch", "-qc", "topic"], ["commit", "-q", "--allow-empty", "-m", "x"]], True),
        ([["commit", "-q", "--allow-empty", "-m", "x"], ["pack-refs", "--all"]], True),
        ([["pack-refs", "--all"]], False),
        ([["checkout", "-q", "--detach"]], False),
        (
            [
                ["commit", "-q", "--allow-empty", "-m", "x"],
                ["checkout", "-q", "--detach", "HEAD~1"],
            ],
            True,
        ),
    ],
)
def test_commits_are_read_from_refs_in_every_form(
    diff: Diff, workspace: Path, commands: list[list[str]], committed: bool
) -> None:
    for command in commands:
        git(workspace, *command)
    made = diff()
    assert made.agent_committed is committed
    assert made.changes == ()


def damage_git(kind: str, workspace: Path, outside: Path) -> None:
    remove_tree(workspace / ".git")
    if kind == "file":
        (workspace / ".git").write_text(f"gitdir: {outside}\n")
    elif kind == "symlink":
        outside.mkdir()
        (outside / "HEAD").write_text("f" * 40)
        (workspace / ".git").symlink_to(outside)
    elif kind == "pipes":
        (workspace / ".git/refs/heads").mkdir(parents=True)
        for name in ("HEAD", "packed-refs", "refs/heads/main"):
            os.mkfifo(workspace / ".git" / name)
    elif kind == "escape":
        (workspace / ".git").mkdir()
        (outside).write_text("f" * 40)
        (workspace / ".git/HEAD").write_text(f"ref: refs/heads/../../../../{outside.name}\n")


@pytest.mark.parametrize("kind", ["missing", "file", "symlink", "pipes", "escape"])
def test_a_ruined_git_directory_is_no_obstacle(
    diff: Diff, workspace: Path, tmp_path: Path, kind: str
) -> None:
    damage_git(kind, workspace, tmp_path / "outside")
    write(workspace, b"src/app.py", b"changed\n")
    made = diff()
    assert summary(made) == {"src/app.py": "modified"}
    assert not made.agent_committed


@pytest.mark.parametrize("commit", [True, False])
def test_a_nested_repositorys_files_count(diff: Diff, workspace: Path, commit: bool) -> None:
    nested = workspace / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    write(nested, b"code.py", b"inside\n")
    if commit:
        git(nested, "add", "-A")
        git(nested, "commit", "-qm", "x")
    made = diff()
    assert summary(made) == {"nested/code.py": "added"}
    assert made.skipped == ("nested/.git",)


def test_what_git_cannot_hold_is_skipped_and_told(diff: Diff, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    (workspace / "empty").unlink()
    os.mkfifo(workspace / "empty")
    os.chdir(workspace)  # a socket's path has to be short
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("sock")
    listener.close()
    os.chdir("/")
    (workspace / ".gitmodules").symlink_to("/etc/passwd")
    write(workspace, b"src/.GIT/config", b"x")
    made = diff()
    assert made.skipped == (".gitmodules", "empty", "pipe", "sock", "src/.GIT")
    assert summary(made) == {"empty": "deleted"}


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o600])
def test_a_directory_taken_from_everybody_has_not_lost_its_files(
    diff: Diff, workspace: Path, mode: int
) -> None:
    """What may be listed and not entered hides nothing; root can enter it whatever its mode."""
    (workspace / "src/lib").chmod(mode)
    (workspace / "src").chmod(mode)
    made = diff()
    assert (made.changes, made.skipped) == ((), ())
    assert all((workspace / place).stat().st_mode & 0o700 == 0o700 for place in ("src", "src/lib"))


def test_large_files_are_listed_not_stored(diff: Diff, workspace: Path) -> None:
    huge = scan.STORED_FILE_LIMIT + 1
    for name in ("huge", "src/app.py"):
        with (workspace / name).open("wb") as stream:
            stream.truncate(huge)  # sparse
    made = diff()
    assert [(edit.path, edit.size, edit.stored) for edit in made.edits] == [
        ("huge", huge, False),
        ("src/app.py", huge, False),
    ]
    assert [change.content for change in made.changes] == [None, None]
    assert made.patch == b""


def test_a_large_tracked_file_is_compared_by_its_hash(
    diff: Diff, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "STORED_FILE_LIMIT", 100)
    assert diff().changes == ()
    content = (workspace / "binary.bin").read_bytes()
    (workspace / "binary.bin").write_bytes(content[:-1] + b"x")
    assert summary(diff()) == {"binary.bin": "modified"}


def test_what_is_stored_is_bounded_in_all(
    diff: Diff, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "STORED_TOTAL_LIMIT", 250)
    for name in (b"a", b"b", b"c"):
        write(workspace, name, name * 100)
    made = diff()
    assert [(edit.path, edit.stored) for edit in made.edits] == [
        ("a", True),
        ("b", True),
        ("c", False),
    ]


def test_of_very_many_added_files_the_rest_is_counted(
    diff: Diff, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "ADDED_LIMIT", 2)
    for name in (b"a", b"b", b"c", b"d", b"src/app.py"):
        write(workspace, name, b"x")
    made = diff()
    assert summary(made) == {"a": "added", "b": "added", "src/app.py": "modified"}
    assert made.skipped == ("(2 more added files)",)


def test_a_tree_deeper_than_any_path_stops_nothing(diff: Diff, workspace: Path) -> None:
    write(workspace, b"src/app.py", b"changed\n")
    here = os.open(workspace, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=here)
        deeper = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    made = diff()
    assert summary(made) == {"src/app.py": "modified"}
    assert len(made.skipped) == 1
    remove_tree(workspace)
    assert not workspace.exists()


def test_the_same_work_gives_the_same_bytes(
    diff: Diff, workspace: Path, snapshot: Snapshot, tmp_path: Path
) -> None:
    write(workspace, b"src/app.py", b"changed\n")
    write(workspace, b"z/new", b"new\n")
    first = diff()
    other = tmp_path / "elsewhere"
    snapshot.unpack(other)
    write(other, b"z/new", b"new\n")
    write(other, b"src/app.py", b"changed\n")
    assert diff_workspace(other, snapshot, tmp_path / "scratch-2") == first


def test_a_workspace_that_is_gone_is_a_clear_error(diff: Diff, workspace: Path) -> None:
    remove_tree(workspace)
    with pytest.raises(StateError, match="workspace is gone"):
        diff()
