"""`cargo test`."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from nanobench.dataset.extract.plan import Plan, Step, at_least, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside, subtable
from nanobench.model.task import RuntimeName

_STATING = ("rust-toolchain.toml", "rust-toolchain", "Cargo.toml")
_VERSION = re.compile(
    r"""^(?:channel\s*=\s*["']|rust-version\s*=\s*["'])?([0-9]+(?:\.[0-9]+){1,2})["']?\s*$""", re.M
)
_ANY = ">=1"


def rust_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per crate: its integration tests by name, otherwise those of its library."""
    mine = [path for path in paths if path.endswith(".rs")]
    steps, install = [], []
    crates = grouped(mine, lambda path: tree.nearest(path, ["Cargo.toml"]))
    for crate, files in crates.items():
        options = _cargo_options([below(path, crate) for path in files], crate, tree)
        steps.append(Step("cargo", "Rust", crate, f"cargo test {options}"))
        install.append(in_directory(crate, "cargo fetch"))
    covered = frozenset(path for files in crates.values() for path in files)
    asked = (version for crate in crates for version in _versions(crate, tree))
    runtimes: dict[RuntimeName, str] = {"rust": next(asked, _ANY)} if crates else {}
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), runtimes, covered)


def _versions(crate: str, tree: Tree) -> Iterator[str]:
    """What a crate, and then what lies above it, asks of the compiler."""
    for directory in tree.above(inside(crate, "_"), _STATING):
        for name in _STATING:
            if version := at_least(_VERSION, tree.text(inside(directory, name))):
                yield version


def _cargo_options(files: Sequence[str], crate: str, tree: Tree) -> str:
    """The options that select the programs which files of a crate are compiled into."""
    manifest = tree.toml(inside(crate, "Cargo.toml"))
    named = [entry for entry in _list(manifest.get("test")) if isinstance(entry, dict)]
    alone = subtable(manifest, "package").get("autotests") is False
    targets, features = set(), set[str]()
    for path in files:
        program = next((entry for entry in named if _compiles(entry, path, alone)), None)
        if program is None:
            targets.add(_target(path, crate, tree))
        else:
            targets.add(f"--test {shlex.quote(str(program.get('name')))}")
            features |= set(map(str, _list(program.get("required-features"))))
    needed = [f"--features {shlex.quote(','.join(sorted(features)))}"] if features else []
    return " ".join([*sorted(targets), *needed])


def _compiles(program: dict[str, Any], path: str, alone: bool) -> bool:
    """Whether a program that the manifest names is made of a file.

    Args:
        alone: no file makes a program that the manifest does not name.
    """
    start = str(program.get("path") or f"tests/{program.get('name')}.rs")
    directory, _, name = start.rpartition("/")
    whole = (alone or name == "main.rs") and path.startswith(f"{directory}/")
    return path == start or whole


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _target(path: str, crate: str, tree: Tree) -> str:
    """The option that selects the program a file is compiled into, by its name."""
    parts = path.removesuffix(".rs").split("/")
    if parts[0] != "tests":
        return "--lib" if inside(crate, "src/lib.rs") in tree else "--bins"
    own = len(parts) == 2 or inside(crate, f"tests/{parts[1]}/main.rs") in tree
    # A module in a folder belongs to any of the programs.
    return f"--test {shlex.quote(parts[1])}" if own else "--tests"
