import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.dataset.catalog import Catalog, Dataset, find_tasks_dir, load_task
from nanobench.dataset.reading import read_document
from nanobench.errors import InvalidInputError, UsageError
from nanobench.files import StateDirectory

AddTask = Callable[..., Path]
CHECKOUT_TASKS = Path(__file__).parents[3] / "tasks"


def test_tasks_are_found_by_id_in_every_folder(
    tasks_dir: Path, add_task: AddTask, state: StateDirectory
) -> None:
    add_task("b", "two")
    path = add_task("a", "one")
    (tasks_dir / "one" / ".a.json.swp.json").write_text("{")
    catalog = Catalog.open(tasks_dir, state)
    assert list(catalog.entries) == ["a", "b"]
    entry = catalog.entries["a"]
    assert (entry.origin, entry.path) == ("dataset", path)
    assert entry.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert catalog.dataset is not None
    assert catalog.dataset.version == "1.0"


def test_a_file_is_named_after_its_task(add_task: AddTask) -> None:
    path = add_task("a")
    moved = path.rename(path.with_name("b.json"))
    with pytest.raises(InvalidInputError, match="'a' stands in a file of another name") as caught:
        load_task(moved)
    assert "a.json" in caught.value.remedy


def test_one_id_in_two_folders_is_an_error_that_names_both(
    tasks_dir: Path, add_task: AddTask, state: StateDirectory
) -> None:
    paths = [add_task("a", "one"), add_task("a", "two")]
    with pytest.raises(InvalidInputError, match="two tasks have the id 'a'") as caught:
        Catalog.open(tasks_dir, state)
    assert all(str(path) in caught.value.where for path in paths)


def test_all_wrong_files_are_told_at_once(
    tasks_dir: Path, add_task: AddTask, state: StateDirectory
) -> None:
    add_task("good")
    wrong = [add_task("bad1", repo_url=...), add_task("bad2", domain="")]
    with pytest.raises(InvalidInputError, match="2 task files are wrong") as caught:
        Catalog.open(tasks_dir, state)
    assert all(str(path) in caught.value.what for path in wrong)
    wrong[1].unlink()
    with pytest.raises(InvalidInputError, match="repo_url: this field is missing") as caught:
        Catalog.open(tasks_dir, state)
    assert caught.value.where == str(wrong[0])


def test_a_directory_without_dataset_file_is_told(tmp_path: Path, state: StateDirectory) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Catalog.open(tmp_path, state)
    assert "dataset.json" in caught.value.where


def test_without_any_tasks_the_command_line_is_wrong(state: StateDirectory) -> None:
    with pytest.raises(UsageError, match="no task directory"):
        Catalog.open(None, state)


def test_the_chosen_directory_beats_the_current_one_and_that_the_checkouts(
    tasks_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert find_tasks_dir(None) == CHECKOUT_TASKS
    monkeypatch.chdir(tmp_path)
    assert find_tasks_dir(None) == tasks_dir
    assert find_tasks_dir(elsewhere) == elsewhere
    with pytest.raises(UsageError, match="not a directory of task files"):
        find_tasks_dir(tmp_path / "none")


def test_entries_can_stand_in_for_those_of_the_catalogue(
    tasks_dir: Path, add_task: AddTask, state: StateDirectory, tmp_path: Path
) -> None:
    path = add_task("a")
    catalog = Catalog.open(tasks_dir, state)
    copy = tmp_path / "a.json"
    copy.write_text(json.dumps(json.loads(path.read_text())))
    entry = load_task(copy)
    assert catalog.holding([entry]).entries["a"] == entry
    assert catalog.entries["a"].path == path


def test_the_published_dataset_can_be_read(state: StateDirectory) -> None:
    catalog = Catalog.open(CHECKOUT_TASKS, state)
    assert catalog.entries
    dataset, _ = read_document(Dataset, CHECKOUT_TASKS / "dataset.json")
    assert dataset.contamination_cutoff.isoformat() == "2026-04-01T00:00:00+00:00"
    late = [e for e in catalog.entries.values() if e.task.merged_at <= dataset.contamination_cutoff]
    assert late == []
