"""Which files of a pull request are gated; names of files are foreign."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/changed-tasks"


def git(repository: Path, *arguments: str) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=repository, env=clean, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    for name in ("tasks/dataset.json", "tasks/registry.json", "tasks/a-b/old.json"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("{}\n")
    git(tmp_path, "init", "-q", "-b", "main", str(place))
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "base")
    return place


def changed(repository: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    base = git(repository, "rev-parse", "HEAD")
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", "change")
    return subprocess.run(
        [SCRIPT, base],
        cwd=repository,
        env={**os.environ, "RUNNER_TEMP": str(repository.parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def outputs(text: str) -> dict[str, str]:
    """As the runner reads them."""
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        name, sign, end = line.partition("<<")
        if sign:
            found[name] = "\n".join(iter(lines.__next__, end))
        elif "=" in line:
            name, _, found[name] = line.partition("=")
    return found


def test_added_and_changed_task_files_are_named_and_nothing_else(repository: Path) -> None:
    done = changed(
        repository,
        {
            "tasks/a-b/new.json": "{}",
            "tasks/a-b/old.json": '{"changed": 1}',
            "tasks/dataset.json": '{"changed": 1}',
            "tasks/a-b/notes.md": "",
            "tasks/a-b/deeper/x.json": "",
            "README.md": "",
        },
    )
    assert outputs(done.stdout) == {"files": "tasks/a-b/new.json\ntasks/a-b/old.json"}


def test_a_changed_registry_comes_with_the_one_that_it_replaces(repository: Path) -> None:
    done = changed(repository, {"tasks/registry.json": '{"changed": 1}'})
    found = outputs(done.stdout)
    assert found["files"] == "tasks/registry.json"
    assert Path(found["registry-before"]).read_text() == "{}\n"


def test_nothing_of_the_dataset_is_nothing_to_gate(repository: Path) -> None:
    assert outputs(changed(repository, {"README.md": "x"}).stdout) == {"files": ""}


@pytest.mark.parametrize(
    "name", ["tasks/a-b/$(touch x).json", "tasks/a-b/x\nfiles<<y.json", "tasks/a b/c.json"]
)
def test_a_name_that_is_no_plain_path_is_refused(repository: Path, name: str) -> None:
    done = changed(repository, {name: "{}"})
    assert done.returncode == 3
    assert "letters, digits, dots, dashes and underscores only" in done.stderr
    assert done.stdout == ""
