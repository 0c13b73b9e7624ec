"""Proof that published tasks stay what they were: every version against the one before it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nanobench.dataset.version_names import order
from nanobench.dataset.versions import HERE, PublishedTask, Version
from nanobench.model.task import StatementSource, Task

# What people decide about a task after it is published; all else is pinned.
_DECISIONS = ("status", "curation", "rulings")
_KEPT = "a published task's pinned fields never change; restore it, or retire the task"


@dataclass(frozen=True)
class VersionProblem:
    """What is wrong in a version: a task's field, what was seen, how to mend it."""

    version: str
    task_id: str
    field: str
    seen: str
    remedy: str


def verify_versions(versions: Sequence[Version]) -> list[VersionProblem]:
    """Every problem in every version, oldest first.

    Args:
        versions: oldest first; the last may be the one here.
    """
    problems: list[VersionProblem] = []
    last: dict[str, tuple[Version, Task]] = {}
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
                problems += _pinned(version, published, *last[key])
            last[key] = (version, published.task)
        before = version
    return problems


def _alone(version: Version) -> Iterator[VersionProblem]:
    """What one version shows by itself."""
    named = version.dataset.get("version")
    if version.name != HERE and named != version.name.removeprefix("v"):
        yield VersionProblem(
            version.name,
            "",
            "dataset.json: version",
            f"it says {named!r}",
            "the tag and the version in dataset.json are the same; a wrong tag is made anew",
        )
    seen: dict[str, str] = {}
    for published in version.tasks:
        if published.task is None:
            yield _problem(
                version,
                published,
                "",
                f"cannot be read: {published.wrong}",
                "restore the file; a change of the schema needs a step in task_migrations",
            )
            continue
        other = seen.setdefault(published.task_id.casefold(), published.path)
        if other != published.path:
            yield _problem(
                version,
                published,
                "task_id",
                f"{other} has the same id",
                "an id names one task for ever; give the newer one another",
            )
        yield from _publishable(version, published, published.task)


def _publishable(
    version: Version, published: PublishedTask, task: Task
) -> Iterator[VersionProblem]:
    source = task.problem_statement
    editable = isinstance(source, StatementSource) and source.from_ in ("issue", "pull_request")
    if editable and version.name != HERE:
        yield _problem(
            version,
            published,
            "problem_statement.from",
            "others can edit it",
            "publish a string, 'commit_message' or 'file'",
        )
    if task.status.state == "retired" and task.status.version is None:
        yield _problem(
            version,
            published,
            "status.version",
            "it is missing",
            "name the first dataset version without the task",
        )


def _since(before: Version, version: Version) -> Iterator[VersionProblem]:
    """What changed from one version to the next."""
    cutoff = "contamination_cutoff"
    if before.dataset.get(cutoff) != version.dataset.get(cutoff):
        yield VersionProblem(
            version.name,
            "",
            f"dataset.json: {cutoff}",
            f"{before.dataset.get(cutoff)!r} in {before.name}, "
            f"{version.dataset.get(cutoff)!r} {_at(version)}",
            "the cutoff belongs to the published tasks; restore it",
        )
    now = {published.task_id.casefold(): published for published in version.tasks}
    for published in before.tasks:
        later = now.get(published.task_id.casefold())
        if later is None:
            yield _problem(
                version,
                published,
                "",
                f"it is in {before.name} and gone",
                "restore the file and retire the task with `nanobench task retire`",
            )
        elif published.task is not None and later.task is not None:
            yield from _retirement(before, version, published.task, later)


def _retirement(
    before: Version, version: Version, earlier: Task, later: PublishedTask
) -> Iterator[VersionProblem]:
    assert later.task is not None  # noqa: S101 - the caller looked
    then, now = earlier.status, later.task.status
    if then.state == "retired" and now.state == "active":
        yield _problem(
            version,
            later,
            "status.state",
            f"retired in {before.name}, active again",
            "a retired task stays out; publish it under a new id",
        )
    elif then.state == "retired" and then != now:
        yield _problem(
            version,
            later,
            "status",
            f"the retirement in {before.name} was another",
            "restore it; record what was found later with `nanobench task rule`",
        )
    elif now.state == "retired" and then.state == "active" and now.version is not None:
        left, last = order(now.version), order(before.name)
        if left is None or (last is not None and left <= last):
            yield _problem(
                version,
                later,
                "status.version",
                f"it says {now.version}, and the task is active in {before.name}",
                "name the first version without the task",
            )


def _pinned(
    version: Version, published: PublishedTask, origin: Version, before: Task
) -> Iterator[VersionProblem]:
    """Against the last version that has the task, also if one between lacks it."""
    assert published.task is not None  # noqa: S101 - the caller looked
    if _is_another(before, published.task):
        yield _problem(
            version,
            published,
            "task_id",
            f"the id is of another task in {origin.name}",
            "an id is never used again; give the new task another",
        )
        return
    was, now = _flat(before), _flat(published.task)
    for name in sorted(was.keys() | now.keys()):
        unwritten = name == "expected" and was[name] is None
        if was.get(name) != now.get(name) and not unwritten:
            seen = f"{_short(was.get(name))} in {origin.name}, {_short(now.get(name))}"
            yield _problem(version, published, name, f"{seen} {_at(version)}", _KEPT)


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


def _at(version: Version) -> str:
    return HERE if version.name == HERE else f"in {version.name}"


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _problem(
    version: Version, published: PublishedTask, field: str, seen: str, remedy: str
) -> VersionProblem:
    return VersionProblem(version.name, published.task_id, field, seen, remedy)
