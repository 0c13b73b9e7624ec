"""Task files of older versions, read as the present one.

A task file names its schema's version, `major.minor`; the first versions may leave it out. What
changes the shape of a task raises it and adds a step here, and a published file is never
rewritten for it. A version that is not here is refused by name.

| version | what changed |
|---|---|
| 1.0 | the first |
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from nanobench.model.task import TASK_SCHEMA_VERSION

Step = Callable[[dict[str, Any]], dict[str, Any]]
Steps = Mapping[str, tuple[str, Step]]

STEPS: Steps = MappingProxyType({})
"""Version to the next one and the way there."""

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


class UnreadableTaskError(ValueError):
    """A version of a task file that cannot be read; its text says why."""


def upgrade_task(document: Any, steps: Steps = STEPS, now: str = TASK_SCHEMA_VERSION) -> Any:
    """The document as the present version would have it; the input is left as it is.

    Only the version is judged here. What else is wrong is left for validation.

    Raises:
        UnreadableTaskError: a newer version wrote it, or it names one that never was.
    """
    if not isinstance(document, dict):
        return document
    version = document.get("schema_version", "1.0")
    while version != now:
        version, step = _step(version, steps, now)
        document = {**step(document), "schema_version": version}
    return document


def _step(version: Any, steps: Steps, now: str) -> tuple[str, Step]:
    if isinstance(version, str) and version in steps:
        return steps[version]
    if isinstance(version, str) and _VERSION.fullmatch(version) and _order(version) > _order(now):
        raise UnreadableTaskError(
            f"the file has the task schema {version}, and this NanoBench reads up to {now}"
        )
    raise UnreadableTaskError(f"the file has the task schema {version!r}, which never was")


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
