"""Task files as people read them: fields in the order of the format, nothing that says nothing."""

import json
import re
from collections.abc import Iterator, Mapping
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
    document = {n: said.get(n, value) for n, value in everything.items() if n in named}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def rewrite(path: Path, changes: Mapping[str, Any]) -> TaskEntry:
    """Put top-level fields into a task file, all else of which stays byte for byte.

    Raises:
        InvalidInputError: the file is no task, or would be none afterwards; it is not written then.
        StateError: it cannot be written.
    """
    from pydantic import ValidationError

    load_task(path)
    text = path.read_bytes().decode()
    for name, value in changes.items():
        text = _with_field(text, name, value)
    try:
        Task.model_validate_json(json.dumps(upgrade_task(json.loads(text))))
    except ValidationError as error:
        words = "; ".join(str(problem["msg"]) for problem in error.errors(include_url=False))
        raise InvalidInputError(f"the task would be wrong: {words}", where=str(path)) from None
    write_atomic(path, text)
    return load_task(path)


def _with_field(text: str, name: str, value: Any) -> str:
    """The text of an object with one field in the place of the old one, or at its end."""
    first = re.match(r"\s*\{(\s*)", text)
    assert first is not None  # noqa: S101 - a task was read from it
    between = first[1] or " "
    lines, _, indent = between.rpartition("\n")
    many = "\n" in between
    written = json.dumps(value, indent=indent if many else None, ensure_ascii=False)
    if many:
        end_of_line = "\r\n" if lines.endswith("\r") else "\n"
        written = written.replace("\n", end_of_line + indent)
    end = first.end()
    for key, start, end in _fields(text, first.end()):
        if key == name:
            return f"{text[:start]}{written}{text[end:]}"
    return f"{text[:end]},{between}{json.dumps(name)}: {written}{text[end:]}"


def _fields(text: str, place: int) -> Iterator[tuple[str, int, int]]:
    """Key, and start and end of its value, of each field of an object; the text is valid."""
    decoder = json.JSONDecoder()
    while True:
        key, place = decoder.raw_decode(text, place)
        start = _skip(text, place, ":")
        _, place = decoder.raw_decode(text, start)
        yield key, start, place
        after = _skip(text, place, "")
        if text[after] == "}":
            return
        place = _skip(text, place, ",")


def _skip(text: str, place: int, sign: str) -> int:
    """Where what follows `sign` begins."""
    found = re.compile(rf"\s*{sign}\s*").match(text, place)
    assert found is not None  # noqa: S101 - a task was read from it
    return found.end()
