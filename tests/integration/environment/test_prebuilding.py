"""Images are built ahead and pushed to a real registry, and a run finds them there."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import docker.errors
import pytest

from nanobench.environment.container.devcontainer import Build
from nanobench.environment.container.engine import Engine, connect
from nanobench.environment.container.images import REPOSITORY, Images, build_input
from nanobench.environment.container.prebuilding import prebuild
from nanobench.errors import EnvironmentSetupError

pytestmark = pytest.mark.real

SERVER = shutil.which("docker-registry")
CONFIG = """
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {root}}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


@pytest.fixture
def engine() -> Iterator[Engine]:
    try:
        reached = connect()
    except EnvironmentSetupError as error:
        pytest.skip(f"no container engine: {error.what}")
    yield reached
    reached.close()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """The address of an empty registry."""
    if SERVER is None:
        pytest.skip("there is no docker-registry on this machine")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = tmp_path / "registry.yml"
    config.write_text(CONFIG.format(root=tmp_path / "registry", port=port))
    with subprocess.Popen([SERVER, "serve", config]) as process:
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield f"127.0.0.1:{port}/tasks"
        process.terminate()


@pytest.fixture
def task(bench: Any, engine: Engine) -> Iterator[Any]:
    files = {"Dockerfile": "FROM scratch\nCOPY one /one\n", "one": str(bench.root)}
    made = bench.task(files, strategy="container", dockerfile="Dockerfile")
    yield made
    inputs = build_input(Build("Dockerfile"), bench.snapshot(made), engine.architecture)
    with suppress(docker.errors.ImageNotFound):
        image = engine.client.images.get(f"{REPOSITORY}:{inputs.tag}")
        engine.client.images.remove(image.id, force=True)  # with the names of all repositories


def test_an_image_is_pushed_by_its_hash_and_a_run_pulls_it(
    bench: Any, engine: Engine, task: Any, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = bench.snapshot(task)
    built = prebuild(engine, task, snapshot, registry, {})
    assert built is not None
    assert built.pushed is not None
    assert built.pushed.startswith(f"{registry}@sha256:")
    engine.client.images.remove(built.image, force=True)
    monkeypatch.setattr(Images, "_build", lambda *given: pytest.fail("it was built"))
    again = prebuild(engine, task, snapshot, registry, {})
    assert again == built
    engine.client.images.remove(built.image, force=True)


def test_a_registry_that_refuses_is_told_with_its_name(
    bench: Any, engine: Engine, task: Any
) -> None:
    with pytest.raises(EnvironmentSetupError) as caught:
        prebuild(engine, task, bench.snapshot(task), "127.0.0.1:9/tasks", {})
    assert "127.0.0.1:9/tasks" in f"{caught.value.what} {caught.value.where}"
    assert "docker login" in caught.value.remedy


def test_a_task_that_names_no_build_has_no_image_of_its_own(bench: Any, engine: Engine) -> None:
    task = bench.task({"a": ""}, strategy="container")
    assert prebuild(engine, task, bench.snapshot(task), None, {}) is None
