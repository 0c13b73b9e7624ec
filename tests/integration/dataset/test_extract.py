"""Extraction against plain git, on histories that go wrong easily."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.dataset.changes import PathRules
from nanobench.dataset.extract.extraction import Extraction, Request
from nanobench.dataset.task_files import task_text
from nanobench.errors import InvalidInputError
from nanobench.files import StateDirectory
from nanobench.model.task import PatchSource, StatementSource, Task
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.golden import Golden, resolve_golden
from nanobench.workspace.snapshot import SnapshotStore
from nanobench.workspace.statement import resolve_statement

Extract = Callable[..., Extraction]
TEST = "from widget import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
TESTED = {"src/widget.py": "def double(x):\n    return 2 * x\n", "tests/test_widget.py": TEST}


def plain_hash(repo: Any, base: str, merge: str) -> str:
    return hashlib.sha256(repo.git("diff", "--binary", base, merge)).hexdigest()


def resolved(task: Task, tmp_path: Path) -> tuple[Golden, str]:
    """As a bench would resolve the task, from its file alone."""
    again = Task.model_validate_json(task_text(task))
    state = StateDirectory.locate(tmp_path / "state")
    cache = ObjectCache(state.repositories)
    snapshot = SnapshotStore(state.snapshots, cache).get(again.repo_url, again.base_commit)
    return resolve_golden(again, snapshot, cache), resolve_statement(again, cache)


def patch_of(task: Task) -> PatchSource:
    assert isinstance(task.ground_truth_patch, PatchSource)
    return task.ground_truth_patch


def test_a_squash_commit_becomes_a_task_that_resolves(
    repo: Any, extract: Extract, tmp_path: Path
) -> None:
    base = repo.head()
    merge = repo.commit(TESTED, "fix: double by multiplying (#12)\n\nAdding is slow.\n")
    found = extract(repo, "HEAD")
    task = found.task
    assert (task.base_commit, task.merge_commit) == (base, merge)
    assert task.task_id == "widget-12"
    assert task.task_type == "bug_fix"
    assert task.required_files == ("src/widget.py",)
    assert task.test_files == ("tests/test_widget.py",)
    assert task.languages == ("Python",)
    assert task.tier() == 1
    assert task.token_estimate == -(-len("def double(x):\n    return x + x\n") // 4)
    assert task.merged_at.isoformat() == "2026-05-02T00:02:00+00:00"
    assert patch_of(task).sha256 == plain_hash(repo, base, merge)
    assert [suite.command for suite in task.suites] == [
        ".venv/bin/python -m pytest tests/test_widget.py"
    ]
    golden, statement = resolved(task, tmp_path)
    assert {change.path for change in golden.changes} == {
        b"src/widget.py",
        b"tests/test_widget.py",
    }
    assert statement == "fix: double by multiplying (#12)\n\nAdding is slow."
    assert "Adding is slow" not in task_text(task)


def test_a_rename_requires_the_old_path(repo: Any, extract: Extract, tmp_path: Path) -> None:
    base = repo.head()
    merge = repo.commit(
        {
            "src/widget.py": None,
            "src/gadget.py": "def double(x):\n    return x + x\n",
            "tests/test_widget.py": "import gadget\n",
        }
    )
    found = extract(repo, merge)
    assert found.task.required_files == ("src/widget.py",)
    assert "renamed: src/widget.py -> src/gadget.py" in found.notes
    assert patch_of(found.task).sha256 == plain_hash(repo, base, merge)
    golden, _ = resolved(found.task, tmp_path)
    assert b"src/gadget.py" in {change.path for change in golden.changes}


def test_a_rename_alone_has_no_test(repo: Any, extract: Extract) -> None:
    merge = repo.commit(
        {"src/widget.py": None, "src/gadget.py": "def double(x):\n    return x + x\n"}
    )
    with pytest.raises(InvalidInputError, match="touches no test file"):
        extract(repo, merge)


def test_a_binary_file_is_listed_and_in_the_patch(
    repo: Any, extract: Extract, tmp_path: Path
) -> None:
    base = repo.head()
    merge = repo.commit({**TESTED, "assets/logo.png": b"\x89PNG\0\1\2", "tests/a.bin": b"\0"})
    found = extract(repo, merge)
    assert found.task.required_files == ("src/widget.py",)
    assert "tests/a.bin" in found.task.test_files
    assert any(note.endswith("assets/logo.png") and "binary" in note for note in found.notes)
    assert patch_of(found.task).sha256 == plain_hash(repo, base, merge)
    golden, _ = resolved(found.task, tmp_path)
    assert b"\x89PNG\0\1\2" in {change.content for change in golden.changes}


def test_a_moved_submodule_is_refused(repo: Any, extract: Extract, tmp_path: Path) -> None:
    other = type(repo)(tmp_path / "other")
    first = other.commit({"a.py": "1\n"})
    repo.git("submodule", "add", "-q", str(other.path), "sub")
    repo.commit({}, "Add a submodule")
    repo.git("update-index", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.write(TESTED)
    repo.git("add", "src", "tests")
    repo.git("commit", "-q", "-m", "Move it")
    with pytest.raises(InvalidInputError, match="moves a submodule: sub"):
        extract(repo, "HEAD")
    assert first != "1" * 40


def test_a_submodule_at_the_base_is_told(repo: Any, extract: Extract, tmp_path: Path) -> None:
    other = type(repo)(tmp_path / "other")
    other.commit({"a.py": "1\n"})
    repo.git("submodule", "add", "-q", str(other.path), "sub")
    repo.commit({}, "Add a submodule")
    found = extract(repo, repo.commit(TESTED))
    assert any("submodule at the base" in note and note.endswith("sub") for note in found.notes)


def test_a_merge_with_a_resolved_conflict_is_taken_against_its_first_parent(
    repo: Any, extract: Extract, tmp_path: Path
) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(
        {"src/widget.py": "def double(x):\n    return 2 * x\n", "tests/test_widget.py": TEST}
    )
    repo.git("checkout", "-q", "main")
    base = repo.commit({"src/widget.py": "def double(x):\n    return x * 2\n"}, "Meanwhile")
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "-q", "side")
    merge = repo.commit(
        {"src/widget.py": "def double(x):\n    return 2 * x * 1\n"},
        "Merge pull request #7 from someone/side\n\nMultiply\n\nAdding is slow.\n",
    )
    found = extract(repo, merge)
    assert len(repo.git("log", "-1", "--format=%P", merge).split()) == 2
    assert found.task.base_commit == base
    assert patch_of(found.task).sha256 == plain_hash(repo, base, merge)
    assert found.task.task_id == "widget-7"
    assert any("resolved in the merge: src/widget.py" in note for note in found.notes)
    golden, statement = resolved(found.task, tmp_path)
    assert b"return 2 * x * 1\n" in golden.patch
    assert statement == "Multiply\n\nAdding is slow."


def test_a_revert_says_what_it_reverts(repo: Any, extract: Extract) -> None:
    reverted = repo.commit(TESTED, "fix: double (#12)")
    repo.git("revert", "--no-edit", reverted)
    found = extract(repo, "HEAD")
    assert f"the message says that it reverts {reverted}" in found.notes
    assert found.task.base_commit == reverted


def test_co_authors_stay_out_of_the_statement(repo: Any, extract: Extract, tmp_path: Path) -> None:
    merge = repo.commit(
        TESTED,
        "fix: double (#12)\n\nAdding is slow.\n\n---------\n\n"
        "Co-authored-by: A <a@example.org>\nSigned-off-by: B <b@example.org>\n",
    )
    found = extract(repo, merge)
    _, statement = resolved(found.task, tmp_path)
    assert statement == "fix: double (#12)\n\nAdding is slow."


def test_what_a_template_left_at_the_end_is_no_statement(
    repo: Any, extract: Extract, tmp_path: Path
) -> None:
    merge = repo.commit(
        TESTED,
        "fix: double (#12)\n\n# Description\nAdding is slow.\n\n- [x] is said inside\n\n"
        "It is.\n\n## Related\n<!-- for example\n\ncloses #1 -->\ncloses #34\n\n"
        "## Checklist\n- [x] I have read the guide\n\n---------\n\nCc: someone\n",
    )
    found = extract(repo, merge)
    _, statement = resolved(found.task, tmp_path)
    assert statement.endswith("\n\nIt is.")
    assert found.statement.chosen == (1, 4)
    assert found.statement.forms == [3]


def test_a_merge_of_branches_keeps_its_subject(repo: Any, extract: Extract, tmp_path: Path) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(TESTED)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "feat: double (#12)\n\nAdding is slow.", "side")
    found = extract(repo, "HEAD")
    assert resolved(found.task, tmp_path)[1] == "feat: double (#12)\n\nAdding is slow."


def test_the_type_of_a_merge_is_told_by_its_title(repo: Any, extract: Extract) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(TESTED)
    repo.git("checkout", "-q", "main")
    message = "Merge pull request #7 from someone/side\n\nfix(math)!: double\n"
    repo.git("merge", "-q", "--no-ff", "-m", message, "side")
    assert extract(repo, "HEAD").task.task_type == "bug_fix"


def test_chosen_paragraphs_are_the_statement(repo: Any, extract: Extract, tmp_path: Path) -> None:
    merge = repo.commit(TESTED, "fix: double\n\nThe problem.\n\nThe solution.\n")
    found = extract(repo, merge, Request(paragraphs=(2, 2)))
    assert resolved(found.task, tmp_path)[1] == "The problem."
    with pytest.raises(InvalidInputError, match="paragraphs 2 to 9"):
        extract(repo, merge, Request(paragraphs=(2, 9)))


def test_a_path_that_is_not_utf_8_stays_in_the_patch(
    repo: Any, extract: Extract, tmp_path: Path
) -> None:
    base = repo.head()
    repo.write(TESTED)
    (repo.path / os.fsdecode(b"caf\xe9.dat")).write_bytes(b"data\n")
    merge = repo.commit({})
    found = extract(repo, merge)
    assert any('"caf\\351.dat"' in note for note in found.notes)
    assert patch_of(found.task).sha256 == plain_hash(repo, base, merge)
    golden, _ = resolved(found.task, tmp_path)
    assert b"caf\xe9.dat" in {change.path for change in golden.changes}


def test_a_source_whose_path_is_not_utf_8_cannot_be_named(repo: Any, extract: Extract) -> None:
    odd = repo.path / "src" / os.fsdecode(b"caf\xe9.py")
    odd.write_bytes(b"x = 1\n")
    assert extract(repo, repo.commit(TESTED)).task.required_files == ("src/widget.py",)
    odd.write_bytes(b"x = 2\n")
    with pytest.raises(InvalidInputError, match="a path is not UTF-8"):
        extract(repo, repo.commit({"tests/test_widget.py": "x = 1\n"}))


def test_what_tools_write_is_never_required(repo: Any, extract: Extract) -> None:
    repo.commit({"uv.lock": "1\n", "src/schema.py": "old\n", "vendor/lib.py": "1\n"})
    found = extract(
        repo,
        repo.commit(
            {
                **TESTED,
                "uv.lock": "2\n",
                "src/schema.py": "# Code generated by a tool. DO NOT EDIT.\n",
                "src/api_pb2.py": "x = 1\n",
                "vendor/lib.py": "2\n",
                "README.md": "more\n",
            }
        ),
    )
    assert found.task.required_files == ("src/widget.py",)
    assert set(found.task.generated_files) == {"uv.lock", "src/schema.py", "src/api_pb2.py"}
    notes = "\n".join(found.notes)
    for path in ("uv.lock", "src/schema.py", "src/api_pb2.py", "vendor/lib.py", "README.md"):
        assert path in notes


def test_patterns_overrule_what_files_are_by_their_names(repo: Any, extract: Extract) -> None:
    repo.commit({"src/schema.txt": "1\n", "checks/double.py": "1\n", "src/parser.py": "1\n"})
    merge = repo.commit(
        {
            "src/widget.py": "x = 1\n",
            "src/schema.txt": "2\n",
            "checks/double.py": "2\n",
            "src/parser.py": "2\n",
        }
    )
    rules = PathRules(test=("checks/*",), source=("*.txt",), generated=("src/parser.*",))
    found = extract(repo, merge, Request(rules=rules, test_command="sh check.sh {OUT}"))
    assert found.task.test_files == ("checks/double.py",)
    assert found.task.required_files == ("src/schema.txt", "src/widget.py")
    assert found.task.generated_files == ("src/parser.py",)
    assert found.task.test_command == "sh check.sh {OUT}"


def test_an_added_file_is_required_only_where_nothing_else_is(repo: Any, extract: Extract) -> None:
    both = repo.commit({**TESTED, "src/more.py": "x = 1\n"})
    found = extract(repo, both)
    assert found.task.required_files == ("src/widget.py",)
    assert "added, so not required: src/more.py" in found.notes
    alone = repo.commit({"src/other.py": "x = 1\n", "tests/test_other.py": "def test(): pass\n"})
    assert extract(repo, alone).task.required_files == ("src/other.py",)


def test_a_number_that_an_earlier_commit_has_is_noted(repo: Any, extract: Extract) -> None:
    first = repo.commit({"src/widget.py": "x = 1\n"}, "Begin (#12)")
    found = extract(repo, repo.commit(TESTED, "fix: double (#12)"))
    assert f"pr_url may be another's: earlier commits have 12 too: {first[:12]}" in found.notes
    later = extract(
        repo,
        repo.commit({"src/widget.py": "x = 2\n", "tests/a.py": ""}, "x (#13)"),
        Request(test_command="pytest"),
    )
    assert not any("pr_url" in note for note in later.notes)


def test_many_files_of_one_kind_make_one_note(repo: Any, extract: Extract) -> None:
    files = {f".github/w{number}.yml": "x\n" for number in range(9)}
    found = extract(repo, repo.commit({**TESTED, **files}))
    (note,) = (note for note in found.notes if "neither" in note)
    assert note.endswith(".github/w4.yml and 4 more")
    assert len(found.document()["files"]) == 11


def test_what_a_suite_cannot_see_by_itself_is_noted(repo: Any, extract: Extract) -> None:
    change = {
        **TESTED,
        "src/fast.rs": "fn f() {}\n",
        "ui/view.ts": "1\n",
        "pyproject.toml": "[project]\nname = 'widget'\ndependencies = ['more']\n",
    }
    found = extract(repo, repo.commit(change, "fix: double (#12)"))
    assert "names dependencies, which are installed as the base has them: pyproject.toml" in (
        found.notes
    )
    assert [note for note in found.notes if "another has to build" in note] == [
        "no suite is in TypeScript, so that another has to build: ui/view.ts",
        "no suite is in Rust, so that another has to build: src/fast.rs",
    ]
    assert "the statement is a single line" in found.notes
    own = extract(repo, "HEAD", Request(test_command="make check {OUT}"))
    assert not any("suite" in note for note in own.notes)


@pytest.mark.parametrize(("count", "tier"), [(1, 1), (2, 2), (4, 2), (5, 3), (16, 3)])
def test_the_tier_follows_the_count_of_required_files(
    repo: Any, extract: Extract, count: int, tier: int
) -> None:
    names = [f"src/m{number}.py" for number in range(count)]
    repo.commit(dict.fromkeys(names, "x = 1\n"))
    found = extract(repo, repo.commit({**dict.fromkeys(names, "x = 2\n"), "tests/test_m.py": TEST}))
    assert found.task.tier() == tier
    assert any("more than the 15" in note for note in found.notes) == (count > 15)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "changes nothing"),
        ({"README.md": "x\n"}, "edits no source file"),
        ({"src/widget.py": "x = 1\n"}, "touches no test file"),
        ({"src/widget.py": "x = 1\n", "tests/test_widget.py": None}, "only deletes tests"),
        ({"src/widget.py": "x = 1\n", "tests/data.json": "1\n"}, "no test command is known"),
    ],
)
def test_what_cannot_be_a_task_is_refused(
    repo: Any, extract: Extract, files: dict[str, str | None], reason: str
) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        extract(repo, repo.commit(files))


def test_the_first_commit_has_nothing_to_start_from(repo: Any, extract: Extract) -> None:
    with pytest.raises(InvalidInputError, match="no parent"):
        extract(repo, "HEAD")


def test_a_base_that_is_not_behind_the_commit_is_told(repo: Any, extract: Extract) -> None:
    merge = repo.commit(TESTED)
    later = repo.commit({"src/widget.py": "double = None\n", "tests/test_widget.py": "x = 1\n"})
    swapped = extract(repo, merge, Request(base=later)).notes
    assert any(note.startswith("the base is not behind the commit") for note in swapped)
    assert not any("behind" in note for note in extract(repo, merge).notes)


def test_nothing_of_the_clone_changes_the_patch(repo: Any, extract: Extract) -> None:
    base = repo.head()
    merge = repo.commit({**TESTED, ".gitattributes": "*.py -diff\n"})
    before = extract(repo, merge).task
    for name, value in {
        "diff.noprefix": "true",
        "diff.context": "9",
        "core.abbrev": "20",
        "diff.algorithm": "patience",
        "diff.external": "touch ran",
    }.items():
        repo.git("config", name, value)
    (repo.path / ".git/info/attributes").write_text("*.py -diff\n")
    assert extract(repo, merge).task == before
    assert not (repo.path / "ran").exists()
    assert before.base_commit == base


def test_the_same_commit_gives_the_same_bytes(repo: Any, extract: Extract) -> None:
    merge = repo.commit(TESTED)
    assert task_text(extract(repo, merge).task) == task_text(extract(repo, merge).task)


def test_no_word_of_the_message_is_copied(repo: Any, extract: Extract) -> None:
    merge = repo.commit(TESTED, "fix: zanzibar (#1)\n\nquokka\n")
    found = extract(repo, merge)
    assert isinstance(found.task.problem_statement, StatementSource)
    assert "zanzibar" not in json.dumps(found.document())
    assert "quokka" not in json.dumps(found.document())
