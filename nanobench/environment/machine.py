"""What this machine has and lacks for running benches; each lack with its remedy."""

import platform
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nanobench.environment.container.engine import CONTROLLERS_REMEDY, connect
from nanobench.environment.sandbox import Probe, probe_sandboxes
from nanobench.environment.tool_run import Tool, run_tool
from nanobench.environment.toolchain import NANOCODER_PACKAGE, NODE_WHEEL, UV_REMEDY, Toolchain
from nanobench.errors import NanobenchError
from nanobench.files import StateDirectory, state_error

State = Literal["ok", "degraded", "missing"]
NEEDED_BYTES = 1 << 30
WANTED_BYTES = 10 << 30
ASK_SECONDS = 60.0

_SANDBOX_REMEDIES = {
    "bubblewrap": "install the system package `bubblewrap`; if it is installed but refused, allow "
    "unprivileged user namespaces "
    "(`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu)",
    "namespaces": "allow user namespaces, with `unshare` and `setpriv` of util-linux 2.36 or later",
    "none": "run on Linux, macOS or WSL2",
}
_SANDBOX_GIVES = {
    "bubblewrap": "full isolation: private files, processes and network",
    "namespaces": "processes and network are isolated, files are not",
    "none": "processes are contained, nothing is isolated",
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at; a bench cannot run when a `required` one is missing."""

    name: str
    state: State
    seen: str
    remedy: str = ""
    required: bool = False


def examine(state: StateDirectory, nanocoder: str, online: bool = False) -> tuple[Finding, ...]:
    """Look at everything a bench uses.

    Args:
        state: where caches lie.
        nanocoder: the version of Nanocoder that runs by default.
        online: also ask the package registries.
    """
    toolchain = Toolchain(state.tools)
    findings = [
        Finding("python", "ok", platform.python_version(), required=True),
        _asked("git", lambda: _version("git")),
        _asked("uv", lambda: _version(toolchain.uv)),
        _asked("node", lambda: toolchain.node_version),
        _nanocoder(toolchain, nanocoder),
        *(_sandbox(probe, probe_sandboxes()) for probe in probe_sandboxes()),
        _engine(),
        _state_directory(state),
    ]
    if online:
        findings += _registries(toolchain, nanocoder)
    return tuple(findings)


def can_run(findings: tuple[Finding, ...]) -> bool:
    """Whether a bench can run on this machine."""
    return not any(finding.required and finding.state == "missing" for finding in findings)


def _asked(name: str, ask: Callable[[], str], required: bool = True) -> Finding:
    try:
        return Finding(name, "ok", ask(), required=required)
    except NanobenchError as error:
        return Finding(name, "missing", error.what, error.remedy, required=required)


def _version(program: str | Path) -> str:
    ask = Tool(
        f"run {program}", [program, "--version"], f"install {program}", timeout_seconds=ASK_SECONDS
    )
    return run_tool(ask).strip().splitlines()[0]


def _nanocoder(toolchain: Toolchain, version: str) -> Finding:
    if toolchain.has_nanocoder(version):
        return Finding("nanocoder", "ok", f"{version} is installed")
    return Finding(
        "nanocoder",
        "degraded",
        f"{version} is not installed yet",
        "nothing to do: the first run installs it from the npm registry",
    )


def _sandbox(probe: Probe, probes: tuple[Probe, ...]) -> Finding:
    name = "supervision" if probe.name == "none" else probe.name
    if probe.sandbox is not None:
        return Finding(name, "ok", _SANDBOX_GIVES[probe.name])
    nothing_works = all(other.sandbox is None for other in probes)
    return Finding(
        name,
        "missing",
        probe.problem,
        _SANDBOX_REMEDIES[probe.name],
        required=probe.name == "none" and nothing_works,
    )


def _engine() -> Finding:
    remedy = "only tasks with the container strategy need it: "
    try:
        engine = connect()
        engine.close()
        engine.check_space()
    except NanobenchError as error:
        return Finding("container engine", "missing", error.what, remedy + error.remedy)
    kind = "rootless" if engine.rootless else "rootful"
    seen = f"{engine.version}, {kind}, {engine.architecture}"
    lacking = sorted({"pids", "memory", "cpu"} - engine.controllers)
    if lacking:
        seen += f"; it cannot limit {', '.join(lacking)}"
        return Finding("container engine", "degraded", seen, remedy + CONTROLLERS_REMEDY)
    return Finding("container engine", "ok", seen)


def _state_directory(state: StateDirectory) -> Finding:
    remedy = "free some space, or choose another directory (--state-dir, NANOBENCH_STATE_DIR)"
    try:
        with tempfile.TemporaryFile(dir=state.root):
            pass
        free = shutil.disk_usage(state.root).free
    except OSError as error:
        seen = f"{state.root}: {state_error(error, state.root).what}"
        return Finding("state directory", "missing", seen, remedy, required=True)
    level: State = "ok" if free >= WANTED_BYTES else "degraded"
    if free < NEEDED_BYTES:
        level = "missing"
    seen = f"{state.root}: {free / (1 << 30):.1f} GiB free"
    return Finding("state directory", level, seen, "" if level == "ok" else remedy, required=True)


def _registries(toolchain: Toolchain, nanocoder: str) -> list[Finding]:
    def npm() -> str:
        package = f"{NANOCODER_PACKAGE}@{nanocoder}"
        argv = ["view", package, "version", "--prefer-online", "--fetch-retries=1"]
        return "has Nanocoder " + toolchain.npm("ask the npm registry", argv, Path("/")).strip()

    def index() -> str:
        with tempfile.TemporaryDirectory(prefix="nanobench-doctor-") as place:
            wish = Path(place, "wish.in")
            wish.write_text(f"{NODE_WHEEL}\n")
            argv: list[str | Path] = [toolchain.uv, "pip", "compile", "-q", "--no-config"]
            argv += ["--no-header", "--no-deps"]
            tool = Tool(
                "ask the Python package index", [*argv, wish, "--refresh"], UV_REMEDY,
                env={"UV_CACHE_DIR": place}, timeout_seconds=ASK_SECONDS,
            )  # fmt: skip
            return "has " + run_tool(tool).strip().splitlines()[0]

    return [
        _asked("npm registry", npm, required=False),
        _asked("Python package index", index, required=False),
    ]
