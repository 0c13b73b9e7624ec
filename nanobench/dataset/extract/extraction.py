"""From a merged change to a candidate's task file.

Everything is a fact of git or a choice of the person who asks; nothing is written by us. What
nobody has said stands as `unassigned`, which cannot be approved.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from pydantic import ValidationError

from nanobench.dataset.changes import ChangedFile, Kind, PathRules, changed_files
from nanobench.dataset.clone import Clone, Commit
from nanobench.dataset.extract.commands import Commands, first_commands
from nanobench.dataset.extract.notes import Noted, notes_on
from nanobench.dataset.extract.origin import Origin
from nanobench.dataset.extract.statement import Statement, statement_source
from nanobench.dataset.extract.tree import Tree
from nanobench.dataset.tokens import TOKENIZER, tokens_of_bytes
from nanobench.errors import InvalidInputError
from nanobench.model.task import PatchSource, Task, TierName
from nanobench.verify.expected import some
from nanobench.workspace.golden import patch_to_pin

UNASSIGNED: Final = "unassigned"
_TIERS: tuple[TierName, ...] = get_args(TierName)
_TYPES = {
    "fix": "bug_fix",
    "bugfix": "bug_fix",
    "feat": "feature",
    "refactor": "refactor",
    "perf": "performance",
}
_CONVENTIONAL = re.compile(r"([A-Za-z]+)(\([^)]*\))?!?:")


@dataclass(frozen=True)
class Request:
    """What a person, or the pull request's page, says; null: by rule.

    Args:
        base: the commit that the work started from; the first parent by rule.
        paragraphs: of the commit message, first and last, from 1.
        rules: patterns that overrule what a file is by its name.
    """

    task_id: str | None = None
    base: str | None = None
    pull: int | None = None
    issue_url: str | None = None
    merged_at: str | None = None
    domain: str = UNASSIGNED
    task_type: str | None = None
    reasoning_category: str = UNASSIGNED
    contributor: str = UNASSIGNED
    test_command: str | None = None
    paragraphs: tuple[int, int] | None = None
    rules: PathRules = field(default_factory=PathRules)


@dataclass(frozen=True)
class Extraction:
    """A task, and what a person should know before taking it.

    Args:
        files: all files of the change.
        notes: facts that need a look.
        statement: with the message that it is a part of.
    """

    task: Task
    files: tuple[ChangedFile, ...]
    notes: tuple[str, ...]
    statement: Statement

    @property
    def statement_tokens(self) -> int:
        """By `TOKENIZER`."""
        return tokens_of_bytes(len(self.statement.text.encode()))

    def document(self) -> dict[str, Any]:
        """The same for a program."""
        return {
            "task": self.task.model_dump(mode="json", by_alias=True),
            "files": [
                {
                    "path": file.name,
                    "status": file.status,
                    "kind": file.kind,
                    "language": file.language,
                    "added": file.added,
                    "removed": file.removed,
                }
                for file in self.files
            ],
            "tokenizer": TOKENIZER,
            "tokens": {
                "required_files": self.task.token_estimate,
                "statement": self.statement_tokens,
            },
            "notes": list(self.notes),
        }


def extract_task(clone: Clone, sha: str, origin: Origin, request: Request) -> Extraction:
    """The task that a merge or squash commit makes.

    Args:
        sha: full SHA-1 of the commit.

    Raises:
        InvalidInputError: the change cannot be a task; the error says why.
        RepositoryError: the clone lacks objects of the two commits.
    """
    commit = clone.commit(sha)
    base = clone.resolve(request.base) if request.base else _first_parent(commit)
    files = changed_files(clone, base, sha, request.rules)
    check_usable(files, f"commit {sha}")
    required, tests = required_files(files), _names(files, ("test",))
    statement = statement_source(clone, commit, request.paragraphs)
    tree, before = Tree.at(clone, sha), Tree.at(clone, base)
    commands = first_commands([path for path in tests if path in tree], tree)
    size = sum(clone.sizes([before.blobs[path] for path in required if path in before]))
    task = _validated(
        {
            **_identity(commit, origin, request),
            "base_commit": base,
            "merge_commit": sha,
            "languages": _languages(files),
            "domain": request.domain,
            "complexity_tier": _TIERS[suggested_tier(len(required)) - 1],
            "task_type": request.task_type or _task_type(commit),
            "reasoning_category": request.reasoning_category,
            "token_estimate": max(1, tokens_of_bytes(size)),
            "problem_statement": statement.source,
            "required_files": required,
            "ground_truth_patch": _pinned(clone, base, sha),
            "contributor": request.contributor,
            "merged_at": request.merged_at or commit.committed_at,
            "test_files": tests,
            "generated_files": _names(files, ("generated", "lock")),
            **_testing(commands, request, sha),
        }
    )
    noted = Noted(commit, base, files, statement, None if request.test_command else commands)
    return Extraction(
        task=task,
        files=files,
        notes=tuple(notes_on(clone, noted)),
        statement=statement,
    )


def suggested_tier(count: int) -> int:
    """The tier by the count of required files; never 4, which a person gives (SPEC T4)."""
    return 1 if count < 2 else 2 if count < 5 else 3


def required_files(files: Sequence[ChangedFile]) -> list[str]:
    """The hand-written sources that the change edits, as they are named at the base.

    A file that the change adds is none: another solution may choose another place for it. Only
    where nothing else is edited do the added ones stand for themselves.
    """
    sources = [file for file in files if file.kind == "source"]
    edited = [file for file in sources if file.status != "added"] or sources
    return sorted({file.base_name for file in edited})


def check_usable(files: Sequence[ChangedFile], where: str) -> None:
    """Refuse a change that no task can be made of.

    Raises:
        InvalidInputError: it changes nothing, a submodule, no source or no test, only deletes
            tests, or changes a path that a task file cannot name.
    """

    def refuse(what: str, remedy: str) -> None:
        raise InvalidInputError(what, where=where, remedy=remedy)

    kinds = Counter(file.kind for file in files)
    odd = [file.name for file in files if _must_be_named(file) and not file.is_named]
    if not files:
        refuse("the commit changes nothing", "choose the commit that holds the change")
    if kinds["submodule"]:
        names = some([file.name for file in files if file.kind == "submodule"])
        refuse(f"the change moves a submodule: {names}", "choose another pull request")
    if not kinds["source"]:
        refuse(
            "the change edits no source file that is known as one",
            "name sources with --source PATTERN, or choose another pull request",
        )
    if not kinds["test"]:
        refuse(
            "the change touches no test file",
            "name tests with --test PATTERN; tests inside a source file cannot be told from the "
            "solution",
        )
    if all(file.status == "deleted" for file in files if file.kind == "test"):
        refuse("the change only deletes tests: no test tells it", "choose another pull request")
    if odd:
        refuse(f"a path is not UTF-8: {some(odd)}", "choose another pull request")


def _must_be_named(file: ChangedFile) -> bool:
    return file.kind == "test" or (file.kind == "source" and file.status != "added")


def _first_parent(commit: Commit) -> str:
    if not commit.parents:
        raise InvalidInputError(
            "the commit has no parent to start from",
            where=f"commit {commit.sha}",
            remedy="choose a commit that merges a change, in a clone with its history",
        )
    return commit.parents[0]


def _names(files: Iterable[ChangedFile], kinds: tuple[Kind, ...]) -> list[str]:
    return [file.name for file in files if file.kind in kinds and file.is_named]


def _languages(files: Sequence[ChangedFile]) -> list[str]:
    """Of the sources, by changed lines."""
    lines: Counter[str] = Counter()
    for file in files:
        if file.kind == "source":
            lines[file.language or "other"] += file.added + file.removed
    return sorted(lines, key=lambda language: (-lines[language], language))


def _validated(document: dict[str, Any]) -> Task:
    """The task; what was said and does not fit is told by its field."""
    try:
        return Task.model_validate(document)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InvalidInputError(
            f"{problem['msg']}: {problem['input']!r}",
            where=".".join(map(str, problem["loc"])),
            remedy="docs/task-file.md explains every field",
        ) from None


def _identity(commit: Commit, origin: Origin, request: Request) -> dict[str, Any]:
    pull = request.pull or commit.pull
    name = re.sub(r"[^A-Za-z0-9._-]", "-", origin.repo.rpartition("/")[2]).lstrip("._-")
    return {
        "task_id": request.task_id or f"{name or 'task'}-{pull or commit.sha[:8]}",
        "repo": origin.repo,
        "repo_url": origin.url,
        "issue_url": request.issue_url or origin.issue_url(commit.message, pull),
        "pr_url": origin.pull_url(pull),
    }


def _task_type(commit: Commit) -> str:
    """By the word that conventional commit messages begin with."""
    found = _CONVENTIONAL.match(commit.title)
    return _TYPES.get(found[1].lower(), UNASSIGNED) if found else UNASSIGNED


def _pinned(clone: Clone, base: str, merge: str) -> PatchSource:
    patch = patch_to_pin(clone.view, base, merge)
    return PatchSource(base=base, merge=merge, sha256=hashlib.sha256(patch).hexdigest())


def _testing(commands: Commands, request: Request, sha: str) -> dict[str, Any]:
    """The suites, or the one command that stands for them."""
    found: dict[str, Any] = {"environment": commands.environment}
    if request.test_command is not None:
        return {**found, "test_command": request.test_command}
    if not commands.suites:
        raise InvalidInputError(
            f"no test command is known for these test files: {some(commands.not_run)}",
            where=f"commit {sha}",
            remedy="give one with --test-command",
        )
    return {**found, "suites": commands.suites}
