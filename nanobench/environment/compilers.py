"""Go, Rust and Java: found on the machine, since they are too large to be brought along.

What a build downloads goes to one directory beside the source: writable while dependencies are
installed, read-only and without the network afterwards. What it compiles stays in the room.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nanobench.environment.leftovers import real_directory
from nanobench.environment.tool_run import Tool, run_tool
from nanobench.errors import EnvironmentSetupError

NAMES = ("go", "rust", "java")
# Passed to installs only: which mirror is asked is the machine's affair.
MIRROR_VARIABLES = (
    "CARGO_HTTP_CAINFO", "CARGO_HTTP_PROXY", "CARGO_REGISTRIES_CRATES_IO_PROTOCOL",
    "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB",
)  # fmt: skip
_VERSION = re.compile(r"(?:go|rustc |version \")(\d+(?:\.\d+)*)")
_ASK_SECONDS = 60.0
_GO_CACHE = "go-build"
_GRADLE_DISTRIBUTIONS = "gradle/wrapper/dists"


@dataclass(frozen=True)
class Compiler:
    """A toolchain of the machine.

    Args:
        version: full, such as `1.24.2`.
        programs: path by name, for PATH.
        roots: what a sandbox must show at the same path.
        env: variables that its programs need.
    """

    version: str
    programs: Mapping[str, Path]
    roots: tuple[Path, ...]
    env: Mapping[str, str] = field(default_factory=dict)


def find_compiler(name: str, wanted: str) -> Compiler:
    """The first toolchain of the machine whose version begins with `wanted`, or is `>=` it.

    Raises:
        EnvironmentSetupError: there is none; the error names what there is.
    """
    seen = []
    for compiler in _FINDERS[name]():
        if fits(compiler.version, wanted):
            return compiler
        seen.append(compiler.version)
    here = f"here is {', '.join(dict.fromkeys(seen))}" if seen else "here is none"
    raise EnvironmentSetupError(
        f"the task asks for {name} {wanted}, {here}",
        remedy=f"install {name} {wanted} on this machine, or run the task in a container",
    )


def fits(version: str, wanted: str) -> bool:
    """Whether a full version is `>=X.Y.Z` or begins with the numbers of `X.Y`."""
    least = wanted.removeprefix(">=").strip()
    if not re.fullmatch(r"\d+(\.\d+){0,2}", least):
        return False
    have, numbers = ([int(part) for part in text.split(".")] for text in (version, least))
    return have >= numbers if wanted.startswith(">=") else have[: len(numbers)] == numbers


def using_env(names: tuple[str, ...], deps: str, run: str, compiled: bool) -> dict[str, str]:
    """Variables with which builds find what was downloaded to `deps`, and download nothing.

    Args:
        names: of the compilers that are used.
        deps: as commands see it.
        run: the run directory as commands see it.
        compiled: whether the install compiled something, which Go then reads from a cache that
            it need not be able to write; else each room compiles for itself.
    """
    go = _go(deps, deps if compiled else f"{run}/cache")
    if compiled:  # else it insists on writing an index of what it reads into the cache
        go["GODEBUG"] = "goindex=0"
    return _chosen(
        names,
        go={**go, "GOPROXY": "off", "GOFLAGS": "-mod=readonly"},
        rust={**_rust(deps, run), "CARGO_NET_OFFLINE": "true"},
        java={
            **_maven(deps),
            "MAVEN_ARGS": "-o",
            "GRADLE_USER_HOME": f"{run}/cache/gradle",
            "GRADLE_RO_DEP_CACHE": f"{deps}/gradle/caches",
        },
    )


def install_env(names: tuple[str, ...], deps: str, run: str) -> dict[str, str]:
    """Variables with which builds download to `deps`, from where the machine's user does."""
    given = {name: os.environ[name] for name in MIRROR_VARIABLES if name in os.environ}
    return given | _chosen(
        names,
        # Otherwise what is downloaded cannot be removed.
        go={**_go(deps, deps), "GOFLAGS": "-mod=readonly -modcacherw"},
        rust=_rust(deps, run),
        java={**_maven(deps), "GRADLE_USER_HOME": f"{deps}/gradle"},
    )


def _chosen(names: tuple[str, ...], **by_name: Mapping[str, str]) -> dict[str, str]:
    return {key: value for name in names for key, value in by_name[name].items()}


def lay_gradle(kept: Path, deps: str, run_dir: Path) -> None:
    """Let a project's Gradle wrapper find the Gradle that the install downloaded.

    It looks in a home in which it must be able to lock, so that links lead from there.

    Args:
        kept: the downloaded dependencies on the host.
        deps: the same as commands see it.
        run_dir: of the room, on the host.
    """
    for place in sorted((kept / _GRADLE_DISTRIBUTIONS).glob("*/*/")):
        relative = place.relative_to(kept / "gradle")
        home = real_directory(run_dir, Path("cache/gradle", relative))
        for entry in sorted(place.iterdir()):
            if (entry.is_dir() or entry.suffix == ".ok") and not os.path.lexists(home / entry.name):
                (home / entry.name).symlink_to(f"{deps}/gradle/{relative}/{entry.name}")


