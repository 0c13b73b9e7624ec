"""What is wrong in a version of the dataset, as `dataset verify` tells it."""

from dataclasses import dataclass

from nanobench.dataset.catalog import DATASET_FILE
from nanobench.dataset.versions import HERE, PublishedTask, Version


@dataclass(frozen=True)
class VersionProblem:
    """What is wrong in a version: a file and its field, what was seen, how to mend it.

    `file` is below the task directory.
    """

    version: str
    task_id: str
    file: str
    field: str
    seen: str
    remedy: str


def of_task(
    version: Version, published: PublishedTask, field: str, seen: str, remedy: str
) -> VersionProblem:
    """A problem of one task."""
    return VersionProblem(version.name, published.task_id, published.path, field, seen, remedy)


def of_dataset(version: Version, field: str, seen: str, remedy: str) -> VersionProblem:
    """A problem of `dataset.json`."""
    return VersionProblem(version.name, "", DATASET_FILE, field, seen, remedy)


def at(version: Version) -> str:
    """Where a version is, in a sentence."""
    return HERE if version.name == HERE else f"in {version.name}"
