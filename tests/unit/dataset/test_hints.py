"""Hints about required files, from the names and imports of the files around them."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from nanobench.dataset.hints import balance_hints, file_hints
from nanobench.model.task import Task


def sources(files: dict[str, str]) -> Any:
    """A base commit with these files, of which the golden patch changes none."""
    contents = {path.encode(): text.encode() for path, text in files.items()}

    def blobs(paths: Iterable[bytes]) -> dict[bytes, bytes]:
        return {path: contents[path] for path in paths}

    snapshot = SimpleNamespace(entries=contents, blobs=blobs)
    return SimpleNamespace(golden=SimpleNamespace(changes=()), snapshot=snapshot)


def test_a_file_that_imports_two_required_files_is_told(
    document: Callable[..., dict[str, Any]],
) -> None:
    task = Task.model_validate(document("a-1", required_files=["src/parse.py", "src/render.py"]))
    files = {
        "src/parse.py": "from x import y\n",
        "src/render.py": "from x import z\n",
        "src/page.py": "from src import parse\nfrom src import render\n",
        "src/other.py": "from src import parse\n",
        "x/__init__.py": "",
    }
    (hint,) = file_hints(task, sources(files))
    assert hint.text.endswith("required files: src/page.py (2)")


def test_a_file_whose_name_begins_with_a_dot_is_a_module_of_its_own_name(
    document: Callable[..., dict[str, Any]],
) -> None:
    """`.eslintrc.cjs` had no name, and `task show` ended with an internal error."""
    task = Task.model_validate(document("a-1", required_files=["src/a.js", "src/b.js"]))
    files = {
        "src/a.js": "import rules from '../.eslintrc.cjs'\n",
        "src/b.js": "import rules from '../.eslintrc.cjs'\n",
        ".eslintrc.cjs": "module.exports = {}\n",
    }
    (hint,) = file_hints(task, sources(files))
    assert hint.text.endswith("required files: .eslintrc.cjs (2)")


def test_a_domain_that_nobody_said_is_not_counted(document: Callable[..., dict[str, Any]]) -> None:
    other = Task.model_validate(document("b-1", languages=["Go"]))
    said, unsaid = (
        Task.model_validate(document("a-1", languages=["Go"], domain=domain))
        for domain in (other.domain, "unassigned")
    )
    assert [
        hint.text for hint in (*balance_hints(said, [other]), *balance_hints(unsaid, [other]))
    ] == [
        "of 1 other active tasks 1 are of its domain, 1 of its tier, 1 with Go",
        "of 1 other active tasks 1 are of its tier, 1 with Go",
    ]
