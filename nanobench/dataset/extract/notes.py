"""What a person should look at before taking an extracted task: facts, each with its place."""

import re
from collections.abc import Iterator, Sequence

from nanobench.dataset.changes import ChangedFile, Kind
from nanobench.dataset.clone import Clone, Commit
from nanobench.dataset.extract.commands import Commands
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


def notes_on(
    clone: Clone, commit: Commit, base: str, files: Sequence[ChangedFile], commands: Commands
) -> Iterator[str]:
    """The notes, those on the commits first."""
    yield from _on_commits(clone, commit, base)
    for file in files:
        if file.old_path is not None:
            yield f"renamed: {display(file.old_path)} -> {file.name}"
        if file.kind in _LISTED:
            yield f"{_LISTED[file.kind]}: {file.name}"
        elif file.kind == "source" and file.status == "added":
            yield f"added, so not required: {file.name}"
        elif file.status == "deleted":
            yield f"deleted {file.kind}: {file.name}"
    required = sum(file.kind == "source" and file.status != "added" for file in files)
    if required > MOST_FILES:
        yield f"{required} required files are more than the {MOST_FILES} of tier 3"
    for path in commands.not_run:
        yield f"no suite runs this test file by name: {path}"


def _on_commits(clone: Clone, commit: Commit, base: str) -> Iterator[str]:
    if len(commit.parents) > 1:
        yield f"a merge of {len(commit.parents)} parents; the patch is against {base}"
        args = ("diff-tree", "-c", "-r", "-z", "--name-only", "--no-commit-id", commit.sha)
        for path in clone.git(*args).split(b"\0")[:-1]:
            yield f"differs from every parent, resolved in the merge: {display(path)}"
    if reverted := _REVERTS.search(commit.message):
        yield f"the message says that it reverts {reverted[1]}"
    for path in clone.submodules(base):
        yield f"submodule at the base, whose content no workspace has: {display(path)}"
