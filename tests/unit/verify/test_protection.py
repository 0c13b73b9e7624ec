"""Which paths are tests, and which changes are left out."""

from collections.abc import Callable

import pytest

from nanobench.model.task import Task
from nanobench.verify.protection import looks_like_test, protection
from nanobench.workspace.changes import Change


def _golden(*paths: str) -> list[Change]:
    return [Change(path.encode(), 0o100644, b"", None) for path in paths]


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py",
        "pkg/test_x.py",
        "pkg/x_test.go",
        "src/a.test.tsx",
        "src/a.spec.mjs",
        "src/__tests__/helper.ts",
        "a/__snapshots__/x.snap",
        "conftest.py",
        "deep/pytest.ini",
    ],
)
def test_habits_of_test_runners_are_known(path: str) -> None:
    assert looks_like_test(path)


@pytest.mark.parametrize("path", ["src/testing.py", "latest/a.py", "contest.py", "src/attest.ts"])
def test_look_alikes_are_source(path: str) -> None:
    assert not looks_like_test(path)


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("tests/test_a.py", True),
        ("tests/test_other.py", False),  # named test files are the ones that count
        ("data", True),
        ("data/x/y.json", True),
        ("tests", True),  # a link in place of the directory that holds a test
        ("tests/test_a.py/x", True),
        ("conftest.py", True),
        ("any/where/conftest.py", True),
        (".pytest.toml", True),
        ("vitest.config.ts", True),
        ("ui/vite.config.mts", True),
        ("vite.config.production.ts", False),
        (".mvn/wrapper/maven-wrapper.properties", True),
        ("gradle/wrapper/gradle-wrapper.properties", True),
        ("gradle/libs.versions.toml", False),
        ("tsconfig.json", False),  # how a program is compiled is a part of it
        ("pom.xml", False),
        ("build.gradle", False),
        ("ui/jest.config.json", True),
        ("jest.config.js", False),  # the golden patch changes it
        (".mocharc.yml", True),
        ("build.rs", True),
        ("crates/a/.cargo/config.toml", True),
        (".npmrc", True),
        ("go.work", True),
        ("Makefile", False),  # no command runs make
        ("pyproject.toml", False),
        ("package.json", False),
        ("src/a.py", False),
    ],
)
def test_what_an_agent_cannot_change(task: Callable[..., Task], path: str, refused: bool) -> None:
    document = task(test_files=["tests/test_a.py"], protected_files=["data"])
    guard = protection(document, _golden("src/a.py", "jest.config.js", "tests/test_a.py"))
    assert guard.refuses(path.encode()) is refused


def test_what_the_commands_start_is_protected_unless_the_golden_patch_changes_it(
    task: Callable[..., Task],
) -> None:
    document = task(test_command="make check && sh tools/test.sh")
    guard = protection(document, _golden("src/a.py"))
    refused = ("Makefile", "sub/rules.mk", "tools/test.sh")
    assert [path for path in refused if guard.refuses(path.encode())] == list(refused)
    assert not guard.refuses(b"tools/other.sh")
    changed = protection(document, _golden("Makefile", "tools/test.sh"))
    assert not changed.refuses(b"Makefile")
    assert not changed.refuses(b"tools/test.sh")


def test_a_required_file_is_never_protected(task: Callable[..., Task]) -> None:
    document = task(required_files=["conftest.py", "pkg/vitest.config.ts"], test_files=["t/a.py"])
    guard = protection(document, _golden("conftest.py"))
    assert not guard.refuses(b"conftest.py")
    assert not guard.refuses(b"pkg/vitest.config.ts")


def test_without_named_test_files_the_golden_patch_tells(task: Callable[..., Task]) -> None:
    guard = protection(task(), _golden("src/a.py", "tests/new/test_b.py"))
    assert guard.refuses(b"tests/new/test_b.py")
    assert guard.refuses(b"tests/new")
    assert not guard.refuses(b"tests/own_test.py")


def test_golden_test_configuration_is_restored_though_no_test_file_names_it(
    task: Callable[..., Task],
) -> None:
    guard = protection(task(test_files=["tests/test_a.py"]), _golden("tests/sub/conftest.py"))
    assert guard.covers(b"tests/sub/conftest.py")
    assert guard.refuses(b"tests/sub")


@pytest.mark.parametrize(
    ("path", "shadows"),
    [
        ("pytest.py", True),
        ("_pytest/__init__.py", True),
        ("ui/argparse.py", True),  # a suite is run there
        ("pkg/argparse.py", False),
        ("xml.cpython-311-x86_64-linux-gnu.so", True),
        ("xml/part.txt", False),
        ("tempo.py", False),
        ("json.ts", False),
        ("types.py", False),  # the golden patch adds it
    ],
)
def test_new_modules_cannot_stand_in_for_the_runner(
    task: Callable[..., Task], path: str, shadows: bool
) -> None:
    suites = [
        {"name": "ui", "language": "Python", "command": "pytest", "cwd": "ui"},
        {"name": "all", "language": "Python", "command": "python -m pytest"},
    ]
    guard = protection(task(suites=suites, test_command=None), _golden("types.py"))
    assert guard.shadows(Change(path.encode(), 0o100644, b"", None)) is shadows
    # What the base has under such a name is the project's own.
    assert not guard.shadows(Change(path.encode(), 0o100644, b"", 0o100644))


def test_metadata_of_packages_is_not_the_agent_s(task: Callable[..., Task]) -> None:
    guard = protection(task(), [])
    assert guard.refuses(b"evil-1.0.dist-info/entry_points.txt")
    assert guard.refuses(b"src/evil.egg-info/PKG-INFO")
    assert not guard.refuses(b"src/info/entry_points.txt")
