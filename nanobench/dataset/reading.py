"""Reading JSON that people write by hand: every problem is named with its place and its cure."""

import difflib
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nanobench.errors import InvalidInputError
from nanobench.model.base import Document

D = TypeVar("D", bound=Document)
Location = tuple[int | str, ...]

MAX_BYTES = 64 * 1024 * 1024
_SHOWN_PROBLEMS = 12
_REFERENCE = "docs/task-file.md explains every field"


class MisfitError(InvalidInputError):
    """A document whose fields are wrong; `problems` are their places, and what is wrong there."""

    problems: tuple[tuple[str, str], ...] = ()


def read_document(
    kind: type[D], path: Path, upgrade: Callable[[Any], Any] | None = None
) -> tuple[D, bytes]:
    """Read and validate the document of type `kind` in the file `path`; also its bytes.

    Args:
        upgrade: makes the present version of an older one's data; a `ValueError` says why not.

    Raises:
        InvalidInputError: the file is missing, no regular file, larger than 64 MiB, not UTF-8,
            not JSON (line and column are told), has a key twice, or does not fit `kind`
            (every field that does not is told).
    """
    data = read_file(path)
    return parse_document(kind, data, str(path), upgrade), data


def parse_document(
    kind: type[D], data: bytes, where: str, upgrade: Callable[[Any], Any] | None = None
) -> D:
    """Validate the document of type `kind` in the bytes of a file that lies at `where`.

    Raises:
        InvalidInputError: as `read_document`, of the content.
    """
    _check_syntax(data, where)
    try:
        if upgrade is None:
            return kind.from_json(data)
        return kind.from_json(json.dumps(_upgraded(upgrade, data, where)))
    except ValidationError as error:
        raise _misfit(kind, error, json.loads(data), where) from None


def _upgraded(upgrade: Callable[[Any], Any], data: bytes, where: str) -> Any:
    try:
        return upgrade(json.loads(data))
    except ValueError as error:
        raise InvalidInputError(
            str(error), where=where, remedy="read it with a newer version of NanoBench"
        ) from None


def read_file(path: Path) -> bytes:
    """The bytes of a file that people write.

    Raises:
        InvalidInputError: it is missing, no regular file, or larger than 64 MiB.
    """
    try:
        if path.is_dir():
            raise InvalidInputError(
                "a file is needed here, this is a directory",
                where=str(path),
                remedy="name a .json file in it",
            )
        if path.exists() and not path.is_file():
            raise InvalidInputError("this is not a regular file", where=str(path))
        if path.exists() and path.stat().st_size > MAX_BYTES:
            raise InvalidInputError(
                "the file is larger than 64 MiB",
                where=str(path),
                remedy="point to the patch by commits and hash instead of copying it in",
            )
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(
            f"the file cannot be read: {error.strerror}",
            where=str(path),
            remedy="check the path and its permissions",
        ) from None


def _check_syntax(data: bytes, where: str) -> None:
    try:
        json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"the file is not UTF-8: byte {error.start + 1} does not belong to any character",
            where=where,
            remedy="save the file as UTF-8",
        ) from None
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"the file is not JSON: {error.msg}",
            where=f"{where}, line {error.lineno}, column {error.colno}",
            remedy="correct the JSON there",
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"the file cannot be used as JSON: {error}",
            where=where,
            remedy="correct the JSON",
        ) from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


def _misfit(kind: type[Document], error: ValidationError, data: Any, where: str) -> MisfitError:
    problems = [
        _problem(kind, problem, data)
        for problem in _without_other_branches(error.errors(include_url=False))
    ]
    lines = [f"{place}: {what}" for place, what in problems[:_SHOWN_PROBLEMS]]
    if len(problems) > _SHOWN_PROBLEMS:
        lines.append(f"and {len(problems) - _SHOWN_PROBLEMS} more")
    if len(lines) == 1:
        what = f"the file does not fit its schema: {lines[0]}"
    else:
        what = "the file does not fit its schema:" + "".join(f"\n    {line}" for line in lines)
    misfit = MisfitError(what, where=where, remedy=f"correct this; {_REFERENCE}")
    misfit.problems = tuple(problems)
    return misfit


def _without_other_branches(problems: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Drop what pydantic says of the branch of a union (text or object) that was not meant."""
    return [
        problem
        for problem in problems
        if not (problem["type"] == "string_type" and isinstance(problem["input"], dict))
        and not (problem["type"] == "model_type" and isinstance(problem["input"], str))
    ] or list(problems)


def _problem(kind: type[Document], problem: ErrorDetails, data: Any) -> tuple[str, str]:
    """Where it stands, and what is wrong."""
    place = _place(problem["loc"], data) or "the document"
    if problem["type"] == "extra_forbidden":
        known = _fields_at(kind, problem["loc"][:-1])
        unknown = str(problem["loc"][-1])
        near = difflib.get_close_matches(unknown, known, n=1, cutoff=0.5)
        advice = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
        return place, f"there is no such field; {advice}"
    if problem["type"] == "missing":
        return place, "this field is missing"
    return place, problem["msg"].removeprefix("Value error, ")


def _place(location: Location, data: Any) -> str:
    """The path of a problem as it stands in the file: pydantic's names of union branches left out.

    `data` is the parsed file. The last part is kept even if absent: it is the missing field.
    """
    parts: list[str] = []
    for number, part in enumerate(location):
        last = number == len(location) - 1
        if isinstance(part, int) and isinstance(data, list):
            parts.append(f"[{part}]")
            data = data[part] if part < len(data) else None
        elif isinstance(data, Mapping) and (part in data or last):
            parts.append(f".{part}" if parts else str(part))
            data = data.get(part)
    return "".join(parts)


def _fields_at(kind: type[BaseModel], location: Location) -> list[str]:
    """The names that a file may use at `location`."""
    models = [kind]
    for part in location:
        annotations = [
            field.annotation
            for model in models
            for name, field in model.model_fields.items()
            if part in (name, field.alias)
        ]
        if annotations:  # otherwise an index, or pydantic's name of a union's branch
            models = [model for annotation in annotations for model in _models_in(annotation)]
    names = {field.alias or name for m in models for name, field in m.model_fields.items()}
    return sorted(names)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in _models_in(part)]
