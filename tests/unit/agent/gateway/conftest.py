"""A provider that misbehaves as it is told to, and a gateway before it."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.route import (
    PLACEHOLDER_KEY,
    RetryPolicy,
    RouteOptions,
    Upstream,
)
from nanobench.agent.gateway.server import Gateway

KEY = "sk-real-key-of-the-test"


@dataclass
class Asked:
    """One request as the provider got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Play:
    """One reply: bytes in pieces, then what happens to the connection."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[bytes, ...] = ()
    then: str = "end"  # end | cut | stall | reset


def failing(status: int, message: str = "m", code: str | None = None, **headers: str) -> Play:
    """An error in the OpenAI form; header names with underscores for hyphens."""
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Play(status, {"content-type": "application/json", **named}, (body,))


def streaming(*pieces: bytes, then: str = "end") -> Play:
    """An event stream."""
    return Play(200, {"content-type": "text/event-stream"}, pieces, then)


class Provider:
    """Plays one reply after the other; the last one for ever."""

    def __init__(self) -> None:
        self.plays: list[Play] = []
        self.asked: list[Asked] = []
        self.gone = threading.Event()  # the other side has closed a stalled connection
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/base/v1"
        self._thread = threading.Thread(target=self._accept)
        self._workers: list[threading.Thread] = []
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        with socket.create_connection(self._listener.getsockname()):
            pass
        self._thread.join()
        self._listener.close()
        for worker in self._workers:
            worker.join()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._over.is_set():
                connection.close()
                return
            worker = threading.Thread(target=self._serve, args=(connection,))
            self._workers.append(worker)
            worker.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            line = reader.readline().split()
            if len(line) < 2:
                return
            headers = http.client.parse_headers(reader)
            lowered = {name.lower(): value for name, value in headers.items()}
            body = reader.read(int(lowered.get("content-length", 0)))
            self.asked.append(Asked(line[0].decode(), line[1].decode(), lowered, body))
            play = self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]
            try:
                self._play(connection, play)
            except OSError:
                self.gone.set()

    def _play(self, connection: socket.socket, play: Play) -> None:
        if play.then == "reset" and not play.pieces:
            return
        lines = [f"HTTP/1.1 {play.status} Whatever", "transfer-encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in play.headers.items()]
        connection.sendall(
            ("\r\n".join([*lines, "connection: close"]) + "\r\n\r\n").encode(
                "utf-8", "surrogateescape"
            )
        )
        for piece in play.pieces:
            connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            time.sleep(0.005)  # pieces arrive one by one
        if play.then == "stall":
            connection.settimeout(0.05)
            while not self._over.is_set():
                with suppress(TimeoutError):
                    if not connection.recv(1):
                        self.gone.set()
                        return
        if play.then == "end":
            connection.sendall(b"0\r\n\r\n")


@dataclass
class Reply:
    """What the agent got."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool = True

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Agent:
    """Asks the gateway as an agent would."""

    gateway: Gateway
    provider: Provider
    base: str = ""
    key: str = KEY

    failing = staticmethod(failing)
    streaming = staticmethod(streaming)
    Play = Play

    def plays(self, *plays: Play) -> None:
        """What the provider does, request by request; the last for ever."""
        self.provider.plays[:] = plays

    def close(self) -> tuple[Exchange, ...]:
        return self.gateway.close("route")

    def exchange(self) -> Exchange:
        """The only one."""
        (only,) = self.close()
        return only

    def open(self, options: RouteOptions | None = None, **upstream: Any) -> None:
        described = {
            "base_url": self.provider.url,
            "api_key": KEY,
            "headers": {},
            "dialect": "openai_chat",
            "ca_cert_path": None,
            "provider": "acme",
        }
        options = options or RouteOptions(retry=RetryPolicy(first_wait_seconds=0.001))
        self.gateway.close("route")
        self.base = self.gateway.open("route", Upstream(**{**described, **upstream}), options)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.base).netloc, timeout=20)

    def send(
        self,
        body: Any = None,
        path: str = "/chat/completions",
        method: str = "POST",
        **headers: str,
    ) -> http.client.HTTPConnection:
        connection = self.connect()
        content = body if isinstance(body, bytes) else json.dumps(body or QUESTION).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        told = {"authorization": f"Bearer {PLACEHOLDER_KEY}", "content-type": "application/json"}
        url = urlsplit(self.base).path + path
        connection.request(method, url, content, {**told, **named})
        return connection

    def ask(self, *args: Any, **kwargs: Any) -> Reply:
        connection = self.send(*args, **kwargs)
        response = connection.getresponse()
        whole = True
        try:
            content = response.read()
        except http.client.IncompleteRead as error:
            content, whole = error.partial, False
        connection.close()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, headers, content, whole)


QUESTION = {
    "model": "m",
    "stream": True,
    "messages": [{"role": "user", "content": "Hi \u20ac"}],
    "tools": [{"type": "function", "function": {"name": "read_file"}}],
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    running = Provider()
    yield running
    running.close()


@pytest.fixture(scope="session")
def gateway() -> Iterator[Gateway]:
    with Gateway() as running:
        yield running


@pytest.fixture
def agent(gateway: Gateway, provider: Provider) -> Iterator[Agent]:
    asking = Agent(gateway, provider)
    asking.open()
    yield asking
    gateway.close("route")
