"""Reading what reviewers answered. A sheet is foreign: every row is checked against the key."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from nanobench.audit.bundle import ANSWER_FIELDS
from nanobench.errors import InvalidInputError
from nanobench.model.audit import AuditKey, AuditLabel

_LABELS: tuple[str, ...] = get_args(AuditLabel)
_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Answers:
    """One reviewer's labels by item; an item without one is missing."""

    reviewer: str
    labels: dict[str, AuditLabel]


def read_answers(paths: Sequence[Path], key: AuditKey) -> list[Answers]:
    """One sheet per reviewer, in the order of their names.

    Raises:
        InvalidInputError: a sheet cannot be read, is of another bundle, has an unknown item or
            label, an item twice, more than one reviewer or none, or a reviewer has two sheets.
    """
    found: dict[str, Answers] = {}
    for path in paths:
        answers = _sheet(path, key)
        if answers.reviewer in found:
            raise _wrong(path, f"{answers.reviewer!r} has answered in another sheet already")
        found[answers.reviewer] = answers
    return [found[name] for name in sorted(found)]


def _sheet(path: Path, key: AuditKey) -> Answers:
    rows = _rows(path)
    known = {entry.item for entry in key.entries}
    labels: dict[str, AuditLabel] = {}
    seen: set[str] = set()
    for line, row in enumerate(rows, start=2):
        item, label = row["item"], row["label"]
        if row["bundle"] != key.bundle:
            raise _wrong(path, f"row {line}: it answers the bundle {row['bundle']!r}")
        if item not in known:
            raise _wrong(path, f"row {line}: the bundle has no item {item!r}")
        if item in seen:
            raise _wrong(path, f"row {line}: the item {item} stands twice")
        if label and label not in _LABELS:
            raise _wrong(path, f"row {line}: {label!r} is none of {', '.join(_LABELS)}")
        seen.add(item)
        if label:
            labels[item] = label  # type: ignore[assignment]  # checked above
    if not labels:
        raise _wrong(path, "no item is labelled")
    names = {row["reviewer"] for row in rows if row["label"]}
    if len(names) != 1 or not (name := names.pop()):
        raise _wrong(path, "every labelled row must name the same one reviewer")
    return Answers(name, labels)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _wrong(path, "it is larger than 16 MiB")
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            if tuple(reader.fieldnames or ()) != ANSWER_FIELDS:
                raise _wrong(path, f"its first row is not {','.join(ANSWER_FIELDS)}")
            rows = list(reader)
    except OSError as error:
        raise _wrong(path, f"it cannot be read: {error.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise _wrong(path, f"it is no CSV in UTF-8: {error}") from None
    for line, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise _wrong(path, f"row {line}: it has not {len(ANSWER_FIELDS)} fields")
    return [{name: value.strip() for name, value in row.items()} for row in rows]


def _wrong(path: Path, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"the answer sheet cannot be used: {what}",
        where=str(path),
        remedy="save the answers from the form again, one sheet for each reviewer",
    )
