"""Images that were built elsewhere: pulled from a registry by the hash of what they are made of."""

import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import docker.errors
import pytest

from nanobench.environment.container.devcontainer import Build
from nanobench.environment.container.engine import Engine, connect
from nanobench.environment.container.images import REPOSITORY, Images, build_input
from nanobench.errors import EnvironmentSetupError

pytestmark = pytest.mark.real


class Registry(ThreadingHTTPServer):
    """Serves one image, as `docker save` wrote it, under any name and tag; notes what is asked."""

    MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"

    def __init__(self, saved: bytes) -> None:
        self.asked: list[str] = []
        self.blobs: dict[str, bytes] = {}
        with tarfile.open(fileobj=io.BytesIO(saved)) as tar:

            def read(name: str) -> bytes:
                member = tar.extractfile(name)
                assert member is not None
                return member.read()

            ((described),) = json.loads(read("manifest.json"))
            config = self._add("container.image.v1+json", read(described["Config"]))
            layers = [self._add("image.rootfs.diff.tar", read(one)) for one in described["Layers"]]
        manifest = {"schemaVersion": 2, "mediaType": self.MANIFEST}
        self.manifest = json.dumps({**manifest, "config": config, "layers": layers}).encode()
        super().__init__(("127.0.0.1", 0), Answer)

    def _add(self, kind: str, content: bytes) -> dict[str, Any]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.blobs[digest] = content
        media = f"application/vnd.docker.{kind}"
        return {"mediaType": media, "size": len(content), "digest": digest}


class Answer(BaseHTTPRequestHandler):
    server: Registry

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        kind, content = "application/octet-stream", b"{}"
        if "/manifests/" in self.path:
            kind, content = Registry.MANIFEST, self.server.manifest
        elif "/blobs/" in self.path:
            content = self.server.blobs[self.path.rpartition("/")[2]]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        digest = hashlib.sha256(content).hexdigest()
        self.send_header("Docker-Content-Digest", f"sha256:{digest}")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def engine() -> Iterator[Engine]:
    try:
        reached = connect()
    except EnvironmentSetupError as error:
        pytest.skip(f"no container engine: {error.what}")
    yield reached
    reached.close()


def test_what_was_built_elsewhere_is_pulled_by_the_same_name(
    bench: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"Dockerfile": "FROM scratch\nCOPY one /one\n", "one": str(bench.root)}
    snapshot = bench.snapshot(bench.task(files))
    inputs = build_input(Build("Dockerfile"), snapshot, engine.architecture)
    built = Images(engine, {}).built(inputs, snapshot)
    name = f"{REPOSITORY}:{inputs.tag}"
    with Registry(b"".join(engine.api.get_image(name))) as registry:
        engine.client.images.remove(name, force=True)
        thread = threading.Thread(target=registry.serve_forever)
        thread.start()
        place = f"127.0.0.1:{registry.server_address[1]}/tasks"
        images = Images(engine, {"NANOBENCH_IMAGES": place})
        monkeypatch.setattr(images, "_build", lambda *given: pytest.fail("it was built"))
        try:
            assert images.built(inputs, snapshot) == built
        finally:
            registry.shutdown()
            thread.join()
            for one in (name, f"{place}:{inputs.tag}"):
                with suppress(docker.errors.ImageNotFound):
                    engine.client.images.remove(one, force=True)
    assert f"/v2/tasks/manifests/{inputs.tag}" in registry.asked
