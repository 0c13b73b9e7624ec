"""Scores and candidates of a repository whose history we know."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nanobench.cli.repo import repo as repo_command
from nanobench.errors import InvalidInputError, RepositoryError, UsageError
from nanobench.model.registry import Registry, ScoredRepository

Run = Callable[..., Result]
LINES = "x = 1\n" * 12


def merge_pulls(repo: Any, count: int, sources: int = 2) -> None:
    """Pull requests that each edit some sources, a Go file, and a test."""
    for number in range(1, count + 1):
        files = {f"src/m{index}.py": f"x = {number}\n" for index in range(sources)}
        repo.commit(
            {
                **files,
                "cmd/main.go": f"package main // {number}\n",
                "tests/test_widget.py": f"# {number}\n{LINES}",
                "README.md": f"{number}\n",
            },
            f"fix: part {number} (#{number})",
        )


@pytest.fixture
def run(repo: Any, tmp_path: Path) -> Run:
    """`run("score", "--novelty", "4")`: the command on the repository, with its own registry."""
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    manifest = {"name": "made-up", "version": "1.0", "contamination_cutoff": "2026-04-01T00:00:00Z"}
    (tasks / "dataset.json").write_text(json.dumps(manifest))

    def call(command: str, *options: str, clone: bool = True) -> Result:
        about = [str(repo.path), "--repo", "acme/widget"] if clone else []
        arguments = [command, *about, "--tasks-dir", str(tasks), *options]
        return CliRunner().invoke(repo_command, arguments)

    call.registry = tasks / "registry.json"  # type: ignore[attr-defined]
    return call


def score(run: Run, *options: str) -> ScoredRepository:
    result = run("score", "--json", *options)
    assert result.exit_code == 0, result.exception
    return ScoredRepository.model_validate_json(result.stdout)


def test_each_axis_comes_with_its_evidence(repo: Any, run: Run) -> None:
    merge_pulls(repo, 6)
    found = score(run, "--novelty", "4", "--reason", "no other")
    assert found.languages.counted == ("Go", "Python")
    assert found.languages.changes == {"Go": 6, "Python": 6}
    assert (found.depth.mean_files, found.depth.points) == (3.0, 3)
    assert [change.pull for change in found.changes] == [6, 5, 4, 3, 2]
    assert all(change.fix and change.files == 3 for change in found.changes)
    assert (found.activity.merged, found.activity.points) == (6, 4)
    assert (found.novelty.points, found.novelty.reason) == (4, "no other")
    assert (found.context.points, found.context.tokenizer) == (0, "bytes/4")
    assert found.total == 2 + 3 + 4 + 4 + 0


def test_context_is_all_that_lies_beside_the_edited_sources(repo: Any, run: Run) -> None:
    repo.commit(
        {"src/beside.py": "#" * 100_000, "src/data.json": "1" * 100_000, "far/x.py": "#" * 9}
    )
    merge_pulls(repo, 5)
    found = score(run)
    assert found.context.points == 2
    assert 25_000 <= found.context.median_tokens < 25_100


def test_what_a_bug_fix_is_not_comes_after_what_is_one(repo: Any, run: Run) -> None:
    merge_pulls(repo, 5)
    repo.commit({"src/m0.py": "y\n", "tests/test_widget.py": "y\n"}, "feat: more (#9)")
    assert [change.pull for change in score(run).changes] == [5, 4, 3, 2, 1]


def test_only_pull_requests_count_as_activity(repo: Any, run: Run) -> None:
    merge_pulls(repo, 5)
    repo.commit({"src/m0.py": "z\n"}, "Pushed directly")
    assert score(run).activity.merged == 5


def test_the_same_commit_gives_the_same_bytes(repo: Any, run: Run) -> None:
    merge_pulls(repo, 5)
    head = repo.head()
    run("score", "--write", "--domain", "widgets")
    first = run.registry.read_bytes()  # type: ignore[attr-defined]
    repo.commit({"src/m0.py": "later\n"}, "fix: later (#77)")
    run("score", "--write", "--commit", head)
    assert run.registry.read_bytes() == first  # type: ignore[attr-defined]


def test_the_registry_keeps_judgement_and_domain_until_others_are_given(
    repo: Any, run: Run
) -> None:
    merge_pulls(repo, 5)
    score(run, "--write", "--domain", "widgets", "--novelty", "4", "--reason", "no other")
    again = score(run, "--write")
    assert (again.domain, again.novelty.points, again.novelty.reason) == ("widgets", 4, "no other")
    score(run, "--write", "--novelty", "0")
    registry = Registry.model_validate_json(run.registry.read_bytes())  # type: ignore[attr-defined]
    assert [entry.novelty.points for entry in registry.repositories] == [0]
    listed = run("list", clone=False)
    assert "acme/widget" in listed.output
    assert "below the 12 points" in listed.output
    assert Registry.model_validate_json(run("list", "--json", clone=False).output) == registry


@pytest.mark.parametrize("options", [("--novelty", "2"), ("--novelty", "4", "--reason", " ")])
def test_novelty_needs_its_reason(repo: Any, run: Run, options: tuple[str, ...]) -> None:
    merge_pulls(repo, 5)
    result = run("score", *options)
    assert isinstance(result.exception, UsageError)
    assert "needs its reason" in result.exception.what


def test_a_reason_alone_is_refused(repo: Any, run: Run) -> None:
    merge_pulls(repo, 5)
    assert isinstance(run("score", "--reason", "x").exception, UsageError)


def test_too_little_history_is_refused(repo: Any, run: Run) -> None:
    merge_pulls(repo, 4)
    error = run("score").exception
    assert isinstance(error, InvalidInputError)
    assert "only 4 merged pull requests" in error.what


@pytest.mark.parametrize("command", ["score", "candidates"])
def test_a_shallow_clone_is_not_judged_by_the_part_that_it_has(
    repo: Any, run: Run, tmp_path: Path, command: str
) -> None:
    merge_pulls(repo, 9)
    url = f"file://{repo.path}"
    repo.git("clone", "-q", "--depth=7", url, str(tmp_path / "shallow"))
    repo.path = tmp_path / "shallow"
    error = run(command).exception
    assert isinstance(error, RepositoryError)
    assert "--unshallow" in error.remedy


def test_a_clone_that_does_not_say_its_origin_needs_a_name(repo: Any, tmp_path: Path) -> None:
    error = CliRunner().invoke(repo_command, ["candidates", str(repo.path)]).exception
    assert isinstance(error, UsageError)
    assert "--repo" in error.remedy


def test_candidates_are_ranked_by_the_rules_that_are_shown(repo: Any, run: Run) -> None:
    repo.commit({f"src/m{number}.py": "0\n" for number in range(20)} | {"ui/a.ts": "0\n"})
    test = {"tests/test_widget.py": LINES}
    small = repo.commit({"src/m0.py": "1\n", "src/m1.py": "1\n", **test}, "feat: small (#1)")
    large = repo.commit(
        {
            **{f"src/m{n}.py": "2\n" * 5 for n in range(5)},
            "ui/a.ts": "2\n",
            "tests/test_widget.py": "# 2\n",
            "ui/a.test.ts": LINES,
        },
        "fix: large (#2)\n\n" + "word " * 20,
    )
    repo.commit({"src/m0.py": "3\n", "tests/test_widget.py": "# 3\n"}, "fix: one file (#3)")
    repo.commit({**{f"src/m{n}.py": "4\n" for n in range(16)}, **test}, "fix: too many (#4)")
    repo.commit({"src/m0.py": "5\n", "src/m1.py": "5\n"}, "fix: no test (#5)")
    document = json.loads(run("candidates", "--json").output)
    found = document["candidates"]
    assert [row["commit"] for row in found] == [large, small]
    points = {rule["rule"]: rule["points"] for rule in document["rules"]}
    for row in found:
        assert row["points"] == sum(points[rule] for rule in row["rules"])
    assert found[0]["rules"] == [
        "sources in two languages",
        "tests in two languages",
        "five or more required files",
        "10 or more lines of tests",
        "20 to 400 lines of sources",
        "the subject says that it mends something",
        "20 or more words below the subject",
    ]
    assert found[1]["rules"] == ["10 or more lines of tests"]
    shown = run("candidates").output
    assert all(rule in shown for rule in points)
    assert len(json.loads(run("candidates", "--json", "--limit", "1").output)["candidates"]) == 1
    assert json.loads(run("candidates", "--json", "--since", "2026-06-01").output)["of"] == 0


def test_a_number_that_several_commits_have_makes_no_candidate(repo: Any, run: Run) -> None:
    repo.commit({"src/m0.py": "0\n", "src/m1.py": "0\n"}, "Begin (#9)")
    change = {"src/m0.py": "1\n", "src/m1.py": "1\n", "tests/test_widget.py": "# 1\n"}
    repo.commit(change, "feat: of another repository (#9)")
    own = repo.commit(dict.fromkeys(change, "2\n"), "feat: of this one (#10)")
    document = json.loads(run("candidates", "--json").output)
    assert [row["commit"] for row in document["candidates"]] == [own]
    assert document["merged"] == 1


def test_a_change_that_the_clone_lacks_files_of_does_not_hide_the_others(
    repo: Any, run: Run
) -> None:
    change = ("src/m0.py", "src/m1.py", "tests/test_widget.py")
    first = repo.commit(dict.fromkeys(change, "1\n"), "feat: one (#1)")
    repo.commit({name: f"{name} 2\n" for name in change}, "feat: two (#2)")
    for name in change:
        blob = repo.git("rev-parse", f"HEAD:{name}").decode().strip()
        (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    document = json.loads(run("candidates", "--json").output)
    assert [row["commit"] for row in document["candidates"]] == [first]
    assert (document["merged"], document["unread"]) == (2, 1)
    assert "since the clone lacks files of them: 1\n" in run("candidates").output
    blob = repo.git("rev-parse", f"{first}:src/m0.py").decode().strip()
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert isinstance(run("candidates").exception, RepositoryError)


def test_an_empty_list_says_since_when_and_how_pull_requests_are_known(repo: Any, run: Run) -> None:
    repo.commit({"src/m0.py": "1\n"}, "Pushed directly")
    shown = run("candidates").output
    assert "0 of 0 candidates among 0 pull requests merged since 2026-04-01" in shown
    assert "--since looks further back" in shown
    assert "commit  " not in shown


def test_a_merge_is_shown_by_its_title(repo: Any, run: Run) -> None:
    change = ("src/m0.py", "src/m1.py", "tests/test_widget.py")
    repo.commit(dict.fromkeys(change, "1\n"), "Merge pull request #1 from x/y\n\nMultiply\n\nmore")
    (row,) = json.loads(run("candidates", "--json").output)["candidates"]
    assert (row["title"], row["pull"]) == ("Multiply", 1)
