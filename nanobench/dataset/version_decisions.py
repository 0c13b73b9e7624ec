"""Decisions of people in published versions: made once, and added to (SPEC P5, T5)."""

from collections.abc import Iterator

from nanobench.dataset.version_names import order
from nanobench.dataset.version_problems import VersionProblem, at, of_task
from nanobench.dataset.versions import HERE, PublishedTask, Version
from nanobench.model.task import Task


def check_retirement(
    version: Version, published: PublishedTask, task: Task
) -> Iterator[VersionProblem]:
    """Whether a retired task names the version that it left with, which is no later than this."""
    if task.status.state != "retired":
        return
    field, left = "status.version", task.status.version
    if left is None:
        yield of_task(
            version,
            published,
            field,
            "it is missing",
            "name the first dataset version without the task",
        )
    elif (number := order(left)) is None:
        yield of_task(version, published, field, f"{left!r} is no version", "name one such as 1.1")
    elif version.name != HERE and version.dataset and version.order and number > version.order:
        yield of_task(
            version,
            published,
            field,
            f"it says {left}, and the task is retired in {version.dataset.version} already",
            "name the first version without the task",
        )


def check_decisions(
    before: Version, version: Version, earlier: Task, published: PublishedTask, task: Task
) -> Iterator[VersionProblem]:
    """What was decided up to `before` still stands in `version`."""
    yield from _kept_retirement(before, version, earlier, published, task)
    then = earlier.curation
    if then.state == "approved" and then != task.curation:
        yield of_task(
            version,
            published,
            "curation",
            f"{then.approved_by} approved it on {then.approved_on} in {before.name}; "
            f"it is another approval or none {at(version)}",
            "restore it; a task that should not have been approved is retired",
        )
    if task.rulings[: len(earlier.rulings)] != earlier.rulings:
        yield of_task(
            version,
            published,
            "rulings",
            f"one of the {len(earlier.rulings)} in {before.name} is changed or gone",
            "restore it, and add a further one with `nanobench task rule`",
        )


def _kept_retirement(
    before: Version, version: Version, earlier: Task, published: PublishedTask, task: Task
) -> Iterator[VersionProblem]:
    then, now = earlier.status, task.status
    if then.state == "retired" and now.state == "active":
        yield of_task(
            version,
            published,
            "status.state",
            f"retired in {before.name}, active again",
            "a retired task stays out; publish it under a new id",
        )
    elif then.state == "retired" and then != now:
        yield of_task(
            version,
            published,
            "status",
            f"the retirement in {before.name} was another",
            "restore it; record what was found later with `nanobench task rule`",
        )
    elif now.state == "retired" and then.state == "active" and now.version is not None:
        left = order(now.version)
        if left is not None and before.order is not None and left <= before.order:
            yield of_task(
                version,
                published,
                "status.version",
                f"it says {now.version}, and the task is active in {before.name}",
                "name the first version without the task",
            )
