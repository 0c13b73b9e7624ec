"""What the published versions of the dataset, its git tags, hold (SPEC T5)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nanobench.dataset.catalog import DATASET_FILE
from nanobench.dataset.clone import Clone, open_clone
from nanobench.dataset.version_names import order
from nanobench.errors import InvalidInputError, RepositoryError
from nanobench.model.task import Task
from nanobench.model.task_migrations import UnreadableTaskError, upgrade_task

HERE = "here"
"""The version in the working directory."""


@dataclass(frozen=True)
class PublishedTask:
    """A task file of one version; `task` is null if it cannot be read, for the reason `wrong`."""

    path: str
    task_id: str
    task: Task | None
    wrong: str = ""


@dataclass(frozen=True)
class Version:
    """The dataset at a tag, or here.

    Args:
        name: the tag, or `HERE`.
        dataset: the document `dataset.json`; empty if it cannot be read.
    """

    name: str
    dataset: Mapping[str, Any]
    tasks: tuple[PublishedTask, ...]


def published_versions(tasks_dir: Path) -> list[Version]:
    """All tagged versions, oldest first; a tag without a dataset is none.

    Raises:
        InvalidInputError: the directory lies in no git repository.
        RepositoryError: the clone is shallow, so that tags may be missing.
    """
    root = _checkout(tasks_dir)
    folder = tasks_dir.resolve().relative_to(root.resolve()).as_posix()
    with open_clone(root) as clone:
        tags = _tags(clone)
        if (clone.view / "shallow").is_file():
            raise RepositoryError(
                "the clone is shallow: published versions may be missing from it",
                where=str(root),
                remedy="fetch everything with `git fetch --unshallow --tags`",
            )
        found = [_version(clone, tag, commit, folder) for tag, commit in tags]
        return [version for version in found if version is not None]


def present_version(tasks_dir: Path) -> Version:
    """The files as they lie here, committed or not."""
    files = {
        path.relative_to(tasks_dir).as_posix(): path.read_bytes()
        for path in tasks_dir.glob("*/*.json")
        if not path.name.startswith(".")
    }
    manifest = tasks_dir / DATASET_FILE
    return _read(HERE, manifest.read_bytes() if manifest.is_file() else b"", files)


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


def _tags(clone: Clone) -> list[tuple[str, str]]:
    """Names and commits of the tags that name a version, oldest version first."""
    from nanobench.workspace.git import run_git

    wanted = ("for-each-ref", "--format=%(refname:strip=2)", "refs/tags")
    names = run_git(*wanted, git_dir=clone.git_dir).decode(errors="replace").splitlines()
    known = [(number, name) for name in names if name[:1] == "v" and (number := order(name))]
    return [(name, clone.resolve(f"refs/tags/{name}")) for _, name in sorted(known)]


def _version(clone: Clone, tag: str, commit: str, folder: str) -> Version | None:
    prefix = f"{folder}/".encode()
    blobs = {
        path.removeprefix(prefix).decode(errors="replace"): sha
        for path, sha in clone.tree(commit).items()
        if path.startswith(prefix) and path.endswith(b".json")
    }
    if DATASET_FILE not in blobs:
        return None
    contents = dict(zip(blobs, clone.blobs(list(blobs.values())), strict=True))
    files = {path: data for path, data in contents.items() if path.count("/") == 1}
    return _read(tag, contents[DATASET_FILE], files)


def _read(name: str, manifest: bytes, files: Mapping[str, bytes]) -> Version:
    try:
        dataset = json.loads(manifest)
    except ValueError:
        dataset = None
    tasks = tuple(_task(path, files[path]) for path in sorted(files))
    return Version(name, dataset if isinstance(dataset, dict) else {}, tasks)


def _task(path: str, data: bytes) -> PublishedTask:
    by_name = Path(path).stem
    try:
        task = Task.model_validate_json(json.dumps(upgrade_task(json.loads(data))))
    except ValidationError as error:
        return PublishedTask(path, by_name, None, "; ".join(_words(error)))
    except (ValueError, UnreadableTaskError, RecursionError) as error:
        return PublishedTask(path, by_name, None, str(error))
    return PublishedTask(path, task.task_id, task)


def _words(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False)[:5]:
        yield f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
