"""`docs/task-file.md` and the task document say the same."""

import json
import re
import typing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from nanobench.dataset import selectors
from nanobench.model import task as documents
from nanobench.model.task import Task

PAGE = (Path(__file__).parents[2] / "docs" / "task-file.md").read_text()

# The tables of the page, in their order.
DOCUMENTED: list[type[BaseModel]] = [
    documents.Task,
    documents.StatementSource,
    documents.Selection,
    documents.PatchSource,
    documents.Suite,
    documents.TaskEnvironment,
    documents.NetworkPolicy,
    documents.Expected,
    documents.Status,
    documents.Curation,
    documents.JudgementChecks,
    documents.Ruling,
    documents.Attachment,
]


def tables() -> list[list[tuple[str, str]]]:
    """Field and default of every row of every table of fields."""
    found = []
    for block in PAGE.split("\n\n"):
        if block.startswith("| field | default | meaning |"):
            rows = [line.split(" | ") for line in block.strip().splitlines()[2:]]
            found.append([(row[0].removeprefix("| "), row[1]) for row in rows])
    return found


def described(kind: type[BaseModel]) -> list[tuple[str, str]]:
    """The rows that a document's table must have."""

    def default(field: Any) -> str:
        if field.is_required():
            return "required"
        value = field.default
        plain = value.model_dump(exclude_defaults=True) if isinstance(value, BaseModel) else value
        return f"`{json.dumps(plain)}`"

    return [
        (f"`{field.alias or name}`", default(field)) for name, field in kind.model_fields.items()
    ]


def reachable(annotation: Any) -> set[type[BaseModel]]:
    """Every document inside an annotation, and inside those."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        inner = [reachable(field.annotation) for field in annotation.model_fields.values()]
        return {annotation}.union(*inner)
    return set().union(*(reachable(part) for part in typing.get_args(annotation)))


@pytest.mark.parametrize("number", range(len(DOCUMENTED)), ids=lambda n: DOCUMENTED[n].__name__)
def test_every_field_stands_in_its_table_with_its_default(number: int) -> None:
    assert sorted(tables()[number]) == sorted(described(DOCUMENTED[number]))


def test_every_document_inside_a_task_has_a_table() -> None:
    assert reachable(Task) == set(DOCUMENTED)
    assert len(tables()) == len(DOCUMENTED)


def test_every_allowed_word_is_told() -> None:
    def words(annotation: Any) -> set[str]:
        if typing.get_origin(annotation) is typing.Literal:
            return set(typing.get_args(annotation))
        return set().union(*(words(part) for part in typing.get_args(annotation)))

    for kind in DOCUMENTED:
        for field in kind.model_fields.values():
            for word in words(field.annotation):
                assert f"`{word}`" in PAGE or f'`"{word}"`' in PAGE


def test_the_example_is_a_task() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert Task.from_json(example).task_id == "widget-12"


def test_the_selector_terms_of_the_page_are_terms() -> None:
    table = PAGE.split("| term | holds for |\n|---|---|\n")[1].split("\n\n")[0]
    terms = [t for row in table.splitlines() for t in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    terms.remove("path/to/task.json")
    assert len(terms) >= 10
    for term in terms:
        selectors.parse_selector([term])
    kinds = {term.partition(":")[0] for term in terms if ":" in term}
    assert kinds == set(selectors._ATTRIBUTES)
