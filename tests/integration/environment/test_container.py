"""Containers of a real engine: what commands see, what images are made of, what is left."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker.errors
import pytest

from nanobench.environment.cancel import Cancellation
from nanobench.environment.cgroups import Limits
from nanobench.environment.container import sandbox as sandboxes
from nanobench.environment.container.devcontainer import Build
from nanobench.environment.container.engine import Engine, connect
from nanobench.environment.container.environment import ContainerEnvironment, find_recipe
from nanobench.environment.container.images import (
    LABEL_IMAGE,
    REPOSITORY,
    Images,
    build_input,
)
from nanobench.environment.container.ledger import LABEL_RUN, LABEL_STATE, Ledger, sweep_at_start
from nanobench.environment.container.sandbox import ContainerSandbox
from nanobench.environment.protocol import Prepared
from nanobench.environment.room import Room
from nanobench.environment.sandbox import CommandResult, Mount
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import EnvironmentSetupError, InterruptedRunError, InvalidInputError
from nanobench.files import StateDirectory
from nanobench.model.task import Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.snapshot import Snapshot, SnapshotStore

pytestmark = pytest.mark.real

BASE = os.environ.get("NANOBENCH_TEST_IMAGE", "nanobench-base:bookworm")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    try:
        reached = connect()
    except EnvironmentSetupError as error:
        pytest.skip(f"no container engine: {error.what}")
    if not Images(reached).is_here(BASE):
        reached.close()
        pytest.skip(f"no image {BASE}: make it with scripts/make-base-image")
    yield reached
    reached.close()


@pytest.fixture
def ledger(state: StateDirectory) -> Iterator[Ledger]:
    kept = Ledger(state)
    yield kept
    kept.close()


@pytest.fixture
def container(engine: Engine, ledger: Ledger) -> ContainerSandbox:
    user = "0:0" if engine.rootless else f"{os.geteuid()}:{os.getegid()}"
    return ContainerSandbox(engine, Images(engine).named(BASE), ledger, user)


def containers(engine: Engine, state: StateDirectory) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = engine.api.containers(
        all=True, filters={"label": f"{LABEL_STATE}={state.root}"}
    )
    return listed


class Workshop:
    """A repository of its own, and everything to prepare and run it in containers."""

    def __init__(
        self, root: Path, engine: Engine, toolchain: Toolchain, make_repository: Any
    ) -> None:
        self.root = root
        self.state = StateDirectory.locate(root / "state")
        self._engine = engine
        self._toolchain = toolchain
        self._make_repository = make_repository
        self._environments: list[ContainerEnvironment] = []
        self.tasks: list[Task] = []

    def image_name(self, task: Task) -> str | None:
        """What the image that is built for a task is named, here and everywhere."""
        try:
            source = find_recipe(task, self.snapshot(task), BASE).source
            if isinstance(source, Build):
                architecture = self._engine.architecture
                tag = build_input(source, self.snapshot(task), architecture).tag
                return f"{REPOSITORY}:{tag}"
        except InvalidInputError:
            pass
        return None

    def task(self, files: dict[str, str], *install: str, **environment: Any) -> Task:
        repository = self.root / f"repository-{len(self.tasks)}"
        task = Task.model_validate(
            {
                "task_id": "t",
                "repo": "o/r",
                "repo_url": str(repository),
                "base_commit": self._make_repository(repository, files),
                "languages": ["Python"],
                "domain": "d",
                "complexity_tier": "Tier 1 (Isolated Edit)",
                "task_type": "bug",
                "reasoning_category": "c",
                "token_estimate": 1,
                "problem_statement": "s",
                "required_files": ["a"],
                "ground_truth_patch": "p",
                "test_command": "true",
                "contributor": "c",
                "merged_at": "2026-06-01T00:00:00Z",
                "environment": {"strategy": "container", "install": install, **environment},
            }
        )
        self.tasks.append(task)
        return task

    def snapshot(self, task: Task) -> Snapshot:
        store = SnapshotStore(self.state.snapshots, ObjectCache(self.state.repositories))
        return store.get(task.repo_url, task.base_commit)

    def prepare(self, task: Task, image: str | None = BASE) -> Prepared:
        environment = ContainerEnvironment(self.state, self._toolchain, image)
        self._environments.append(environment)
        return environment.prepare(task, self.snapshot(task))

    def run(self, task: Task, prepared: Prepared, script: str) -> tuple[CommandResult, str]:
        """Run a script in a fresh workspace; its result and output."""
        place = self.state.runs / f"{time.monotonic_ns()}"
        (place / "run").mkdir(parents=True)
        self.snapshot(task).unpack(place / "ws")
        with prepared.open(place / "ws", place / "run") as room:
            return run(room, self.root, script)

    def close(self) -> None:
        for environment in self._environments:
            environment.close()


def run(room: Room, place: Path, script: str) -> tuple[CommandResult, str]:
    stdout, stderr = place / "stdout", place / "stderr"
    result = room.run(
        ("/bin/sh", "-c", script), timeout_seconds=60, stdout=stdout, stderr=stderr, network="none"
    )
    return result, stdout.read_text() + stderr.read_text()


@pytest.fixture
def workshop(
    engine: Engine,
    tmp_path: Path,
    state: StateDirectory,
    toolchain: Toolchain,
    make_repository: Callable[[Path, dict[str, str]], str],
) -> Iterator[Workshop]:
    made = Workshop(tmp_path, engine, toolchain, make_repository)
    yield made
    made.close()
    assert containers(engine, state) == []
    assert list(state.part("containers").iterdir()) == []
    for name in filter(None, map(made.image_name, made.tasks)):
        with suppress(docker.errors.ImageNotFound):
            engine.client.images.remove(name, force=True)


def test_a_container_has_no_privileges_no_network_and_nothing_of_the_machine(
    container: ContainerSandbox, shell: Any
) -> None:
    result, said = shell(
        container,
        "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status; "
        "touch /usr/x 2>&1; touch /etc/x 2>&1; ls /sys/class/net; "
        "getent hosts localhost >/dev/null && echo resolves; ls -A /ws 2>&1; df -k /tmp | tail -1",
    )
    assert result.exit_code == 0
    assert result.launched
    assert said.count("0000000000000000") == 2
    assert "NoNewPrivs:\t1" in said
    assert "Seccomp:\t2" in said
    assert said.count("Read-only file system") == 2
    assert "\nlo\n" in said
    assert "eth0" not in said
    assert "resolves" in said
    assert "No such file" in said


def test_variables_reach_the_command_and_never_the_engine(
    container: ContainerSandbox, shell: Any, engine: Engine, state: StateDirectory, tmp_path: Path
) -> None:
    secret = "a 'quoted' $(secret)\nin two lines"
    place = tmp_path / "ws"
    place.mkdir()
    script = (
        'printf %s "$SECRET"; cat /proc/1/environ; touch /ws/up; until [ -e /ws/go ]; do :; done'
    )
    command = shell.command(script)
    command = replace(command, env={**command.env, "SECRET": secret})
    running = threading.Thread(
        target=container.run, args=(command, [Mount(place, "/ws", writable=True)])
    )
    running.start()
    try:
        while running.is_alive() and not (place / "up").exists():
            time.sleep(0.02)
        seen = [engine.api.inspect_container(one["Id"]) for one in containers(engine, state)]
    finally:
        (place / "go").touch()
        running.join()
    assert shell.stdout.read_text().startswith(secret)
    assert shell.stdout.read_text().count("secret") == 1
    assert [one["Config"]["Labels"][LABEL_RUN] for one in seen] == [ledger_of(container)]
    assert "secret" not in json.dumps(seen)


def ledger_of(container: ContainerSandbox) -> str:
    return container.ledger.labels[LABEL_RUN]


def test_limits_hold_and_are_told(container: ContainerSandbox, shell: Any) -> None:
    small = replace(container.engine, limits=Limits(processes=40, memory_bytes=64 << 20, cpus=1))
    limited = replace(container, engine=small)
    told = limited.resources
    if "none" in (told.processes_by, told.memory_by):
        pytest.skip("this engine cannot limit")
    assert (told.processes, told.memory_bytes, told.cpus) == (40, 64 << 20, 1)
    _, said = shell(limited, "python3 -c 'x = bytearray(128 << 20)'; echo $?")
    assert said == "137\n"
    shell(limited, "for i in $(seq 80); do sleep 5 & done; echo all were started")
    assert "fork" in shell.stderr.read_text()
    assert shell.stdout.read_text() == ""


def test_exit_codes_and_signals_are_the_commands_own(
    container: ContainerSandbox, shell: Any
) -> None:
    assert shell(container, "exit 7")[0].exit_code == 7
    assert shell(container, "kill -SEGV $$")[0].exit_code == -signal.SIGSEGV
    assert shell(container, "kill -9 -1; kill -9 $$")[0].exit_code == -signal.SIGKILL


def test_a_daemon_ends_with_its_command_and_a_time_limit_ends_all(
    container: ContainerSandbox,
    shell: Any,
    marker: str,
    processes_with: Any,
    engine: Engine,
    state: StateDirectory,
) -> None:
    result, _ = shell(container, f"setsid nohup sleep {marker} >/dev/null 2>&1 & echo started")
    assert result.exit_code == 0
    assert processes_with(marker) == []
    result, said = shell(
        container, f"echo begun; trap '' TERM HUP; (sleep {marker}) & sleep {marker}", seconds=2.0
    )
    assert (result.timed_out, result.exit_code, said) == (True, -signal.SIGKILL, "begun\n")
    assert processes_with(marker) == []
    assert containers(engine, state) == []


def test_a_cancelled_run_is_killed_at_once(
    container: ContainerSandbox,
    shell: Any,
    marker: str,
    processes_with: Any,
    eventually: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cancelled = Cancellation()
    monkeypatch.setattr(sandboxes, "cancelled", cancelled)

    def cancel() -> None:
        eventually(lambda: processes_with(marker))
        cancelled.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(InterruptedRunError):
        shell(container, f"sleep {marker}", seconds=120.0)
    thread.join()
    assert processes_with(marker) == []


def test_a_command_that_fills_the_disk_is_ended(
    container: ContainerSandbox, shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxes, "DISK_BYTES", 64 << 20)
    place = tmp_path / "writable"
    place.mkdir()
    # Many files: one alone is stopped by the bound on the size of a file.
    fill = "n=0; while :; do n=$((n+1)); head -c 9999999 /dev/zero >/ws/$n; sleep 0.1; done"
    command = shell.command(fill, 60)
    result = container.run(command, [Mount(place, "/ws", writable=True)])
    assert (result.exit_code, result.timed_out) == (-signal.SIGKILL, False)
    assert "ended, because" in shell.stderr.read_text()


KILLED = """
import sys
from pathlib import Path
from nanobench.environment.container.engine import connect
from nanobench.environment.container.ledger import Ledger
from nanobench.environment.container.sandbox import ContainerSandbox
from nanobench.environment.sandbox import Command
from nanobench.files import StateDirectory
state, image, marker = StateDirectory.locate(sys.argv[1]), sys.argv[2], sys.argv[3]
out = state.root
command = Command(("/bin/sh", "-c", f"sleep {marker}"), "/", {"PATH": "/usr/bin:/bin"}, 600.0,
                  out / "stdout", out / "stderr")
