import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.dataset.reading import read_document
from nanobench.errors import EXIT_INVALID, InvalidInputError
from nanobench.model.task import Task

Documents = Callable[..., dict[str, Any]]


def error_of(path: Path) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        read_document(Task, path)
    assert str(path) in caught.value.where
    assert caught.value.exit_code == EXIT_INVALID
    return caught.value


@pytest.fixture
def write(tmp_path: Path, document: Documents) -> Callable[..., Path]:
    def write_task(**changes: Any) -> Path:
        path = tmp_path / "t1.json"
        path.write_text(json.dumps(document("t1", **changes)))
        return path

    return write_task


def test_a_good_file_gives_the_document_and_its_bytes(write: Callable[..., Path]) -> None:
    path = write()
    task, data = read_document(Task, path)
    assert task.task_id == "t1"
    assert data == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "what", "where"),
    [
        (b'{\n "a": 1,\n}', "not JSON", "line 3, column 1"),
        (b"", "not JSON", "line 1, column 1"),
        (b'{"a": "\xff"}', "not UTF-8: byte 8", ""),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice", ""),
        (b'{"a": NaN}', "NaN is no number", ""),
        (b"[" * 200_000, "cannot be used as JSON", ""),
        (b"1" * 10_000, "cannot be used as JSON", ""),
        (b"[]", "the document: Input should be an object", ""),
    ],
)
def test_what_is_no_json_object_is_told_with_its_place(
    tmp_path: Path, content: bytes, what: str, where: str
) -> None:
    path = tmp_path / "t1.json"
    path.write_bytes(content)
    error = error_of(path)
    assert what in error.what
    assert where in error.where


def test_a_missing_file_a_directory_and_a_pipe_are_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert "cannot be read: No such file" in error_of(tmp_path / "none.json").what
    assert "this is a directory" in error_of(tmp_path).what
    assert "not a regular file" in error_of(tmp_path / "pipe.json").what


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "t1.json"
    with path.open("wb") as stream:
        stream.truncate(64 * 1024 * 1024 + 1)
    assert "larger than 64 MiB" in error_of(path).what


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"required_file": ["a"]}, "required_file: there is no such field; did you mean"),
        ({"required_file": ["a"]}, "'required_files'?"),
        ({"zzz": 1}, "zzz: there is no such field; known here: attachments, "),
        ({"repo_url": ...}, "repo_url: this field is missing"),
        ({"base_commit": "abc"}, "base_commit: String should match pattern"),
        ({"required_files": ["a", "../b"]}, "required_files[1]: '../b' must be a path inside"),
        ({"test_command": ...}, "the document: a task needs 'test_command' or 'suites'"),
        ({"environment": {"instal": []}}, "environment.instal: there is no such field; did you"),
        ({"suites": [{"name": "a", "language": "Go"}]}, "suites[0].command: this field is missing"),
        (
            {"suites": [{"name": "a", "language": "Go", "command": "x", "timeout": 3}]},
            "suites[0].timeout: there is no such field; did you mean 'timeout_seconds'?",
        ),
    ],
)
def test_a_field_that_does_not_fit_is_told_with_its_path_and_cure(
    write: Callable[..., Path], changes: dict[str, Any], told: str
) -> None:
    assert told in error_of(write(**changes)).what


def test_of_a_source_given_as_object_only_its_own_faults_are_told(
    write: Callable[..., Path],
) -> None:
    source = {"from": "file", "pathh": "README.md", "sha256": "0" * 64}
    error = error_of(write(problem_statement=source))
    assert "problem_statement.pathh: there is no such field; did you mean 'path'?" in error.what
    assert "string" not in error.what
    assert "StatementSource" not in error.what


def test_of_a_source_given_as_text_only_its_own_faults_are_told(
    write: Callable[..., Path],
) -> None:
    error = error_of(write(problem_statement=""))
    assert error.what == (
        "the file does not fit its schema: "
        "problem_statement: String should have at least 1 character"
    )


def test_many_faults_are_told_together_and_their_number_is_bounded(
    write: Callable[..., Path],
) -> None:
    error = error_of(write(**{f"unknown_{n}": n for n in range(30)}))
    assert error.what.count("\n") == 13
    assert "and 18 more" in error.what
