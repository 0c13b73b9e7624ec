"""The task files of a directory, and the sample beside them."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import AwareDatetime

from nanobench.dataset.places import DATASET_FILE as DATASET_FILE
from nanobench.dataset.places import find_tasks_dir as find_tasks_dir
from nanobench.dataset.reading import read_document
from nanobench.errors import InvalidInputError, UsageError
from nanobench.files import StateDirectory
from nanobench.model.base import Document, NonEmpty
from nanobench.model.task import Task
from nanobench.model.task_migrations import upgrade_task


class Dataset(Document):
    """`tasks/dataset.json`: what holds for all tasks."""

    name: NonEmpty
    version: NonEmpty
    contamination_cutoff: AwareDatetime


@dataclass(frozen=True)
class TaskEntry:
    """A task and where it comes from.

    `sha256` (hex) is of the bytes of the task file. The sample has no file; its hash is of its
    document without `repo_url`, which depends on the state directory.
    """

    task: Task
    origin: Literal["dataset", "sample"]
    path: Path | None
    sha256: str


@dataclass(frozen=True)
class Catalog:
    """All tasks that can be selected, by id, and the dataset that they belong to.

    `dataset` is null when there is no task directory.
    """

    entries: Mapping[str, TaskEntry]
    dataset: Dataset | None

    @classmethod
    def open(
        cls, tasks_dir: Path | None, state: StateDirectory, *, include_sample: bool = False
    ) -> "Catalog":
        """Read every task file of `tasks_dir` (null: no dataset), and the sample if asked.

        Raises:
            InvalidInputError: a task file or `dataset.json` is wrong, or two tasks share an id.
            UsageError: there is neither a task directory nor the sample.
        """
        if tasks_dir is None and not include_sample:
            raise UsageError(
                "there is no task directory",
                where=str(Path.cwd() / "tasks"),
                remedy="name one with --tasks-dir",
            )
        entries: list[TaskEntry] = []
        dataset = None
        if tasks_dir is not None:
            dataset, _ = read_document(Dataset, tasks_dir / DATASET_FILE)
            entries += _load_all(tasks_dir)
        if include_sample:
            entries.append(_sample(state))
        return cls(MappingProxyType(_by_id(entries)), dataset)

    def holding(self, entries: Iterable[TaskEntry]) -> "Catalog":
        """This catalogue with `entries` in it, also where it has other tasks of their ids."""
        merged = {**self.entries, **{entry.task.task_id: entry for entry in entries}}
        return Catalog(MappingProxyType(dict(sorted(merged.items()))), self.dataset)


def load_task(path: Path) -> TaskEntry:
    """Read one task file.

    Raises:
        InvalidInputError: it cannot be read, is no task, or is not named after its task.
    """
    task, data = read_document(Task, path, upgrade_task)
    if task.task_id != path.stem:
        raise InvalidInputError(
            f"the task {task.task_id!r} stands in a file of another name",
            where=str(path),
            remedy=f"rename the file to {task.task_id}.json, or correct 'task_id'",
        )
    return TaskEntry(task, "dataset", path, hashlib.sha256(data).hexdigest())


def _load_all(tasks_dir: Path) -> list[TaskEntry]:
    """All tasks; the files that are wrong are told together, so that one pass mends them."""
    entries, errors = [], []
    for path in sorted(tasks_dir.glob("*/*.json")):
        if path.name.startswith("."):  # an editor's or an interrupted write's leftover
            continue
        try:
            entries.append(load_task(path))
        except InvalidInputError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise InvalidInputError(
            f"{len(errors)} task files are wrong:"
            + "".join(f"\n  {error.where}: {error.what}" for error in errors),
            where=str(tasks_dir),
            remedy="correct them; docs/task-file.md explains every field",
        )
    return entries


def _by_id(entries: Iterable[TaskEntry]) -> dict[str, TaskEntry]:
    found: dict[str, TaskEntry] = {}
    for entry in entries:
        other = found.setdefault(entry.task.task_id, entry)
        if other is not entry:
            raise InvalidInputError(
                f"two tasks have the id {entry.task.task_id!r}",
                where=f"{other.path or 'the built-in sample'} and {entry.path or 'the sample'}",
                remedy="give one of them another id",
            )
    return dict(sorted(found.items()))


def _sample(state: StateDirectory) -> TaskEntry:
    from nanobench.dataset.sample.sample import sample_task

    task = sample_task(state)
    portable = task.model_copy(update={"repo_url": "sample"})
    return TaskEntry(task, "sample", None, portable.digest())
