"""Gradle and Maven."""

import re
import shlex
from collections.abc import Sequence

from nanobench.dataset.extract.plan import Plan, Step, at_least, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside
from nanobench.model.task import RuntimeName

_TEST = re.compile(r"(?:^|/)src/([^/]*[tT]est[^/]*)/(?:java|kotlin|groovy|scala)/(.+)\.[a-z]+$")
_NOT_RUN = ("androidTest", "testFixtures", "commonTest")
_RUN = re.compile(r"(Test|Tests|TestCase|IT|Spec)$|(^|\.)Test[A-Z]\w*$")
_GRADLE = ("build.gradle", "build.gradle.kts")
_SETTINGS = ("settings.gradle", "settings.gradle.kts")
_BUILDS = (*_GRADLE, "pom.xml")
_VERSION = re.compile(
    r"(?:JavaLanguageVersion\.of\(|JavaVersion\.VERSION_(?:1_)?|jvmToolchain\("
    r"|(?:source|target)Compatibility\s*=\s*['\"]?(?:1\.)?"
    r"|<(?:maven\.compiler\.(?:release|source|target)|java\.version|release)>(?:1\.)?)([0-9]+)"
)
_ANY = ">=8"


def jvm_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """Gradle where there are settings of it, else Maven: one command per module."""
    mine = [path for path in paths if _source_set(path) and _RUN.search(_class(path))]
    steps, install = [], []
    for module, files in grouped(mine, lambda p: tree.nearest(p, _BUILDS)).items():
        home = next(tree.above(inside(module, "_"), _SETTINGS), None)
        if home is not None:
            step, prepare = _gradle(module, home, files, tree)
        else:
            step, prepare = _maven(module, [_class(path) for path in files], tree)
        steps.append(step)
        install.append(prepare)
    runtimes: dict[RuntimeName, str] = {"java": _java(mine, tree)} if steps else {}
    return Plan(tuple(steps), tuple(dict.fromkeys(install)), runtimes, frozenset(mine))


def _java(paths: Sequence[str], tree: Tree) -> str:
    """The version that a build of the tests asks for, from the module upward."""
    for path in paths:
        for directory in tree.above(path, _BUILDS):
            for name in _BUILDS:
                if version := at_least(_VERSION, tree.text(inside(directory, name))):
                    return version
    return _ANY


def _source_set(path: str) -> str | None:
    """The set that a test's source belongs to; null if no machine of Java can run it."""
    found = _TEST.search(path)
    return None if found is None or found[1] in _NOT_RUN else found[1]


def _class(path: str) -> str:
    """The qualified name of the class that a test's source is named after."""
    found = _TEST.search(path)
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
    return step, in_directory(home, _install(gradle, f"{where} {classes}", step))


def _maven(module: str, names: Sequence[str], tree: Tree) -> tuple[Step, str]:
    """From the outermost project that holds the module, so that its siblings are built too."""
    homes = list(tree.above(inside(module, "_"), ["pom.xml"]))
    home = homes[-1]
    maven = "./mvnw" if inside(home, "mvnw") in tree else "mvn"
    where = "" if module == home else f" -pl {shlex.quote(below(module, home))} -am"
    tests = f"-Dtest={shlex.quote(','.join(names))} -Dsurefire.failIfNoSpecifiedTests=false"
    step = Step("maven", "Java", home, f"{maven} -B{where} test {tests}")
    return step, in_directory(home, _install(f"{maven} -B -q", f"{where} test-compile", step))


def _install(tool: str, compiles: str, step: Step) -> str:
    """Compiling fetches what tests are made of, and running them, in vain or not, the rest.

    What was built is removed: the tests of other trees have to be able to write there.
    """
    return f"{tool}{compiles} && {{ {step.command} || true; }} && {tool} clean"
