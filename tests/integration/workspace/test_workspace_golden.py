"""Golden patches and statements, resolved from real repositories."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import HashMismatchError, InvalidInputError, RepositoryError
from nanobench.model.task import PatchSource, Selection, StatementSource, Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.changes import apply_changes
from nanobench.workspace.diff import diff_workspace
from nanobench.workspace.golden import resolve_golden
from nanobench.workspace.snapshot import Snapshot, SnapshotStore
from nanobench.workspace.statement import resolve_statement


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def task(history: Any, **fields: Any) -> Task:
    values: dict[str, Any] = {
        "task_id": "t-1",
        "repo": "o/r",
        "repo_url": history.origin.url,
        "base_commit": history.base,
        "languages": ("python",),
        "domain": "d",
        "complexity_tier": "Tier 2 (Interface Mapping)",
        "task_type": "bug",
        "reasoning_category": "r",
        "token_estimate": 1,
        "problem_statement": "s",
        "required_files": ("src/app.py",),
        "ground_truth_patch": "p",
        "test_command": "pytest",
        "contributor": "c",
        "merged_at": "2026-05-01T00:00:00Z",
    }
    return Task(**{**values, **fields})


def by_reference(history: Any, digest: str | None = None) -> Task:
    patch = history.origin.git("diff", "--binary", history.base, history.merge)
    source = PatchSource(base=history.base, merge=history.merge, sha256=digest or sha256(patch))
    return task(history, ground_truth_patch=source)


def test_both_forms_give_the_tree_of_the_merge(
    history: Any, snapshot: Snapshot, cache: ObjectCache, store: SnapshotStore, tmp_path: Path
) -> None:
    referred = resolve_golden(by_reference(history), snapshot, cache)
    inline = task(history, ground_truth_patch=referred.patch.decode())
    assert resolve_golden(inline, snapshot, cache) == referred
    workspace = tmp_path / "golden"
    snapshot.unpack(workspace)
    assert apply_changes(workspace, referred.changes) == []
    merged = store.get(history.origin.url, history.merge)
    assert diff_workspace(workspace, merged, tmp_path / "scratch").changes == ()
    assert diff_workspace(workspace, snapshot, tmp_path / "scratch").changes == referred.changes
    assert [path.name for path in cache.root.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("length", ["7", "9", "12", "40"])
def test_the_hash_holds_whatever_length_git_gave_to_blob_names(
    history: Any, snapshot: Snapshot, cache: ObjectCache, length: str
) -> None:
    """In a large repository `git diff` writes longer names than in the cache's small one."""
    abbreviated = ("-c", f"core.abbrev={length}", "diff", "--binary")
    patch = history.origin.git(*abbreviated, history.base, history.merge)
    golden = resolve_golden(by_reference(history, sha256(patch)), snapshot, cache)
    assert golden.patch == patch


def test_a_wrong_hash_names_both_and_keeps_the_repository(
    history: Any, snapshot: Snapshot, cache: ObjectCache
) -> None:
    stated = "0" * 64
    patch = history.origin.git(
        "-c", "core.abbrev=7", "diff", "--binary", history.base, history.merge
    )
    with pytest.raises(HashMismatchError) as caught:
        resolve_golden(by_reference(history, stated), snapshot, cache)
    assert stated in caught.value.what
    assert sha256(patch) in caught.value.what
    assert "ground_truth_patch.sha256" in caught.value.where


def test_a_patch_from_another_base_is_refused(
    history: Any, snapshot: Snapshot, cache: ObjectCache
) -> None:
    source = PatchSource(base=history.past, merge=history.merge, sha256="0" * 64)
    with pytest.raises(InvalidInputError, match=history.past):
        resolve_golden(task(history, ground_truth_patch=source), snapshot, cache)


@pytest.mark.parametrize(
    "text", ["no patch at all", "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n"]
)
def test_a_patch_that_does_not_apply_is_invalid_input(
    history: Any, snapshot: Snapshot, cache: ObjectCache, text: str
) -> None:
    with pytest.raises(InvalidInputError, match="does not apply") as caught:
        resolve_golden(task(history, ground_truth_patch=text), snapshot, cache)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("path", ["../escape", ".git/config", "/etc/x"])
def test_a_patch_that_leaves_the_tree_does_not_apply(
    history: Any, snapshot: Snapshot, cache: ObjectCache, path: str
) -> None:
    text = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    with pytest.raises(InvalidInputError, match="does not apply"):
        resolve_golden(task(history, ground_truth_patch=text), snapshot, cache)


def test_an_unknown_merge_commit_is_a_repository_error(
    history: Any, snapshot: Snapshot, cache: ObjectCache
) -> None:
    source = PatchSource(base=history.base, merge="d" * 40, sha256="0" * 64)
    with pytest.raises(RepositoryError, match="d" * 40):
        resolve_golden(task(history, ground_truth_patch=source), snapshot, cache)


def statement(history: Any, cache: ObjectCache, text: str, **source: Any) -> str:
    pinned = StatementSource(sha256=sha256(text.encode()), **source)
    return resolve_statement(task(history, problem_statement=pinned), cache)


def test_a_statement_comes_from_a_commit_message(history: Any, cache: ObjectCache) -> None:
    message = {"from": "commit_message", "commit": history.merge}
    whole = "Make the app golden\n\nIt was not."
    assert statement(history, cache, whole, **message) == whole
    second = Selection(paragraphs=(2, 2))
    assert statement(history, cache, "It was not.", select=second, **message) == "It was not."


def test_a_message_in_another_encoding_is_read(history: Any, cache: ObjectCache) -> None:
    latin = ["-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-F", "-"]
    history.origin.git(*latin, stdin="Für alle".encode("latin-1"))
    commit = history.origin.git("rev-parse", "HEAD").decode().strip()
    message = {"from": "commit_message", "commit": commit}
    assert statement(history, cache, "Für alle", **message) == "Für alle"


def test_a_statement_comes_from_a_file_at_the_base(history: Any, cache: ObjectCache) -> None:
    file = {"from": "file", "path": "README.md"}
    assert statement(history, cache, "# sample", **file) == "# sample"
    older = {**file, "commit": history.past}
    assert statement(history, cache, "# older", **older) == "# older"


@pytest.mark.parametrize("path", ["missing.md", "src", "link", "*.md"])
def test_a_file_that_is_not_there_is_named(history: Any, cache: ObjectCache, path: str) -> None:
    with pytest.raises(InvalidInputError, match="there is no file") as caught:
        statement(history, cache, "", **{"from": "file", "path": path})
    assert caught.value.where.endswith("problem_statement.path")
