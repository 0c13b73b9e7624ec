"""Task files as people read them: fields in the order of the format, nothing that says nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nanobench.dataset.catalog import TaskEntry, load_task
from nanobench.errors import InvalidInputError
from nanobench.files import write_atomic
from nanobench.model.task import Task
from nanobench.model.task_migrations import upgrade_task

_ALWAYS = ("schema_version", "curation")


def task_text(task: Task) -> str:
    """A new task file: fields that have their default are left out."""
    everything = task.model_dump(mode="json", by_alias=True, exclude_none=True)
    said = task.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    named = (*_ALWAYS, *said)
    return _text(
        {name: said.get(name, value) for name, value in everything.items() if name in named}
    )


def rewrite(path: Path, changes: Mapping[str, Any]) -> TaskEntry:
    """Put top-level fields into a task file, whose other fields stay as they were written.

    Raises:
        InvalidInputError: the file is no task, or would be none afterwards; it is not written then.
        StateError: it cannot be written.
    """
    from pydantic import ValidationError

    load_task(path)
    document = {**json.loads(path.read_bytes()), **changes}
    try:
        Task.model_validate_json(json.dumps(upgrade_task(document)))
    except ValidationError as error:
        words = "; ".join(str(problem["msg"]) for problem in error.errors(include_url=False))
        raise InvalidInputError(f"the task would be wrong: {words}", where=str(path)) from None
    write_atomic(path, _text(document))
    return load_task(path)


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
