"""Compilers of the machine: which one is taken, and what builds are told."""

from pathlib import Path

import pytest

from nanobench.environment import compilers
from nanobench.environment.compilers import find_compiler, has_compiled, install_env, using_env
from nanobench.errors import EnvironmentSetupError

GO = """#!/bin/sh
case $1 in
  version) echo go version go{0} linux/amd64 ;;
  env) echo {1} ;;
esac
"""


def make_go(root: Path, version: str) -> Path:
    for name in ("go", "gofmt"):
        program = root / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(GO.format(version, root))
        program.chmod(0o755)
    return root


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose PATH has Go 1.21.3, and whose home has 1.24.1 as well."""
    old = make_go(tmp_path / "old", "1.21.3")
    new = make_go(tmp_path / "sdk/go1.24.1", "1.24.1")
    monkeypatch.setenv("PATH", f"{old / 'bin'}:/usr/bin:/bin")
    places = {"~/sdk/go*": [new]}
    monkeypatch.setattr(compilers, "_globbed", lambda pattern: places.get(pattern, []))
    return tmp_path


def test_the_first_that_fits_is_taken(machine: Path) -> None:
    assert find_compiler("go", ">=1.20").version == "1.21.3"
    found = find_compiler("go", "1.24")
    assert (found.version, found.roots) == ("1.24.1", (machine / "sdk/go1.24.1",))
    assert found.programs["gofmt"] == machine / "sdk/go1.24.1/bin/gofmt"


@pytest.mark.usefixtures("machine")
def test_what_is_here_is_told_when_nothing_fits() -> None:
    with pytest.raises(EnvironmentSetupError, match=r"for go 1\.9, here is 1\.21\.3, .*1\.24\.1"):
        find_compiler("go", "1.9")


def test_a_program_that_does_not_run_is_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "rustc"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no toolchain is installed >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:/usr/bin:/bin")
    monkeypatch.setattr(compilers, "_globbed", lambda pattern: [])
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "none"))
    with pytest.raises(EnvironmentSetupError, match="for rust 1, here is none"):
        find_compiler("rust", "1")


def test_use_is_offline_and_install_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", "https://proxy.example")
    installing = install_env(compilers.NAMES, "/deps", "/run")
    using = using_env(compilers.NAMES, "/deps", "/run", compiled=True)
    assert (installing["GOPROXY"], using["GOPROXY"]) == ("https://proxy.example", "off")
    assert (using["CARGO_NET_OFFLINE"], using["MAVEN_ARGS"]) == ("true", "-o")
    assert using["GOMODCACHE"] == installing["GOMODCACHE"] == "/deps/go"
    assert using["CARGO_HOME"] == installing["CARGO_HOME"] == "/deps/cargo"
    assert using["CARGO_TARGET_DIR"].startswith("/run/")


def test_a_build_cache_is_shared_only_if_the_install_filled_it(tmp_path: Path) -> None:
    assert not has_compiled(tmp_path)
    (tmp_path / "go-build/7a").mkdir(parents=True)
    assert not has_compiled(tmp_path)
    (tmp_path / "go-build/7a/7abc-d").touch()
    assert has_compiled(tmp_path)
    assert using_env(("go",), "/deps", "/run", compiled=True)["GOCACHE"] == "/deps/go-build"
    assert using_env(("go",), "/deps", "/run", compiled=False)["GOCACHE"] == "/run/cache/go-build"


def test_a_gradle_that_the_install_downloaded_is_found_in_a_home_that_can_be_written(
    tmp_path: Path,
) -> None:
    name = "wrapper/dists/gradle-8.14-bin/a3n316"
    there = tmp_path / "deps" / "gradle" / name
    (there / "gradle-8.14" / "lib").mkdir(parents=True)
    for suffix in ("ok", "lck"):
        (there / f"gradle-8.14-bin.zip.{suffix}").touch()
    run = tmp_path / "run"
    outside = tmp_path / "outside"
    for path in (run, outside):
        path.mkdir()
    (run / "cache").symlink_to(outside)  # by a command of the install
    for _ in range(2):
        compilers.lay_gradle(tmp_path / "deps", "/seen", run)
    home = run / "cache" / "gradle" / name
    links = {path.name: str(path.readlink()) for path in home.iterdir()}
    assert links == {
        "gradle-8.14": f"/seen/gradle/{name}/gradle-8.14",
        "gradle-8.14-bin.zip.ok": f"/seen/gradle/{name}/gradle-8.14-bin.zip.ok",
    }
    assert list(outside.iterdir()) == []


def test_tasks_without_compilers_get_no_variables() -> None:
    assert using_env((), "/deps", "/run", compiled=False) == {}
    assert install_env((), "/deps", "/run").keys() <= set(compilers.MIRROR_VARIABLES)
