"""`go test`, `cargo test`, Gradle and Maven."""

import posixpath
import re
import shlex
from collections.abc import Sequence
from typing import Any

from nanobench.dataset.extract.plan import Plan, Step, at_least, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside, subtable

_GO_VERSION = re.compile(r"^go\s+([0-9]+\.[0-9]+)", re.M)
_GO_DATA = re.compile(r"(?:(.*?)/)?testdata/")
_JVM_TEST = re.compile(r"(?:^|/)src/([^/]*[tT]est[^/]*)/(?:java|kotlin|groovy|scala)/(.+)\.[a-z]+$")
_NOT_RUN = ("androidTest", "testFixtures", "commonTest")
_JVM_RUN = re.compile(r"(Test|Tests|TestCase|IT|Spec)$|(^|\.)Test[A-Z]\w*$")
_GRADLE = ("build.gradle", "build.gradle.kts")
_SETTINGS = ("settings.gradle", "settings.gradle.kts")


def go_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per module, on the packages that hold the tests; the install compiles them."""
    package = _go_packages(paths, tree)
    steps, install, versions = [], [], []
    modules = grouped(package, lambda path: tree.nearest(path, ["go.mod"]))
    for module, files in modules.items():
        places = sorted({below(package[path], module) for path in files})
        names = shlex.join(place if place == "." else f"./{place}" for place in places)
        steps.append(Step("go", "Go", module, f"go test {names}"))
        install.append(in_directory(module, f"go mod download && go test -run '^$' {names}"))
        versions.append(at_least(_GO_VERSION, tree.text(inside(module, "go.mod"))))
    runtime = next((version for version in versions if version), None)
    covered = frozenset(path for files in modules.values() for path in files)
    return Plan(tuple(steps), tuple(install), {"go": runtime} if runtime else {}, covered)


def _go_packages(paths: Sequence[str], tree: Tree) -> dict[str, str]:
    """Test files to their packages; what lies in `testdata` is read by the package beside it."""
    tested = {posixpath.dirname(path) for path in tree.blobs if path.endswith("_test.go")}
    found = {}
    for path in paths:
        data = _GO_DATA.match(path)
        if path.endswith("_test.go"):
            found[path] = posixpath.dirname(path) or "."
        elif data and (data[1] or "") in tested:
            found[path] = data[1] or "."
    return found


def rust_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per crate: its integration tests by name, otherwise those of its library."""
    mine = [path for path in paths if path.endswith(".rs")]
    steps, install = [], []
    crates = grouped(mine, lambda path: tree.nearest(path, ["Cargo.toml"]))
    for crate, files in crates.items():
        options = _cargo_options([below(path, crate) for path in files], crate, tree)
        steps.append(Step("cargo", "Rust", crate, f"cargo test {options}"))
        install.append(in_directory(crate, f"cargo test --no-run {options}"))
    covered = frozenset(path for files in crates.values() for path in files)
    return Plan(tuple(steps), tuple(install), covered=covered)


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


def jvm_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """Gradle where there are settings of it, else Maven: one command per module."""
    mine = [path for path in paths if _source_set(path) and _JVM_RUN.search(_class(path))]
    steps, install = [], []
    for module, files in grouped(mine, lambda p: tree.nearest(p, (*_GRADLE, "pom.xml"))).items():
        home = next(tree.above(inside(module, "_"), _SETTINGS), None)
        if home is not None:
            step, prepare = _gradle(module, home, files, tree)
        else:
            step, prepare = _maven(module, [_class(path) for path in files], tree)
        steps.append(step)
        install.append(prepare)
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), covered=frozenset(mine))


def _source_set(path: str) -> str | None:
    """The set that a test's source belongs to; null if no machine of Java can run it."""
    found = _JVM_TEST.search(path)
    return None if found is None or found[1] in _NOT_RUN else found[1]


def _class(path: str) -> str:
    """The qualified name of the class that a test's source is named after."""
    found = _JVM_TEST.search(path)
    return found[2].replace("/", ".") if found else ""


def _gradle(module: str, home: str, files: Sequence[str], tree: Tree) -> tuple[Step, str]:
    """Each set of sources is run by the task that has its name."""
    gradle = "./gradlew" if inside(home, "gradlew") in tree else "gradle"
    where = "" if module == home else f" -p {shlex.quote(below(module, home))}"
    tasks = grouped(files, _source_set)
    tests = " ".join(
        " ".join([task, *(f"--tests {shlex.quote(_class(path))}" for path in paths)])
        for task, paths in tasks.items()
    )
    classes = " ".join(f"{task}Classes" for task in tasks)
    step = Step("gradle", "Java", home, f"{gradle}{where} {tests}")
    return step, in_directory(home, f"{gradle}{where} {classes}")


def _maven(module: str, names: Sequence[str], tree: Tree) -> tuple[Step, str]:
    """From the outermost project that holds the module, so that its siblings are built too."""
    homes = list(tree.above(inside(module, "_"), ["pom.xml"]))
    home = homes[-1]
    maven = "./mvnw" if inside(home, "mvnw") in tree else "mvn"
    where = "" if module == home else f" -pl {shlex.quote(below(module, home))} -am"
    tests = f"-Dtest={shlex.quote(','.join(names))} -Dsurefire.failIfNoSpecifiedTests=false"
    step = Step("maven", "Java", home, f"{maven} -B{where} test {tests}")
    return step, in_directory(home, f"{maven} -B -q{where} test-compile")
