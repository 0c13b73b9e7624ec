"""What a person should look at before taking an extracted task: facts, each with its place."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nanobench.dataset.changes import ChangedFile, Kind
from nanobench.dataset.clone import Clone, Commit
from nanobench.dataset.extract.commands import Commands
from nanobench.dataset.extract.statement import Statement
from nanobench.verify.expected import some
from nanobench.workspace.paths import display

MOST_FILES = 15  # of a tier 3 (SPEC T4)
_REVERTS = re.compile(r"^This reverts (?:commit|merge|pull request) ?#?([0-9a-f]+)", re.M)
_LISTED: dict[Kind, str] = {
    "generated": "generated, never required",
    "lock": "lock file, never required",
    "vendored": "vendored, left out of required_files",
    "binary": "binary, left out of required_files",
    "docs": "documentation, left out of required_files",
    "other": "neither source nor test by its name",
}
_INSTALLED = re.compile(
    r"(^|/)(package\.json|pyproject\.toml|setup\.(py|cfg)|[^/]*requirements[^/]*\.txt|Cargo\.toml"
    r"|go\.mod|pom\.xml|build\.gradle(\.kts)?|libs\.versions\.toml)$"
)
# Languages whose sources the tests of another can only reach through a build.
_FAMILIES = (
    {"Python", "Cython"},
    {"JavaScript", "TypeScript", "Svelte", "Vue"},
    {"Go"},
    {"Rust"},
    {"Java", "Kotlin", "Scala", "Groovy"},
)


@dataclass(frozen=True)
class Noted:
    """A change, as it became a task.

    Args:
        commands: as they were found; null if a person gave another.
    """

    commit: Commit
    base: str
    files: Sequence[ChangedFile]
    statement: Statement
    commands: Commands | None


def notes_on(clone: Clone, noted: Noted) -> Iterator[str]:
    """The notes, those on the commits first."""
    yield from _on_commits(clone, noted.commit, noted.base)
    yield from _on_statement(noted.statement)
    yield from _on_files(noted.files)
    if noted.commands is not None:
        yield from _on_commands(noted.files, noted.commands)


def _on_commits(clone: Clone, commit: Commit, base: str) -> Iterator[str]:
    if commit.pull is not None:
        same = [one.sha[:12] for one in clone.first_parents(base) if one.pull == commit.pull]
        if same:
            yield f"pr_url may be another's: earlier commits have {commit.pull} too: {some(same)}"
    if clone.git("rev-list", "--max-count=1", base, f"^{commit.sha}"):
        yield f"the base is not behind the commit, so that the patch undoes things: {base}"
    if len(commit.parents) > 1:
        yield f"a merge of {len(commit.parents)} parents; the patch is against {base}"
        args = ("diff-tree", "-c", "-r", "-z", "--name-only", "--no-commit-id", commit.sha)
        resolved = [display(path) for path in clone.git(*args).split(b"\0")[:-1]]
        if resolved:
            yield f"differs from every parent, resolved in the merge: {some(resolved)}"
    if reverted := _REVERTS.search(commit.message):
        yield f"the message says that it reverts {reverted[1]}"
    if modules := [display(path) for path in clone.submodules(base)]:
        yield f"submodule at the base, whose content no workspace has: {some(modules)}"


def _on_statement(statement: Statement) -> Iterator[str]:
    if len(statement.text.splitlines()) == 1:
        yield "the statement is a single line"
    if statement.forms:
        numbers = some([str(number) for number in statement.forms])
        yield f"boxes to tick are in the statement: paragraph {numbers}"


def _on_files(files: Sequence[ChangedFile]) -> Iterator[str]:
    """A note a kind of change, with the first of its files."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in files:
        if file.old_path is not None:
            found["renamed"].append(f"{display(file.old_path)} -> {file.name}")
        if _INSTALLED.search(file.readable):
            found["names dependencies, which are installed as the base has them"].append(file.name)
        elif file.kind in _LISTED:
            found[_LISTED[file.kind]].append(file.name)
        elif file.kind == "source" and file.status == "added":
            found["added, so not required"].append(file.name)
        elif file.status == "deleted":
            found[f"deleted {file.kind}"].append(file.name)
    for what, names in found.items():
        yield f"{what}: {some(names)}"
    required = sum(file.kind == "source" and file.status != "added" for file in files)
    if required > MOST_FILES:
        yield f"{required} required files are more than the {MOST_FILES} of tier 3"


def _on_commands(files: Sequence[ChangedFile], commands: Commands) -> Iterator[str]:
    if commands.not_run:
        yield f"no suite runs this test file by name: {some(commands.not_run)}"
    tested = {suite.language for suite in commands.suites}
    sources = [file for file in files if file.kind == "source"]
    for family in _FAMILIES:
        alone = [file for file in sources if file.language in family]
        if alone and not family & tested:
            names = some([file.name for file in alone])
            yield f"no suite is in {alone[0].language}, so that another has to build: {names}"
