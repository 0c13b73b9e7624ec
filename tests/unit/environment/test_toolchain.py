import importlib.resources
import json
import re
import subprocess
from pathlib import Path

import pytest

from nanobench.environment.tool_run import Tool, log_tail, run_tool
from nanobench.environment.toolchain import NANOCODER_PACKAGE, Toolchain
from nanobench.errors import EnvironmentSetupError
from nanobench.model.plan import AgentSettings


def test_default_nanocoder_is_locked_whole() -> None:
    version = AgentSettings().nanocoder
    folder = importlib.resources.files("nanobench.environment") / "locks" / f"nanocoder-{version}"
    lock = json.loads((folder / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages[f"node_modules/{NANOCODER_PACKAGE}"]["version"] == version
    unpinned = [name for name, entry in packages.items() if "integrity" not in entry]
    assert unpinned == []


def test_lock_names_no_registry() -> None:
    for path in Path(str(importlib.resources.files("nanobench.environment") / "locks")).rglob("*"):
        if path.is_file():
            assert not re.search(r'"resolved"|registry', path.read_text()), path


def test_shims_run_node_and_npm_whatever_path_says(tmp_path: Path) -> None:
    toolchain = Toolchain(tmp_path)
    env = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    shims = toolchain.bin()
    said = subprocess.run([shims / "node", "--version"], env=env, capture_output=True, text=True)
    assert said.stdout.strip() == f"v{toolchain.node_version}"
    assert int(toolchain.node_version.split(".")[0]) >= 22
    said = subprocess.run([shims / "npm", "--version"], env=env, capture_output=True, text=True)
    assert re.fullmatch(r"\d+\.\d+\.\d+\s*", said.stdout), said.stderr


def test_pinned_interpreter_does_not_reach_uv_pip(tmp_path: Path) -> None:
    """Otherwise `uv pip install` would go into the base interpreter, not into `.venv`."""
    toolchain = Toolchain(tmp_path)
    report = tmp_path / "uv"
    report.write_text('#!/bin/sh\necho "${UV_PYTHON-unset} $*"\n')
    report.chmod(0o755)
    toolchain.__dict__["uv"] = report
    shim = toolchain.bin() / "uv"

    def said(*arguments: str) -> str:
        done = subprocess.run(
            [shim, *arguments], env={"UV_PYTHON": "/py"}, capture_output=True, text=True
        )
        return done.stdout

    assert said("venv", ".venv") == "/py venv .venv\n"
    assert said("-q", "pip", "install", "a b") == "unset -q pip install a b\n"


def test_failure_of_a_tool_says_what_where_and_what_to_do() -> None:
    tool = Tool("do it", ["/bin/sh", "-c", "echo reason >&2; exit 9"], "try otherwise")
    with pytest.raises(EnvironmentSetupError, match="cannot do it: sh exited with 9") as caught:
        run_tool(tool)
    assert (caught.value.where, caught.value.remedy) == ("reason", "try otherwise")


def test_tool_that_is_not_installed_is_named() -> None:
    with pytest.raises(EnvironmentSetupError, match="no-such-tool is not installed"):
        run_tool(Tool("do it", ["no-such-tool"], "install it"))


def test_credentials_in_addresses_do_not_reach_an_error(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x" * 5000 + " GET https://user:s3cret@host.invalid/pkg 401")
    tail = log_tail(log, tmp_path / "absent")
    assert "s3cret" not in tail
    assert tail.endswith("GET https://host.invalid/pkg 401")
    assert len(tail) <= 2000
