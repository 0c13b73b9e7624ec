"""`go test`, `cargo test`, Gradle and Maven."""

import posixpath
import re
import shlex
from collections.abc import Sequence

from nanobench.dataset.extract.plan import Plan, Step, at_least, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside

_GO_VERSION = re.compile(r"^go\s+([0-9]+\.[0-9]+)", re.M)
_JVM_TEST = re.compile(r"(^|/)src/[^/]*[tT]est[^/]*/(?:java|kotlin|groovy|scala)/(.+)\.[a-z]+$")
_JVM_RUN = re.compile(r"(Test|Tests|TestCase|IT|Spec)$|^Test[A-Z]")
_GRADLE = ("build.gradle", "build.gradle.kts")
_SETTINGS = ("settings.gradle", "settings.gradle.kts")


def go_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per module, on the packages that hold the tests; the install compiles them."""
    mine = [path for path in paths if path.endswith("_test.go")]
    steps, install, versions = [], [], []
    modules = grouped(mine, lambda path: tree.nearest(path, ["go.mod"]))
    for module, files in modules.items():
        packages = sorted({_package(below(path, module)) for path in files})
        names = shlex.join(packages)
        steps.append(Step("go", "Go", module, f"go test {names}"))
        install.append(in_directory(module, f"go mod download && go test -run '^$' {names}"))
        versions.append(at_least(_GO_VERSION, tree.text(inside(module, "go.mod"))))
    runtime = next((version for version in versions if version), None)
    covered = frozenset(path for files in modules.values() for path in files)
    return Plan(tuple(steps), tuple(install), {"go": runtime} if runtime else {}, covered)


def _package(path: str) -> str:
    directory = posixpath.dirname(path)
    return f"./{directory}" if directory else "."


def rust_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per crate: its integration tests by name, otherwise those of the library."""
    mine = [path for path in paths if path.endswith(".rs")]
    steps, install = [], []
    crates = grouped(mine, lambda path: tree.nearest(path, ["Cargo.toml"]))
    for crate, files in crates.items():
        targets = sorted({_target(below(path, crate), crate, tree) for path in files})
        steps.append(Step("cargo", "Rust", crate, f"cargo test {' '.join(targets)}"))
        install.append(in_directory(crate, f"cargo test --no-run {' '.join(targets)}"))
    covered = frozenset(path for files in crates.values() for path in files)
    return Plan(tuple(steps), tuple(install), covered=covered)


def _target(path: str, crate: str, tree: Tree) -> str:
    """The option that selects the program a file is compiled into."""
    parts = path.removesuffix(".rs").split("/")
    if parts[0] != "tests":
        return "--lib"
    own = len(parts) == 2 or inside(crate, f"tests/{parts[1]}/main.rs") in tree
    # A module in a folder belongs to any of the programs.
    return f"--test {shlex.quote(parts[1])}" if own else "--tests"


def jvm_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """Gradle where there are settings of it, else Maven: one command per module."""
    classes = {path: found[2] for path in paths if (found := _JVM_TEST.search(path))}
    mine = [path for path, name in classes.items() if _JVM_RUN.search(name.rpartition("/")[2])]
    steps, install, covered = [], [], set(mine)
    for module, files in grouped(mine, lambda p: tree.nearest(p, (*_GRADLE, "pom.xml"))).items():
        names = [classes[path].replace("/", ".") for path in files]
        home = next(tree.above(inside(module, "_"), _SETTINGS), None)
        if home is not None:
            step, prepare = _gradle(module, home, names, tree)
        else:
            step, prepare = _maven(module, names, tree)
        steps.append(step)
        install.append(prepare)
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), covered=frozenset(covered))


def _gradle(module: str, home: str, names: Sequence[str], tree: Tree) -> tuple[Step, str]:
    gradle = "./gradlew" if inside(home, "gradlew") in tree else "gradle"
    where = "" if module == home else f" -p {shlex.quote(below(module, home))}"
    tests = " ".join(f"--tests {shlex.quote(name)}" for name in names)
    step = Step("gradle", "Java", home, f"{gradle}{where} test {tests}")
    return step, in_directory(home, f"{gradle}{where} testClasses")


def _maven(module: str, names: Sequence[str], tree: Tree) -> tuple[Step, str]:
    """From the outermost project that holds the module, so that its siblings are built too."""
    homes = list(tree.above(inside(module, "_"), ["pom.xml"]))
    home = homes[-1]
    maven = "./mvnw" if inside(home, "mvnw") in tree else "mvn"
    where = "" if module == home else f" -pl {shlex.quote(below(module, home))} -am"
    tests = f"-Dtest={shlex.quote(','.join(names))} -Dsurefire.failIfNoSpecifiedTests=false"
    step = Step("maven", "Java", home, f"{maven} -B{where} test {tests}")
    return step, in_directory(home, f"{maven} -B -q{where} test-compile")
