"""A task's dependencies: installed once, used by many workspaces, the same in all of them."""

import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nanobench.environment.native import NativeEnvironment
from nanobench.environment.protocol import Prepared
from nanobench.environment.sandbox import Sandbox
from nanobench.environment.shared import DESCRIPTION
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import EnvironmentSetupError
from nanobench.model.task import Task

pytestmark = pytest.mark.real

PYTHON_PROJECT = {
    "pyproject.toml": (
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "sample"\nversion = "1"\ndependencies = ["iniconfig"]\n'
    ),
    "src/sample/__init__.py": "WORD = 'base'\n",
}
NODE_PROJECT = {
    "package.json": json.dumps(
        {"name": "app", "private": True, "dependencies": {"dep": "file:./vendor/dep"}}
    ),
    "vendor/dep/package.json": json.dumps({"name": "dep", "version": "1.0.0", "main": "i.js"}),
    "vendor/dep/i.js": "module.exports = 'base';\n",
    ".gitignore": "node_modules\n",
}


def test_editable_python_install_imports_the_code_of_each_workspace(
    sandbox: Sandbox, bench: Any
) -> None:
    install = "uv venv -q .venv && uv pip install -q -e . pytest"
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    task = bench.task(PYTHON_PROJECT, install, runtimes={"python": python})
    prepared = bench.prepare(sandbox, task)
    for word in ("first", "second"):
        workspace, run_dir = bench.workspace(task)
        (workspace / "src/sample/__init__.py").write_text(f"WORD = {word!r}\n")
        (workspace / "test_it.py").write_text(
            f"import sample, iniconfig\ndef test_it():\n    assert sample.WORD == {word!r}\n"
        )
        with prepared.open(workspace, run_dir) as room:
            result, output = bench.run(room, ".venv/bin/python", "-m", "pytest", "-q")
            assert result.exit_code == 0, output
            assert "1 passed" in output
            assert b".venv" in room.residue


