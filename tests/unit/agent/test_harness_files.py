import hashlib
import os
from pathlib import Path

from nanobench.agent.harness_files import agents_md_sha256, hide_harness_files


def test_files_that_configure_the_harness_vanish_and_are_named(tmp_path: Path) -> None:
    for name in ("agents.config.json", ".env", ".mcp.json", "nanocoder-preferences.json"):
        (tmp_path / name).write_text("{}")
    (tmp_path / ".nanocoder/tools").mkdir(parents=True)
    (tmp_path / ".nanocoder/tools/evil.md").write_text("x")
    (tmp_path / ".nanocoder" / os.fsdecode(b"\xff")).touch()
    (tmp_path / "AGENTS.md").write_text("stay")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.env").write_text("stay")
    assert hide_harness_files(tmp_path) == (
        b".env",
        b".mcp.json",
        b".nanocoder/tools/evil.md",
        b".nanocoder/\xff",
        b"agents.config.json",
        b"nanocoder-preferences.json",
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["AGENTS.md", "sub"]
    assert (tmp_path / "sub/.env").exists()


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "ws"
    outside.mkdir()
    workspace.mkdir()
    (outside / "precious").write_text("x")
    (workspace / ".nanocoder").symlink_to(outside)
    (workspace / ".env").symlink_to("dangling")
    (workspace / ".mcp.json").symlink_to(outside / "precious")
    assert hide_harness_files(workspace) == (b".env", b".mcp.json", b".nanocoder")
    assert list(workspace.iterdir()) == []
    assert (outside / "precious").read_text() == "x"


def test_a_link_inside_the_directory_is_named_but_its_target_stays(tmp_path: Path) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "ws"
    outside.mkdir()
    (outside / "precious").write_text("x")
    (workspace / ".nanocoder").mkdir(parents=True)
    (workspace / ".nanocoder/agents").symlink_to(outside)
    assert hide_harness_files(workspace) == (b".nanocoder/agents",)
    assert (outside / "precious").exists()


def test_a_directory_in_the_place_of_a_file_has_no_effect_and_stays(tmp_path: Path) -> None:
    (tmp_path / ".env/bin").mkdir(parents=True)
    assert hide_harness_files(tmp_path) == ()
    assert (tmp_path / ".env/bin").is_dir()


def test_agents_md_is_hashed_only_inside_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    assert agents_md_sha256(workspace) is None
    (workspace / "CLAUDE.md").write_text("rules")
    (workspace / "AGENTS.md").symlink_to("CLAUDE.md")
    assert agents_md_sha256(workspace) == hashlib.sha256(b"rules").hexdigest()
    for bad in (tmp_path / "outside", Path("AGENTS.md"), Path("missing"), Path()):
        (tmp_path / "outside").write_text("secret")
        (workspace / "AGENTS.md").unlink()
        (workspace / "AGENTS.md").symlink_to(bad)
        assert agents_md_sha256(workspace) is None
