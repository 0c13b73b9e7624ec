"""What is told of an agent's `.git`."""

from pathlib import Path

import pytest

from nanobench.workspace.build import WORKSPACE_CONFIG
from nanobench.workspace.planted import planted


@pytest.fixture
def git(tmp_path: Path) -> Path:
    """The `.git` of a workspace as the agent gets it."""
    directory = tmp_path / ".git"
    (directory / "info").mkdir(parents=True)
    (directory / "objects" / "info").mkdir(parents=True)
    (directory / "config").write_bytes(WORKSPACE_CONFIG)
    (directory / "info" / "exclude").touch()
    return directory


def test_honest_work_leaves_nothing_to_tell(git: Path) -> None:
    for name in ("index", "COMMIT_EDITMSG", "ORIG_HEAD"):
        (git / name).write_text("x")
    (git / "logs").mkdir()
    assert planted(git.parent) == []


def test_everything_that_git_would_obey_is_told(git: Path) -> None:
    (git / "hooks").mkdir()
    for name in ("hooks/pre-commit", "info/attributes", "info/exclude", "objects/info/alternates"):
        (git / name).write_text("x")
    (git / "config").write_text("[core]\n\tfsmonitor = evil\n")
    assert planted(git.parent) == [
        b".git/config",
        b".git/hooks/pre-commit",
        b".git/info/attributes",
        b".git/info/exclude",
        b".git/objects/info/alternates",
    ]


def test_a_config_that_is_no_plain_file_is_told(git: Path) -> None:
    (git / "config").unlink()
    (git / "config").symlink_to("/dev/zero")
    assert planted(git.parent) == [b".git/config"]


def test_a_git_directory_that_is_none_any_more_is_told(tmp_path: Path) -> None:
    assert planted(tmp_path) == [b".git (removed)"]
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    assert planted(tmp_path) == [b".git (replaced)"]
