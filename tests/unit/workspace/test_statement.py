import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import HashMismatchError, InvalidInputError
from nanobench.model.task import Selection, StatementSource, Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.statement import resolve_statement

COMMIT = "c" * 40
TEXT = """Title of it

Intro one.

```
# no heading
```

## Wanted #

First
paragraph.

Second.
### Deeper

Third.

Solution
--------

Secret.
"""


class FixedCache(ObjectCache):
    """Reads the same bytes from every repository."""

    def __init__(self, content: bytes) -> None:
        super().__init__(Path("/nonexistent"))
        self.content = content

    def reading(self, url: str, commits: Sequence[str], read: Callable[[Path], Any]) -> Any:
        assert commits == [COMMIT]
        return self.content


def task(statement: Any) -> Task:
    return Task(
        task_id="t-1",
        repo="o/r",
        repo_url="https://example.invalid/o/r",
        base_commit="b" * 40,
        languages=("python",),
        domain="d",
        complexity_tier="Tier 1 (Isolated Edit)",
        task_type="bug",
        reasoning_category="r",
        token_estimate=1,
        problem_statement=statement,
        required_files=("a.py",),
        ground_truth_patch="patch",
        test_command="pytest",
        contributor="c",
        merged_at="2026-05-01T00:00:00Z",
    )


def resolve(content: bytes, expected: str, select: Selection | None = None) -> str:
    source = StatementSource(
        from_="commit_message",
        commit=COMMIT,
        select=select,
        sha256=hashlib.sha256(expected.encode()).hexdigest(),
    )
    return resolve_statement(task(source), FixedCache(content))


def test_a_string_is_taken_as_it_stands() -> None:
    assert resolve_statement(task("  as is\r\n"), FixedCache(b"")) == "  as is\r\n"


def test_line_ends_and_margins_are_normal_before_the_hash() -> None:
    assert resolve(b"\n\n a\r\nb\rc \n", "a\nb\nc") == "a\nb\nc"


@pytest.mark.parametrize(
    ("heading", "paragraphs", "expected"),
    [
        ("Wanted", None, "First\nparagraph.\n\nSecond.\n### Deeper\n\nThird."),
        ("Wanted", (1, 1), "First\nparagraph."),
        ("Deeper", None, "Third."),
        ("Solution", None, "Secret."),
        (None, (1, 2), "Title of it\n\nIntro one."),
    ],
)
def test_a_part_is_selected_and_the_solution_below_stays_out(
    heading: str | None, paragraphs: tuple[int, int] | None, expected: str
) -> None:
    select = Selection(heading=heading, paragraphs=paragraphs)
    assert resolve(TEXT.encode(), expected, select) == expected


@pytest.mark.parametrize(
    ("select", "problem"),
    [
        (Selection(heading="no heading"), "no heading 'no heading'"),
        (Selection(heading="wanted"), "no heading 'wanted'"),
        (Selection(heading="Deeper", paragraphs=(1, 2)), "paragraphs 1 to 2 .* has 1"),
        (Selection(paragraphs=(3, 2)), "paragraphs 3 to 2"),
    ],
)
def test_a_selection_that_fits_nothing_is_an_error_that_names_it(
    select: Selection, problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem) as caught:
        resolve(TEXT.encode(), "", select)
    assert "t-1, problem_statement.select" in caught.value.where


def test_an_empty_section_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        resolve(b"# A\n\n# B\ntext", "", Selection(heading="A"))


def test_a_wrong_hash_names_both() -> None:
    with pytest.raises(HashMismatchError) as caught:
        resolve(b"other", "expected")
    for text in ("other", "expected"):
        assert hashlib.sha256(text.encode()).hexdigest() in caught.value.what
    assert caught.value.exit_code == 3


def test_text_that_is_not_utf8_is_invalid_input() -> None:
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        resolve(b"\xff\xfe", "")


@pytest.mark.parametrize("kind", ["issue", "pull_request"])
def test_sources_that_others_can_edit_cannot_be_run(kind: str) -> None:
    source = StatementSource(from_=kind, url="https://example.invalid/1", sha256="0" * 64)
    with pytest.raises(InvalidInputError, match=kind) as caught:
        resolve_statement(task(source), FixedCache(b""))
    assert caught.value.where.endswith("problem_statement.from")
