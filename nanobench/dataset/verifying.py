"""Proof that published tasks stay what they were: every version against the one before it."""

from collections.abc import Iterator, Sequence
from typing import Any

from nanobench.dataset.version_decisions import check_decisions, check_retirement
from nanobench.dataset.version_names import order
from nanobench.dataset.version_problems import VersionProblem, at, of_dataset, of_task
from nanobench.dataset.versions import HERE, PublishedTask, Version
from nanobench.model.task import StatementSource, Task

# What people decide about a task after it is published; all else is pinned.
_DECISIONS = ("status", "curation", "rulings")
_KEPT = "a published task's pinned fields never change; restore it, or retire the task"
_RAISE = "raise the version in dataset.json"


def verify_versions(versions: Sequence[Version]) -> list[VersionProblem]:
    """Every problem in every version, oldest first.

    Args:
        versions: oldest first; the last may be the one here.
    """
    problems: list[VersionProblem] = []
    last: dict[str, tuple[Version, PublishedTask, Task]] = {}
    before: Version | None = None
    for version in versions:
        problems += _alone(version)
        if before is not None:
            problems += _since(before, version)
        for published in version.tasks:
            if published.task is None:
                continue
            key = published.task_id.casefold()
            if key in last:
                problems += _pinned(version, published, published.task, *last[key])
            last[key] = (version, published, published.task)
        before = version
    return problems


def _alone(version: Version) -> Iterator[VersionProblem]:
    """What one version shows by itself."""
    if version.dataset is None:
        yield of_dataset(version, "", f"cannot be read: {version.wrong}", "restore the file")
    elif version.order is None:
        seen = f"{version.dataset.version!r} is no version"
        yield of_dataset(version, "version", seen, "name one such as 1.1")
    elif version.name.count(".") == 1 and order(version.name) != version.order:
        yield of_dataset(
            version,
            "version",
            f"it says {version.dataset.version!r}",
            "a tag of two numbers is a version of the dataset, which dataset.json names; set the "
            "tag anew before others have it",
        )
    seen_ids: dict[str, str] = {}
    for published in version.tasks:
        if published.task is None:
            yield of_task(
                version,
                published,
                "",
                f"cannot be read: {published.wrong}",
                "restore the file; a change of the schema needs a step in task_migrations",
            )
            continue
        other = seen_ids.setdefault(published.task_id.casefold(), published.path)
        if other != published.path:
            yield of_task(
                version,
                published,
                "task_id",
                f"{other} has the same id",
                "an id names one task for ever; give the newer one another",
            )
        yield from check_retirement(version, published, published.task)
        source = published.task.problem_statement
        editable = isinstance(source, StatementSource) and source.from_ in ("issue", "pull_request")
        if editable and version.name != HERE:
            yield of_task(
                version,
                published,
                "problem_statement.from",
                "others can edit it",
                "publish a string, 'commit_message' or 'file'",
            )


def _since(before: Version, version: Version) -> Iterator[VersionProblem]:
    """What changed from one version to the next."""
    yield from _dataset(before, version)
    now = {published.task_id.casefold(): published for published in version.tasks}
    for published in before.tasks:
        later = now.get(published.task_id.casefold())
        if later is None:
            yield of_task(
                version,
                published,
                "",
                f"it is in {before.name} and gone",
                "restore the file and retire the task with `nanobench task retire`",
            )
        elif published.task is not None and later.task is not None:
            yield from check_decisions(before, version, published.task, later, later.task)


def _dataset(before: Version, version: Version) -> Iterator[VersionProblem]:
    """`dataset.json`: the cutoff stays, and one number is one set of tasks."""
    if before.dataset is None or version.dataset is None:
        return
    cutoff, now = before.dataset.contamination_cutoff, version.dataset.contamination_cutoff
    if cutoff != now:
        yield of_dataset(
            version,
            "contamination_cutoff",
            f"{cutoff.isoformat()} in {before.name}, {now.isoformat()} {at(version)}",
            "the cutoff belongs to the published tasks; restore it",
        )
    named, earlier = order(version.dataset.version), order(before.dataset.version)
    if named is None or earlier is None:
        return
    if named < earlier:  # tags are in the order of their datasets: only the files here can be
        seen = f"{before.dataset.version} in {before.name}, {version.dataset.version} {at(version)}"
        yield of_dataset(version, "version", seen, _RAISE)
    if named == earlier and version.name != HERE and _in_use(before) != _in_use(version):
        differ = ", ".join(sorted(_in_use(before) ^ _in_use(version)))
        yield of_dataset(
            version,
            "version",
            f"{version.dataset.version}, as {before.name} has it with other tasks in use: {differ}",
            f"{_RAISE} when tasks come or go, and set the tag anew",
        )


def _in_use(version: Version) -> set[str]:
    tasks = [one.task for one in version.tasks if one.task is not None]
    return {task.task_id for task in tasks if task.status.state == "active"}


def _pinned(
    version: Version,
    published: PublishedTask,
    task: Task,
    origin: Version,
    first: PublishedTask,
    before: Task,
) -> Iterator[VersionProblem]:
    """Against the last version that has the task, also if one between lacks it."""
    if _is_another(before, task):
        yield of_task(
            version,
            published,
            "task_id",
            f"the id is of another task in {origin.name}",
            "an id is never used again; give the new task another",
        )
        return
    if first.path != published.path:
        seen = f"it was {first.path} in {origin.name}"
        yield of_task(version, published, "", seen, "a published file stays where it is")
    was, now = _flat(before), _flat(task)
    for name in sorted(was.keys() | now.keys()):
        unwritten = name == "expected" and was[name] is None
        if was.get(name) != now.get(name) and not unwritten:
            seen = f"{_short(was.get(name))} in {origin.name}, {_short(now.get(name))}"
            yield of_task(version, published, name, f"{seen} {at(version)}", _KEPT)


def _is_another(before: Task, task: Task) -> bool:
    """Whether the id went to another change: a wrong SHA alone is an edit of the same one."""
    moved = before.base_commit != task.base_commit
    return before.repo != task.repo or (moved and before.pr_url != task.pr_url)


def _flat(task: Task) -> dict[str, Any]:
    """The pinned fields; those of objects by their path."""
    document = task.model_dump(mode="json", by_alias=True, exclude=set(_DECISIONS))
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict) and name != "expected":
            found.update({f"{name}.{inner}": part for inner, part in value.items()})
        else:
            found[name] = value
    return found


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