ContainerSandbox(connect(), image, Ledger(state), "0:0").run(command, ())
"""


def test_the_next_start_sweeps_what_a_killed_process_left(
    engine: Engine, state: StateDirectory, marker: str, processes_with: Any, eventually: Any
) -> None:
    def asleep() -> bool:
        return any(one.name() == "sleep" for one in processes_with(marker))

    argv = [sys.executable, "-c", KILLED, str(state.root), BASE, marker]
    with subprocess.Popen(argv) as process:
        assert eventually(asleep)
        process.kill()
    assert len(containers(engine, state)) == 1
    other = StateDirectory.locate(state.root / "other")
    assert sweep_at_start(other) == ""
    assert len(containers(engine, state)) == 1  # another state directory's
    assert sweep_at_start(state) == ""
    assert containers(engine, state) == []
    assert list(state.part("containers").iterdir()) == []
    assert eventually(lambda: not asleep())


DOCKERFILE = f"""FROM {BASE}
ARG WORD=none
RUN useradd --uid 4321 --create-home dev && echo "$WORD" >/word
COPY tool /usr/local/bin/tool
ENV FROM_IMAGE=yes
"""
TOOL = "#!/bin/sh\necho tool of the image\n"


def test_a_dockerfile_is_built_once_and_its_tools_are_found(
    workshop: Workshop, engine: Engine
) -> None:
    files = {"Dockerfile": DOCKERFILE, "tool": TOOL}
    task = workshop.task(files, "echo installed >left", dockerfile="Dockerfile")
    prepared = workshop.prepare(task)
    result, said = workshop.run(
        task, prepared, "sh /usr/local/bin/tool; echo $FROM_IMAGE; cat left; node --version"
    )
    assert result.exit_code == 0, said
    assert said.startswith("tool of the image\nyes\ninstalled\nv")
    assert prepared.residue == {b"left"}
    name = workshop.image_name(task)
    assert name is not None
    built = engine.client.images.get(name)
    assert prepared.image == built.id
    assert built.labels[LABEL_IMAGE] == name.partition(":")[2]
    again = workshop.prepare(task)
    assert (again.image, again.key) == (prepared.image, prepared.key)
    changed = workshop.task({**files, "tool": TOOL + "\n"}, dockerfile="Dockerfile")
    assert workshop.prepare(changed).image != prepared.image


def test_a_devcontainer_gives_image_arguments_variables_and_commands(workshop: Workshop) -> None:
    document = {
        "build": {"dockerfile": "Dockerfile", "context": "..", "args": {"WORD": "given"}},
        "containerEnv": {"FROM_DEVCONTAINER": "${containerWorkspaceFolder}/x"},
        "postCreateCommand": "cat /word >created",
    }
    task = workshop.task(
        {
            ".devcontainer/Dockerfile": DOCKERFILE,
            ".devcontainer/devcontainer.json": f"// one\n{json.dumps(document)}",
            "tool": TOOL,
        },
        "cat created >>later",
        devcontainer=".devcontainer/devcontainer.json",
    )
    _, said = workshop.run(task, workshop.prepare(task), "echo $FROM_DEVCONTAINER; cat later")
    assert said == "/ws/x\ngiven\n"


def test_commands_run_as_the_images_user_if_files_can_be_given_to_them(
    workshop: Workshop, engine: Engine
) -> None:
    if os.geteuid() != 0 or engine.rootless:
        pytest.skip("only root can give files to another user")
    document = json.dumps({"build": {"dockerfile": "Dockerfile"}, "remoteUser": "dev"})
    files = {"Dockerfile": DOCKERFILE, "devcontainer.json": document, "tool": TOOL}
    task = workshop.task(files, "id -u >made", devcontainer="devcontainer.json")
    prepared = workshop.prepare(task)
    result, said = workshop.run(task, prepared, "id -u; cat made; echo new >tool; git status -s")
    assert result.exit_code == 0, said
    assert said.startswith("4321\n4321\n")


def test_dependencies_are_installed_once_and_cannot_be_changed(workshop: Workshop) -> None:
    project = {
        "pyproject.toml": (
            '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
            '[project]\nname = "sample"\nversion = "1"\ndependencies = ["iniconfig"]\n'
        ),
        "src/sample/__init__.py": "WORD = 'base'\n",
    }
    task = workshop.task(
        project, "uv venv -q .venv && uv pip install -q -e .", runtimes={"python": "3.11"}
    )
    prepared = workshop.prepare(task)
    check = ".venv/bin/python -c 'import sample, iniconfig; print(sample.WORD)'"
    damage = "rm -rf .venv/bin 2>&1 | tail -1"
    for word in ("first", "second"):
        change = f"echo \"WORD = '{word}'\" >src/sample/__init__.py"
        _, said = workshop.run(task, prepared, f"{change}; {check}; {damage}")
        assert said.startswith(f"{word}\n")
        assert "Read-only file system" in said


@pytest.mark.parametrize(
    ("dockerfile", "words"),
    [
        (f"FROM {BASE}\nRUN echo about to fail; exit 3\n", "about to fail"),
        (f"FROM {BASE}\nNONSENSE\n", "unknown instruction"),
    ],
)
def test_a_failing_dockerfile_is_told_with_its_output_and_leaves_nothing(
    workshop: Workshop, engine: Engine, dockerfile: str, words: str
) -> None:
    task = workshop.task({"Dockerfile": dockerfile}, dockerfile="Dockerfile")
    with pytest.raises(EnvironmentSetupError, match="image") as told:
        workshop.prepare(task)
    assert words in told.value.where
    assert "Dockerfile" in told.value.remedy
    left = engine.api.containers(all=True)
    assert not [one for one in left if "about to fail" in one["Command"]]


def test_an_image_of_musl_or_of_another_processor_is_refused(
    workshop: Workshop, engine: Engine
) -> None:
    busybox = (
        f"FROM {BASE} AS tools\nRUN apt-get update -qq && apt-get install -y -qq busybox-static\n"
        "FROM scratch\nCOPY --from=tools /bin/busybox /bin/busybox\n"
        "COPY musl /lib/ld-musl-any.so.1\n"
        'RUN ["/bin/busybox", "--install", "-s", "/bin"]\n'
    )
    task = workshop.task({"Dockerfile": busybox, "musl": ""}, dockerfile="Dockerfile")
    with pytest.raises(EnvironmentSetupError, match="musl") as told:
        workshop.prepare(task)
    assert "glibc" in told.value.remedy
    foreign = replace(engine, architecture="s390x")
    with pytest.raises(EnvironmentSetupError, match="this machine is s390x"):
        Images(foreign).named(BASE)


def test_a_task_that_names_no_image_needs_one_to_be_named(workshop: Workshop) -> None:
    with pytest.raises(InvalidInputError, match="names no image") as told:
        workshop.prepare(workshop.task({"a": ""}), image=None)
    assert "--image" in told.value.remedy
    with pytest.raises(EnvironmentSetupError, match="pull the image"):
        workshop.prepare(workshop.task({"a": ""}), image="nanobench.invalid/no/such:image")
    with pytest.raises(EnvironmentSetupError, match=r"no Python 2\.7"):
        workshop.prepare(workshop.task({"a": ""}, runtimes={"python": "2.7"}))


def test_a_full_disk_stops_a_build_before_it_begins(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nanobench.environment.container import engine as engines

    class Usage:
        free = 1 << 20

    monkeypatch.setattr(engines.shutil, "disk_usage", lambda place: Usage)
    task = workshop.task({"Dockerfile": f"FROM {BASE}\n"}, dockerfile="Dockerfile")
    with pytest.raises(EnvironmentSetupError, match="GiB of space left"):
        workshop.prepare(task)
