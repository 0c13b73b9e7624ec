"""The forwarder: how an agent without network reaches the one socket that it is given."""

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nanobench.agent import way_out
from nanobench.agent.way_out import SOCKET, forwarded, inner_url
from nanobench.environment.toolchain import Toolchain

ASK = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as wire:
    wire.sendall(b"ping")
    wire.shutdown(socket.SHUT_WR)
    print(wire.makefile("rb").read().decode())
"""


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    """A free port of this machine, in the place of the sandbox's own."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        number = int(probe.getsockname()[1])
    monkeypatch.setattr(way_out, "PORT", number)
    return number


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory whose socket answers once; its path is longer than a socket's address."""
    place = tmp_path / ("long" * 30)
    place.mkdir()
    monkeypatch.chdir(place)
    server = socket.socket(socket.AF_UNIX)
    server.bind(SOCKET)
    server.listen()
    server.settimeout(30)

    def answer() -> None:
        try:
            wire, _ = server.accept()
        except OSError:
            return
        with wire:
            wire.sendall(wire.makefile("rb").read() + b" pong")

    thread = threading.Thread(target=answer)
    thread.start()
    yield place
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


def run(run_dir: Path, *argv: str) -> "subprocess.CompletedProcess[str]":
    node = Toolchain(run_dir / "tools").node
    return subprocess.run(
        forwarded(node, str(run_dir), argv),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_what_reaches_the_port_reaches_the_socket(run_dir: Path, port: int) -> None:
    done = run(run_dir, sys.executable, "-c", ASK, str(port))
    assert (done.stdout, done.stderr, done.returncode) == ("ping pong\n", "", 0)


def test_the_agent_sees_the_same_address_in_every_run() -> None:
    assert inner_url("key") == "http://127.0.0.1:20202/key"


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -KILL $$", -9)])
@pytest.mark.usefixtures("port")
def test_the_forwarder_ends_as_its_command_does(run_dir: Path, script: str, code: int) -> None:
    assert run(run_dir, "/bin/sh", "-c", script).returncode == code


@pytest.mark.usefixtures("port")
def test_the_command_starts_where_the_forwarder_was_started(run_dir: Path) -> None:
    assert run(run_dir, "/bin/pwd").stdout == "/\n"


@pytest.mark.usefixtures("port")
def test_a_missing_program_is_127(run_dir: Path) -> None:
    done = run(run_dir, "/nowhere/agent")
    assert done.returncode == 127
    assert "/nowhere/agent" in done.stderr


def test_a_port_in_use_is_told_before_the_command_runs(run_dir: Path, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        done = run(run_dir, shutil.which("true") or "/bin/true")
    assert done.returncode == 126
    assert "EADDRINUSE" in done.stderr
