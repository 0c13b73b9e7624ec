"""The directories of one running cell."""

from pathlib import Path

import pytest

from nanobench.errors import StateError
from nanobench.pipeline.places import places


@pytest.mark.parametrize("left", ["nothing", "link", "file", "link above"])
def test_a_workspace_that_the_agent_removed_is_an_empty_one(tmp_path: Path, left: str) -> None:
    outside = tmp_path / "outside"
    (outside / "ws").mkdir(parents=True)
    (outside / "ws" / "kept").touch()
    with places(tmp_path / "runs") as rooms:
        workspace = rooms.agent_workspace
        if left == "link above":
            workspace.parent.symlink_to(outside)
        else:
            workspace.parent.mkdir()
        if left == "link":
            workspace.symlink_to(outside / "ws")
        if left == "file":
            workspace.write_text("no directory")
        rooms.keep_workspace()
        assert workspace.resolve() == workspace
        assert list(workspace.iterdir()) == []
    assert (outside / "ws" / "kept").is_file()


def test_a_workspace_that_is_there_keeps_its_files(tmp_path: Path) -> None:
    with places(tmp_path / "runs") as rooms:
        rooms.agent_workspace.mkdir(parents=True)
        (rooms.agent_workspace / "a").touch()
        rooms.keep_workspace()
        assert [path.name for path in rooms.agent_workspace.iterdir()] == ["a"]


def test_a_state_directory_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with places(tmp_path / "runs") as rooms:
        rooms.root.rename(tmp_path / "moved")
        with pytest.raises(StateError, match="removed or moved"):
            rooms.keep_workspace()
        assert not rooms.root.exists()
