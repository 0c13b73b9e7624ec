"""The gateway behind a unix socket: the only way out of a sandbox without network."""

import socket
from pathlib import Path

import pytest

from nanobench.agent.gateway.redirect import route_options
from nanobench.agent.gateway.route import Upstream
from nanobench.agent.gateway.server import Gateway
from nanobench.agent.way_out import PORT
from nanobench.errors import InfrastructureError

UPSTREAM = Upstream("http://127.0.0.1:9/v1", None, {}, "unknown", None, "p")


def ask(path: str) -> bytes:
    """The status line of an answer through the socket in the current directory."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(20)
        wire.connect("gateway.sock")
        wire.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return wire.makefile("rb").readline()


def test_a_route_is_reached_through_its_socket_until_it_is_closed(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ("long" * 30)  # longer than the address of a socket may be
    place.mkdir()
    monkeypatch.chdir(place)
    url = gateway.open("one", UPSTREAM, route_options({}), place / "gateway.sock")
    try:
        assert url == f"http://127.0.0.1:{PORT}/one/v1"
        assert b" 404 " in ask("/another/v1/models")
        assert b" 404 " in ask("/one/v1/../models")
    finally:
        gateway.close("one")
    with pytest.raises(ConnectionRefusedError):
        ask("/one/v1/models")


def test_no_socket_no_run(gateway: Gateway, tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot listen: No such file"):
        gateway.open("two", UPSTREAM, route_options({}), tmp_path / "gone" / "gateway.sock")
    assert gateway.close("two") == ()
