"""What the published versions of the dataset, its git tags, hold (SPEC T5)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nanobench.dataset.catalog import DATASET_FILE, Dataset
from nanobench.dataset.clone import Clone, open_clone
from nanobench.dataset.reading import MisfitError, parse_document, read_file
from nanobench.dataset.version_names import Order, order
from nanobench.errors import InvalidInputError
from nanobench.model.task import Task
from nanobench.model.task_migrations import upgrade_task

HERE = "here"
"""The version in the working directory."""


@dataclass(frozen=True)
class PublishedTask:
    """A task file of one version; `task` is null if it cannot be read, for the reason `wrong`.

    `path` is below the task directory.
    """

    path: str
    task_id: str
    task: Task | None
    wrong: str = ""


@dataclass(frozen=True)
class Version:
    """The dataset at a tag, or here.

    Args:
        name: the tag, or `HERE`.
        dataset: the document `dataset.json`; null if it cannot be read, for the reason `wrong`.
    """

    name: str
    dataset: Dataset | None
    tasks: tuple[PublishedTask, ...]
    wrong: str = ""

    @property
    def order(self) -> Order | None:
        """The place of the dataset's own version; null if it has none."""
        return order(self.dataset.version) if self.dataset else None


def published_versions(tasks_dir: Path) -> list[Version]:
    """All tags that hold tasks, those of the oldest version of the dataset first.

    A release of the code carries the dataset as it is: its tag may be newer than the version.

    Raises:
        InvalidInputError: the directory lies in no git repository.
        RepositoryError: the clone is shallow, so that tags may be missing.
    """
    root = _checkout(tasks_dir)
    folder = tasks_dir.resolve().relative_to(root.resolve()).as_posix()
    with open_clone(root) as clone:
        tags = _tags(clone)
        clone.refuse_shallow("published versions")
        found = [_version(clone, tag, commit, folder) for _, tag, commit in tags]
    held = [
        (version.order or number, number, version.name, version)
        for version, (number, _, _) in zip(found, tags, strict=True)
        if version is not None
    ]
    return [version for *_, version in sorted(held, key=lambda one: one[:3])]


def present_version(tasks_dir: Path) -> Version:
    """The files as they lie here, committed or not."""
    files = {
        path.relative_to(tasks_dir).as_posix(): partial(read_file, path)
        for path in tasks_dir.glob("*/*.json")
        if not path.name.startswith(".")
    }
    return _read(HERE, partial(read_file, tasks_dir / DATASET_FILE), files)


def _checkout(tasks_dir: Path) -> Path:
    resolved = tasks_dir.resolve()
    for root in (resolved, *resolved.parents):
        if (root / ".git").exists():
            return root
    raise InvalidInputError(
        "the task directory lies in no git repository, so that no version of it can be found",
        where=str(tasks_dir),
        remedy="name the tasks/ of a clone of the dataset's repository",
    )


def _tags(clone: Clone) -> list[tuple[Order, str, str]]:
    """Numbers, names and commits of the tags that name a version."""
    from nanobench.workspace.git import run_git

    wanted = ("for-each-ref", "--format=%(refname:strip=2)", "refs/tags")
    names = run_git(*wanted, git_dir=clone.git_dir).decode(errors="replace").splitlines()
    known = [(number, name) for name in names if name[:1] == "v" and (number := order(name))]
    return [(number, name, clone.resolve(f"refs/tags/{name}")) for number, name in known]


def _version(clone: Clone, tag: str, commit: str, folder: str) -> Version | None:
    prefix = f"{folder}/".encode()
    blobs = {
        path.removeprefix(prefix).decode(errors="replace"): sha
        for path, sha in clone.tree(commit).items()
        if path.startswith(prefix) and path.endswith(b".json")
    }
    files = {path: sha for path, sha in blobs.items() if path.count("/") == 1}
    manifest = blobs.get(DATASET_FILE)
    if manifest is None and not files:
        return None
    contents = iter(clone.blobs([*files.values(), *([manifest] if manifest else [])]))
    tasks = {path: partial(_stored, next(contents)) for path in files}
    return _read(tag, partial(_stored, next(contents, None)), tasks)


def _stored(data: bytes | None) -> bytes:
    if data is None:
        raise InvalidInputError("the file is missing")
    return data


def _read(
    name: str, manifest: Callable[[], bytes], files: Mapping[str, Callable[[], bytes]]
) -> Version:
    tasks = tuple(_task(path, files[path]) for path in sorted(files))
    try:
        return Version(name, parse_document(Dataset, manifest(), DATASET_FILE), tasks)
    except InvalidInputError as error:
        return Version(name, None, tasks, _words(error, DATASET_FILE))


def _task(path: str, content: Callable[[], bytes]) -> PublishedTask:
    try:
        task = parse_document(Task, content(), path, upgrade_task)
    except InvalidInputError as error:
        return PublishedTask(path, Path(path).stem, None, _words(error, path))
    return PublishedTask(path, task.task_id, task)


def _words(error: InvalidInputError, path: str) -> str:
    if isinstance(error, MisfitError):
        return "; ".join(f"{place}: {what}" for place, what in error.problems)
    line = error.where.removeprefix(f"{path}, ") if error.where.startswith(f"{path}, ") else ""
    return f"{error.what} ({line})" if line else error.what
