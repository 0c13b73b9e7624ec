"""The sample task: pinned to the byte, built once, rebuilt when damaged."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nanobench.dataset.sample import sample
from nanobench.dataset.sample.sample import build_repository, sample_task
from nanobench.errors import InfrastructureError
from nanobench.files import StateDirectory
from nanobench.model.task import PatchSource
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.git import run_git
from nanobench.workspace.golden import resolve_golden
from nanobench.workspace.snapshot import SnapshotStore

BASE = "e1ac889991b6295266313ba1fc1637bb0beb0494"
CHANGE = "ed1c573220961961e5a8f359cd372715c382045b"


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def commits(repository: str) -> list[str]:
    return run_git("rev-list", "main", git_dir=Path(repository)).decode().split()


def test_the_commits_never_change(state: StateDirectory) -> None:
    task = sample_task(state)
    assert task.base_commit == BASE
    assert task.merge_commit == CHANGE
    assert isinstance(task.ground_truth_patch, PatchSource)
    assert (task.ground_truth_patch.base, task.ground_truth_patch.merge) == (BASE, CHANGE)
    assert commits(task.repo_url) == [CHANGE, BASE]


def test_the_repository_lies_in_the_state_directory_and_nothing_else_is_left(
    state: StateDirectory,
) -> None:
    task = sample_task(state)
    assert Path(task.repo_url).parent == state.root / "sample"
    left = {item.name for item in (state.root / "sample").iterdir()} - {"lock"}
    assert left == {Path(task.repo_url).name}


def test_a_second_call_builds_nothing(
    state: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sample_task(state)
    monkeypatch.setattr(sample, "build_repository", None)
    assert sample_task(state) == first


@pytest.mark.parametrize("damage", ["truncated pack", "no ref", "empty"])
def test_a_damaged_repository_is_built_again(state: StateDirectory, damage: str) -> None:
    repository = Path(sample_task(state).repo_url)
    if damage == "truncated pack":
        objects = [p for p in (repository / "objects").rglob("*") if p.suffix != ".idx"]
        largest = max((p for p in objects if p.is_file()), key=lambda p: p.stat().st_size)
        largest.chmod(0o644)
        largest.write_bytes(largest.read_bytes()[:100])
    elif damage == "no ref":
        (repository / "refs/heads/main").unlink()
    else:
        shutil.rmtree(repository)
        repository.mkdir()
    assert commits(sample_task(state).repo_url) == [CHANGE, BASE]


def test_many_at_once_build_one_repository(state: StateDirectory) -> None:
    with ThreadPoolExecutor(6) as pool:
        tasks = list(pool.map(lambda _: sample_task(state), range(6)))
    assert all(task == tasks[0] for task in tasks)
    assert commits(tasks[0].repo_url) == [CHANGE, BASE]


def test_modules_that_the_installer_compiled_are_not_committed(tmp_path: Path) -> None:
    copy = tmp_path / "package"
    shutil.copytree(str(sample._HERE), copy)
    compiled = copy / "repository/base/tempo/__pycache__"
    compiled.mkdir(exist_ok=True)
    (compiled / "units.cpython-311.pyc").write_bytes(b"compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "_HERE", copy)
        (tmp_path / "r.git").mkdir()
        assert build_repository(tmp_path / "r.git") == CHANGE


def test_a_changed_installation_is_named(
    state: StateDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "package"
    shutil.copytree(str(sample._HERE), copy)
    (copy / "repository/base/README.md").write_text("changed")
    monkeypatch.setattr(sample, "_HERE", copy)
    with pytest.raises(InfrastructureError, match="instead of"):
        sample_task(state)
    assert [item.name for item in (state.root / "sample").iterdir()] == ["lock"]


def test_the_golden_patch_has_the_pinned_hash_and_touches_what_the_task_names(
    state: StateDirectory,
) -> None:
    task = sample_task(state)
    cache = ObjectCache(state.repositories)
    snapshot = SnapshotStore(state.snapshots, cache).get(task.repo_url, task.base_commit)
    golden = resolve_golden(task, snapshot, cache)
    changed = {change.path.decode() for change in golden.changes}
    assert changed == {*task.required_files, *task.test_files, "README.md"}


def test_both_languages_have_targets_and_python_holds_less_than_half(
    state: StateDirectory,
) -> None:
    expected = sample_task(state).expected
    assert expected is not None
    counts = {name: len(tests) for name, tests in expected.fail_to_pass.items()}
    assert counts == {"node": 5, "pytest": 3}
    assert all(expected.pass_to_pass[name] for name in counts)


def test_the_statement_names_what_is_asked_and_no_file_of_the_solution(
    state: StateDirectory,
) -> None:
    task = sample_task(state)
    assert isinstance(task.problem_statement, str)
    for asked in ("max_parts", "maxParts", "largest_unit", "largestUnit"):
        assert asked in task.problem_statement
    assert not any(path in task.problem_statement for path in task.required_files)


def test_the_task_file_names_no_place_of_this_machine() -> None:
    document = json.loads((sample._HERE / "task.json").read_text())
    assert "repo_url" not in document