def test_npm_install_serves_each_workspace(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task(NODE_PROJECT, "npm install --no-audit --no-fund --ignore-scripts")
    prepared = bench.prepare(sandbox, task)
    for word in ("first", "second"):
        workspace, run_dir = bench.workspace(task)
        (workspace / "vendor/dep/i.js").write_text(f"module.exports = '{word}';\n")
        with prepared.open(workspace, run_dir) as room:
            result, output = bench.run(room, "node", "-e", "console.log(require('dep'))")
            assert (result.exit_code, output) == (0, f"{word}\n")
            assert {b"node_modules", b"package-lock.json"} <= room.residue
            assert (workspace / "package-lock.json").is_file()


def test_pnpm_of_the_task_s_version_installs_offline_links(sandbox: Sandbox, bench: Any) -> None:
    files = {
        "package.json": json.dumps(
            {"name": "app", "private": True, "dependencies": {"dep": "workspace:*"}}
        ),
        "pnpm-workspace.yaml": "packages:\n  - packages/*\nverifyDepsBeforeRun: install\n",
        "packages/dep/package.json": json.dumps(
            {"name": "dep", "version": "1.0.0", "main": "i.js"}
        ),
        "packages/dep/i.js": "module.exports = 'dep';\n",
    }
    task = bench.task(files, "pnpm install", runtimes={"pnpm": "10.34.4"})
    prepared = bench.prepare(sandbox, task)
    workspace, run_dir = bench.workspace(task)
    with prepared.open(workspace, run_dir) as room:
        _, output = bench.run(room, "pnpm", "--version")
        assert output == "10.34.4\n"
        result, output = bench.run(
            room, "pnpm", "exec", "node", "-e", "console.log(require('dep'))"
        )
        assert (result.exit_code, output) == (0, "dep\n")
        assert not (workspace / ".pnpm-store").exists()


def test_mounted_dependencies_are_read_only_but_tool_caches_are_not(
    bubblewrap: Sandbox, bench: Any
) -> None:
    task = bench.task(NODE_PROJECT, "npm install --no-audit --no-fund --ignore-scripts")
    prepared = bench.prepare(bubblewrap, task)
    workspace, run_dir = bench.workspace(task)
    with prepared.open(workspace, run_dir) as room:
        result, _ = bench.run(room, "touch", "node_modules/x")
        assert result.exit_code != 0
        result, output = bench.run(room, "touch", "node_modules/.vite-temp/x")
        assert result.exit_code == 0, output
    assert not (workspace / "node_modules").exists()


def test_environment_is_installed_once_for_all_who_ask(bubblewrap: Sandbox, bench: Any) -> None:
    count = 'echo installed >> "$(dirname $UV_CACHE_DIR)/count"'
    task = bench.task({"a": "1"}, f"sleep 0.5; {count}; mkdir node_modules; touch node_modules/x")
    snapshot = bench.snapshot(task)
    found: list[Prepared] = []

    def prepare() -> None:
        environment = NativeEnvironment(bench.state, bench.toolchain, bubblewrap)
        found.append(environment.prepare(task, snapshot))

    threads = [threading.Thread(target=prepare) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({prepared.key for prepared in found}) == 1
    assert len(found) == 3
    counts = [path.read_text() for path in bench.toolchain.caches.glob("*/count")]
    assert counts == ["installed\n"]


def test_failed_install_names_the_command_and_shows_its_last_words(
    sandbox: Sandbox, bench: Any
) -> None:
    task = bench.task({"a": "1"}, "echo fine", "echo no such package >&2; exit 4")
    with pytest.raises(EnvironmentSetupError, match="exited with 4") as caught:
        bench.prepare(sandbox, task).open(*bench.workspace(task))
    assert "no such package" in caught.value.where
    assert "the connection to the package registries" in caught.value.remedy
    left = [path.name for path in bench.state.environments.iterdir()]
    assert all(name.endswith(".lock") for name in left)


def test_a_program_that_an_install_misses_is_one_to_name(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task({"a": "1"}, "no-such-manager install")
    with pytest.raises(EnvironmentSetupError, match="exited with 127") as caught:
        bench.prepare(sandbox, task).open(*bench.workspace(task))
    assert "environment.runtimes" in caught.value.remedy


def test_install_that_never_ends_is_ended(sandbox: Sandbox, bench: Any, marker: str) -> None:
    task = bench.task({"a": "1"}, f"sleep {marker}", install_timeout_seconds=1)
    with pytest.raises(EnvironmentSetupError, match="did not end within 1 s"):
        bench.prepare(sandbox, task).open(*bench.workspace(task))


def test_half_written_environment_is_built_again(bubblewrap: Sandbox, bench: Any) -> None:
    task = bench.task({"a": "1"}, "echo made > made.txt")
    key = NativeEnvironment(bench.state, bench.toolchain, bubblewrap).key(task)
    for name in (key, f".{key}.partial"):
        (bench.state.environments / name / "files").mkdir(parents=True)
    prepared = bench.prepare(bubblewrap, task)
    assert prepared.residue == {b"made.txt"}


def test_environment_that_another_version_described_is_built_again(
    bubblewrap: Sandbox, bench: Any
) -> None:
    task = bench.task({"a": "1"}, "echo made > made.txt")
    key = bench.prepare(bubblewrap, task).key
    (bench.state.environments / key / DESCRIPTION).write_text('{"files": [], "since": 1}')
    assert bench.prepare(bubblewrap, task).residue == {b"made.txt"}


def test_what_an_install_leaves_is_told_from_the_base(sandbox: Sandbox, bench: Any) -> None:
    files = {"lock": "base\n", "run.sh": "#!/bin/sh\n", "pkg/code.py": "x = 1\n"}
    install = (
        "echo changed > lock; rm run.sh; mkdir -p pkg/gen big.egg-info pkg/__pycache__;"
        "echo v > pkg/_version.py; echo g > pkg/gen/g.py; echo e > big.egg-info/PKG-INFO;"
        "touch pkg/__pycache__/code.pyc; ln -s /etc/passwd link"
    )
    task = bench.task(files, install)
    prepared = bench.prepare(sandbox, task)
    workspace, run_dir = bench.workspace(task)
    with prepared.open(workspace, run_dir) as room:
        expected = {b"pkg/_version.py", b"pkg/gen/g.py", b"big.egg-info/PKG-INFO", b"link"}
        assert room.residue == expected
        result, output = bench.run(room, "cat", "lock", "pkg/_version.py", "pkg/gen/g.py")
        assert (result.exit_code, output) == (0, "base\nv\ng\n")
    assert (workspace / "link").is_symlink()


def test_changed_residue_is_not_overwritten(bubblewrap: Sandbox, bench: Any) -> None:
    task = bench.task({"a": "1"}, "echo generated > version.txt")
    prepared = bench.prepare(bubblewrap, task)
    workspace, run_dir = bench.workspace(task)
    (workspace / "version.txt").write_text("edited\n")
    prepared.open(workspace, run_dir)
    assert (workspace / "version.txt").read_text() == "edited\n"


def test_links_in_the_way_of_dependencies_lead_nowhere(
    bubblewrap: Sandbox, bench: Any, tmp_path: Path
) -> None:
    install = "mkdir -p pkg/node_modules && echo x > pkg/node_modules/x && echo v > pkg/version"
    task = bench.task({"pkg/a": "1"}, install)
    prepared = bench.prepare(bubblewrap, task)
    workspace, run_dir = bench.workspace(task)
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "pkg" / "a").unlink()
    (workspace / "pkg").rmdir()
    (workspace / "pkg").symlink_to(outside)
    with prepared.open(workspace, run_dir) as room:
        result, output = bench.run(room, "cat", "pkg/node_modules/x", "pkg/version")
        assert (result.exit_code, output) == (0, "x\nv\n")
    assert list(outside.iterdir()) == []


def test_missing_program_and_directory_are_the_command_s_failure(
    sandbox: Sandbox, bench: Any
) -> None:
    task = bench.task({"a": "1"})
    workspace, run_dir = bench.workspace(task)
    with bench.prepare(sandbox, task).open(workspace, run_dir) as room:
        result, _ = bench.run(room, "no-such-program")
        assert (result.exit_code, result.launched) == (127, True)
        result, _ = bench.run(room, "true", cwd="no/such/directory")
        assert (result.exit_code, result.launched) == (126, True)


def test_home_and_temporary_files_lie_in_the_run_directory(
    sandbox: Sandbox, bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SECRET_TOKEN", "canary")
    write = 'echo x > "$HOME/h" && mkdir -p ~/.npm && mktemp && git config --global a.b c && env'
    task = bench.task({"a": "1"}, write)
    workspace, run_dir = bench.workspace(task)
    with bench.prepare(sandbox, task).open(workspace, run_dir) as room:
        result, output = bench.run(room, "/bin/sh", "-c", write)
        assert result.exit_code == 0, output
        assert "canary" not in output
        assert f"{room.run_path}/tmp/" in output
    assert list(home.iterdir()) == []
    assert (run_dir / "home" / "h").is_file()


def test_agent_can_commit_in_a_workspace(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task({"a": "1"})
    workspace, run_dir = bench.workspace(task)
    with bench.prepare(sandbox, task).open(workspace, run_dir) as room:
        result, output = bench.run(room, "/bin/sh", "-c", "echo 2 > a; git commit -qam work")
        assert result.exit_code == 0, output


def test_nanocoder_is_installed_from_its_lock_and_repaired(toolchain: Toolchain) -> None:
    assert toolchain.nanocoder_locked("1.30.0")
    entry = toolchain.nanocoder("1.30.0")
    assert entry.is_file()
    entry.unlink()
    assert not toolchain.has_nanocoder("1.30.0")
    assert toolchain.nanocoder("1.30.0").is_file()
    assert any(toolchain.compile_cache("1.30.0").rglob("*")), "nothing was compiled"


def test_unknown_version_of_nanocoder_is_a_clear_error(toolchain: Toolchain) -> None:
    with pytest.raises(EnvironmentSetupError, match=r"0\.0\.0-none") as caught:
        toolchain.nanocoder("0.0.0-none")
    assert "ETARGET" in caught.value.where
    assert not toolchain.has_nanocoder("0.0.0-none")


def test_another_node_comes_from_the_package_index(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task({"a": "1"}, runtimes={"node": "22.20"})
    workspace, run_dir = bench.workspace(task)
    with bench.prepare(sandbox, task).open(workspace, run_dir) as room:
        _, output = bench.run(room, "node", "--version")
        assert output.startswith("v22.20.")


def test_python_that_cannot_be_had_is_a_clear_error(bench: Any, sandbox: Sandbox) -> None:
    task = bench.task({"a": "1"}, runtimes={"python": "3.99"})
    with pytest.raises(EnvironmentSetupError, match=r"Python 3\.99") as caught:
        bench.prepare(sandbox, task)
    assert "pyenv" in caught.value.remedy


def test_key_changes_with_all_that_dependencies_come_from(bubblewrap: Sandbox, bench: Any) -> None:
    task = bench.task({"a": "1"}, "true")
    environment = NativeEnvironment(bench.state, bench.toolchain, bubblewrap)
    variants: Sequence[Task] = [
        task,
        *(
            task.model_copy(
                update={"environment": task.environment.model_copy(update={name: value})}
            )
            for name, value in (
                ("install", ("false",)),
                ("env", {"A": "b"}),
                ("runtimes", {"node": "22.20"}),
                ("exclude_newer", task.merged_at.replace(year=2025)),
            )
        ),
        task.model_copy(update={"base_commit": "0" * 40}),
    ]
    keys = [environment.key(variant) for variant in variants]
    assert len(set(keys)) == len(variants)
    assert environment.key(task) == keys[0]


def test_floating_dependencies_stop_at_the_task_s_date(bubblewrap: Sandbox, bench: Any) -> None:
    files = {"package.json": json.dumps({"name": "a", "dependencies": {"semver": "*"}})}
    install = (
        "uv venv -q .venv && uv pip install -q pytest && npm install --no-audit --ignore-scripts"
    )
    task = bench.task(files, install, exclude_newer="2024-01-15T00:00:00Z")
    prepared = bench.prepare(bubblewrap, task)
    workspace, run_dir = bench.workspace(task)
    with prepared.open(workspace, run_dir) as room:
        _, output = bench.run(
            room, ".venv/bin/python", "-c", "import pytest; print(pytest.__version__)"
        )
        assert output == "7.4.4\n"
        _, output = bench.run(room, "node", "-p", "require('semver/package.json').version")
    # A registry that lost the dates of old versions cannot be bound, and that is told.
    assert (output == "7.5.4\n") != (prepared.undated == (install,))


def test_rooms_do_not_leave_variables_of_the_install(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task({"a": "1"}, "true")
    workspace, run_dir = bench.workspace(task)
    with bench.prepare(sandbox, task).open(workspace, run_dir) as room:
        names = set(room.base_env)
    assert not names & {"UV_CACHE_DIR", "SSL_CERT_FILE", "npm_config_before", "CI"}
    assert os.environ["PATH"] != room.base_env["PATH"]
