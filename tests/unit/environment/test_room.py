from collections.abc import Sequence
from pathlib import Path

import pytest

from nanobench.environment.limits import confinement
from nanobench.environment.room import Place, Room
from nanobench.environment.sandbox import Command, CommandResult, Mount, SandboxName


class Recorder:
    name: SandboxName = "bubblewrap"
    isolates_network = True
    resources = confinement().told()

    def __init__(self, fixed_paths: bool) -> None:
        self.fixed_paths = fixed_paths
        self.command: Command | None = None
        self.mounts: Sequence[Mount] = ()

    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        self.command, self.mounts = command, mounts
        return CommandResult(0, False, 0.1, True)


def run(room: Room, tmp_path: Path, **env: str) -> None:
    room.run(
        ("tool", "a b"),
        cwd="sub",
        env=env,
        timeout_seconds=5,
        stdout=tmp_path / "o",
        stderr=tmp_path / "e",
        network="none",
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "ws").mkdir()
    modules = Mount(tmp_path / "store", "pkg/node_modules")
    cache = Mount(tmp_path / "store", "pkg/node_modules/.cache", kind="tmpfs")
    tools = Mount(tmp_path / "tools", "/tools")
    return Place(
        tmp_path / "ws",
        tmp_path / "run",
        env={"A": "place", "B": "place"},
        path=(tmp_path / "bin",),
        mounts=(tools, modules, cache),
    )


def test_fixed_paths_hide_where_things_lie(place: Place, tmp_path: Path) -> None:
    sandbox = Recorder(fixed_paths=True)
    with Room(sandbox, place) as room:
        run(room, tmp_path, B="own")
        assert (tmp_path / "ws/pkg/node_modules").is_dir()
    command = sandbox.command
    assert command is not None
    assert (command.cwd, room.run_path) == ("/ws", "/run/nb")
    assert command.env["HOME"] == "/run/nb/home"
    assert (command.env["A"], command.env["B"]) == ("place", "own")
    assert command.argv[-3:] == ("sub", "tool", "a b")
    targets = [mount.target for mount in sandbox.mounts]
    modules = "/ws/pkg/node_modules"
    assert targets == ["/ws", "/run/nb", "/tools", modules, f"{modules}/.cache"]
    assert [mount.writable for mount in sandbox.mounts[:3]] == [True, True, False]


def test_mount_points_do_not_stay_in_the_workspace(place: Place, tmp_path: Path) -> None:
    with Room(Recorder(fixed_paths=True), place) as room:
        run(room, tmp_path)
    assert not (tmp_path / "ws/pkg/node_modules").exists()


def test_without_fixed_paths_commands_see_the_host(place: Place, tmp_path: Path) -> None:
    sandbox = Recorder(fixed_paths=False)
    with Room(sandbox, place) as room:
        run(room, tmp_path)
    assert sandbox.command is not None
    assert sandbox.command.cwd == room.workspace == str(tmp_path / "ws")
    assert sandbox.command.env["TMPDIR"] == str(tmp_path / "run" / "tmp")
    assert not (tmp_path / "ws/pkg").exists()


def test_host_variables_are_never_passed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    room = Room(Recorder(fixed_paths=True), place)
    assert "canary" not in room.base_env.values()
    assert room.base_env["PATH"].split(":")[:2] == [str(tmp_path / "bin"), "/usr/local/bin"]
