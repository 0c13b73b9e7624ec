"""A clone is read, never obeyed."""

from pathlib import Path
from typing import Any

import pytest

from nanobench.dataset.clone import open_clone
from nanobench.dataset.extract.origin import Origin, origin_of
from nanobench.errors import InvalidInputError, RepositoryError


def test_any_form_of_a_clone_is_read(repo: Any, tmp_path: Path) -> None:
    head = repo.head()
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare"))
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    for path in (repo.path, repo.path / ".git", tmp_path / "bare", tmp_path / "linked"):
        with open_clone(path) as clone:
            assert clone.resolve("HEAD") == head
            assert clone.commit(head).subject == "Begin"
            assert set(clone.tree(head)) >= {b"src/widget.py", b"tests/test_widget.py"}


def test_a_directory_inside_a_repository_is_no_clone(repo: Any) -> None:
    with pytest.raises(InvalidInputError, match="no clone"), open_clone(repo.path / "src"):
        pass


@pytest.mark.parametrize("revision", ["0" * 40, "nowhere", "--help", "", "HEAD:src"])
def test_what_is_no_commit_is_refused(repo: Any, revision: str) -> None:
    with open_clone(repo.path) as clone, pytest.raises(InvalidInputError, match="no commit"):
        clone.resolve(revision)


def test_missing_history_is_told_with_its_remedy(repo: Any, tmp_path: Path) -> None:
    first = repo.head()
    repo.commit({"src/widget.py": "x = 1\n"})
    url = f"file://{repo.path}"
    repo.git("clone", "-q", "--depth=1", url, str(tmp_path / "shallow"))
    with open_clone(tmp_path / "shallow") as clone:
        assert [commit.sha for commit in clone.first_parents(repo.head())] == [repo.head()]
        with pytest.raises(RepositoryError, match="failed") as caught:
            clone.commit(first)
    assert "clone the repository whole" in caught.value.remedy


def test_commits_keep_their_messages_apart(repo: Any) -> None:
    sha = repo.commit({}, "One (#3)\n\nbody\n\n\nmore \u00fc\n")
    with open_clone(repo.path) as clone:
        found = list(clone.first_parents(sha))
    assert [commit.pull for commit in found] == [3, None]
    assert found[0].message.strip().endswith("more \u00fc")


@pytest.mark.parametrize(
    ("subject", "pull"),
    [
        ("fix: it (#12)", 12),
        ("Merge pull request #7 from a/b", 7),
        ("mention #12 in passing", None),
        ("fix (#12) and more", None),
        ("Merge branch 'main'", None),
    ],
)
def test_a_pull_request_is_known_by_the_words_of_github(
    repo: Any, subject: str, pull: int | None
) -> None:
    sha = repo.commit({}, subject)
    with open_clone(repo.path) as clone:
        assert clone.commit(sha).pull == pull


@pytest.mark.parametrize(
    ("said", "url"),
    [
        ("https://github.com/acme/widget.git", "https://github.com/acme/widget"),
        ("https://github.com/acme/widget/", "https://github.com/acme/widget"),
        ("git@github.com:acme/widget.git", "https://github.com/acme/widget"),
        ("https://me:secret@github.com/acme/widget", "https://github.com/acme/widget"),
        ("https://me:secret@example.org/acme/widget.git", "https://example.org/acme/widget.git"),
    ],
)
def test_a_url_that_is_said_gives_the_name_and_no_secret(repo: Any, said: str, url: str) -> None:
    with open_clone(repo.path) as clone:
        assert origin_of(clone, None, said) == Origin("acme/widget", url)


def test_the_origin_is_told_without_credentials_of_others(repo: Any) -> None:
    with open_clone(repo.path) as clone:
        assert clone.origin() is None
    repo.git("remote", "add", "origin", "https://example.org/acme/widget.git")
    with open_clone(repo.path) as clone:
        assert clone.origin() == "https://example.org/acme/widget.git"


def test_a_clone_cannot_run_anything(repo: Any) -> None:
    marker = repo.path / "ran"
    head = repo.head()
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external"):
        repo.git("config", name, f"touch {marker}")
    repo.git("config", "diff.evil.textconv", f"touch {marker}; cat")
    (repo.path / ".git/info/attributes").write_text("* diff=evil\n")
    with open_clone(repo.path) as clone:
        clone.resolve("HEAD")
        clone.git("diff-tree", "-p", "--root", head)
        clone.sizes(list(clone.tree(head).values()))
    assert not marker.exists()
