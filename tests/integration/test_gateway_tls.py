"""The gateway reaches a provider over HTTPS: with its own authority, and not without."""

import http.client
import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from nanobench.agent.gateway.route import RouteOptions, Upstream
from nanobench.agent.gateway.server import Gateway

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")

REPLY = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        content = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


class Server(HTTPServer):
    def handle_error(self, *args: Any) -> None:
        """A client that does not trust us breaks the handshake off."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(place / "key.pem"), "-out", str(place / "cert.pem")]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return place / "cert.pem"


@pytest.fixture
def secure(certificate: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def ask(url: str, ca: Path | None) -> tuple[int, Any, str | None, int]:
    with Gateway() as gateway:
        upstream = Upstream(url, "key", {}, "openai_chat", ca, "acme")
        base = urlsplit(gateway.open("k", upstream, RouteOptions()))
        connection = http.client.HTTPConnection(base.netloc, timeout=30)
        connection.request("POST", f"{base.path}/chat/completions", b'{"model": "m"}')
        response = connection.getresponse()
        told = json.loads(response.read())
        connection.close()
        (seen,) = gateway.close("k")
    return response.status, told, seen.error_class, len(seen.attempts)


def test_a_provider_is_trusted_by_its_own_authority(secure: str, certificate: Path) -> None:
    assert ask(secure, certificate) == (200, REPLY, None, 0)


def test_one_that_nobody_vouches_for_is_not_asked_and_not_tried_again(secure: str) -> None:
    status, told, error_class, attempts = ask(secure, None)
    assert (status, error_class, attempts) == (424, "connection", 0)
    assert told["error"]["message"] == "no trusted connection to the provider can be made"