def has_compiled(deps: Path) -> bool:
    """Whether an install left compiled packages of Go."""
    return any((deps / _GO_CACHE).glob("*/*-d"))


def _go(deps: str, cache: str) -> dict[str, str]:
    return {
        "GOMODCACHE": f"{deps}/go",
        "GOCACHE": f"{cache}/{_GO_CACHE}",
        "GOTOOLCHAIN": "local",
        "GOTELEMETRY": "off",
    }


def _rust(deps: str, run: str) -> dict[str, str]:
    """The results of a build lie outside the tree, which they would fill."""
    return {"CARGO_HOME": f"{deps}/cargo", "CARGO_TARGET_DIR": f"{run}/cache/cargo-target"}


def _maven(deps: str) -> dict[str, str]:
    """The second is where a project's wrapper keeps the Maven that it brings."""
    return {
        "MAVEN_OPTS": f"-Dmaven.repo.local={deps}/maven",
        "MAVEN_USER_HOME": f"{deps}/maven-user",
    }


def _find_go() -> Iterator[Compiler]:
    places = [*_globbed("/usr/local/go"), *_globbed("/usr/lib/go-*"), *_globbed("~/sdk/go*")]
    for go in _programs("go", [place / "bin" for place in places]):
        version = _version([go, "version"])
        root = Path(_ask([go, "env", "GOROOT"]).strip())
        programs = {name: root / "bin" / name for name in ("go", "gofmt")}
        if version and programs["go"].is_file():
            yield Compiler(version, programs, (root.resolve(),))


def _find_rust() -> Iterator[Compiler]:
    home = Path(os.environ.get("RUSTUP_HOME") or "~/.rustup").expanduser()
    cargo = Path(os.environ.get("CARGO_HOME") or "~/.cargo").expanduser()
    places = [place / "bin" for place in _globbed(str(home / "toolchains/*"))]
    for rustc in _programs("rustc", [*places, cargo / "bin"]):
        # Of rustup's proxies only the toolchain behind them is of use in a sandbox.
        root = Path(_ask([rustc, "--print", "sysroot"]).strip())
        version = _version([root / "bin" / "rustc", "--version"])
        if version:
            programs = {path.name: path for path in sorted((root / "bin").iterdir())}
            yield Compiler(version, programs, (root.resolve(),))


def _find_java() -> Iterator[Compiler]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += _globbed("/usr/lib/jvm/*")
    for java in _programs("java", [home / "bin" for home in homes]):
        home = java.resolve().parents[1]
        version = _version([home / "bin" / "java", "-version"])
        if not version or not (home / "bin" / "javac").is_file():
            continue
        programs = {path.name: path for path in sorted((home / "bin").iterdir())}
        roots = [home, *sorted(set(_linked(home)))]
        for name in ("mvn", "gradle"):
            found = shutil.which(name)
            if found:
                program = Path(found).resolve()
                programs[name] = program
                roots += [program.parents[1], *sorted(set(_linked(program.parents[1])))]
        yield Compiler(version, programs, tuple(dict.fromkeys(roots)), {"JAVA_HOME": str(home)})


_FINDERS = {"go": _find_go, "rust": _find_rust, "java": _find_java}


def _linked(home: Path) -> Iterator[Path]:
    """Where links of an installation lead out of it: distributions keep settings in /etc."""
    for path in (*home.iterdir(), *home.glob("conf/**/*"), *home.glob("lib/**/*")):
        if path.is_symlink() and (target := path.resolve()).is_relative_to("/etc"):
            whole = target.is_dir() or target.parent == Path("/etc")
            yield target if whole else target.parent


def _globbed(pattern: str) -> list[Path]:
    expanded = Path(pattern).expanduser()
    return sorted(expanded.parent.glob(expanded.name), reverse=True)


def _programs(name: str, places: list[Path]) -> Iterator[Path]:
    found = shutil.which(name)
    yield from ([Path(found)] if found else [])
    yield from (place / name for place in places if (place / name).is_file())


def _version(argv: list[str | Path]) -> str | None:
    found = _VERSION.search(_ask(argv))
    return found[1] if found else None


def _ask(argv: list[str | Path]) -> str:
    """What a program says, on whichever stream; empty if it cannot be run."""
    script = ["/bin/sh", "-c", 'exec "$@" 2>&1', "nanobench", *argv]
    tool = Tool(f"run {argv[0]}", script, "reinstall it", timeout_seconds=_ASK_SECONDS)
    try:
        return run_tool(tool)
    except EnvironmentSetupError:
        return ""
