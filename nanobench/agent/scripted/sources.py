"""What a task's golden patch changes, seen by language.

Languages are grouped in families whose files are built and tested together: JavaScript and
TypeScript are one.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from posixpath import splitext

from nanobench.agent.scripted.edits import BaseTree
from nanobench.errors import UsageError
from nanobench.model.task import Task
from nanobench.verify.protection import protection
from nanobench.workspace.changes import REGULAR, Change
from nanobench.workspace.golden import Golden
from nanobench.workspace.snapshot import Snapshot

PYTHON = "python"
JAVASCRIPT = "javascript"
GO, RUST, JAVA = "go", "rust", "java"
_FAMILY_OF_LANGUAGE = {"typescript": JAVASCRIPT, "jsx": JAVASCRIPT, "tsx": JAVASCRIPT}
_FAMILY_OF_SUFFIX = {
    b".py": PYTHON,
    b".pyi": PYTHON,
    b".js": JAVASCRIPT,
    b".mjs": JAVASCRIPT,
    b".cjs": JAVASCRIPT,
    b".jsx": JAVASCRIPT,
    b".ts": JAVASCRIPT,
    b".mts": JAVASCRIPT,
    b".cts": JAVASCRIPT,
    b".tsx": JAVASCRIPT,
    b".vue": JAVASCRIPT,
    b".svelte": JAVASCRIPT,
    b".go": GO,
    b".rs": RUST,
    b".java": JAVA,
}
_NOT_LOADED = (b".pyi", b".vue", b".svelte", b".d.ts", b".d.mts", b".d.cts")


_DOES_NOT_APPLY = "this scripted model does not apply: "


class NotApplicableError(UsageError):
    """A behaviour makes no sense for a task."""

    @property
    def reason(self) -> str:
        """Why, where it is known that the model does not apply."""
        return self.what.removeprefix(_DOES_NOT_APPLY)


@dataclass(frozen=True)
class TaskView:
    """A task with its golden state and its base: all that a behaviour is computed from."""

    task: Task
    golden: Golden
    snapshot: Snapshot

    @property
    def base(self) -> BaseTree:
        """The tree that the agent finds."""
        return BaseTree(frozenset(self.snapshot.entries), self.snapshot.blob)

    @cached_property
    def source_changes(self) -> tuple[Change, ...]:
        """The golden patch without test and protected files.

        Raises:
            NotApplicableError: a file of it is too large to be held.
        """
        guard = protection(self.task, self.golden.changes)
        changes = tuple(c for c in self.golden.changes if not guard.covers(c.path))
        for change in changes:
            if change.mode is not None and change.content is None:
                raise NotApplicableError(
                    "the golden patch holds a file that is too large to play",
                    where=f"{self.task.task_id}: {change.path.decode(errors='replace')}",
                    remedy="choose another task for the scripted models",
                )
        return changes

    @cached_property
    def required(self) -> frozenset[bytes]:
        """The required files, as paths of the tree."""
        return frozenset(path.encode() for path in self.task.required_files)

    def at_base(self, path: bytes) -> Change:
        """A file as it is at the base; an absent one as an empty file to be added."""
        entry = self.snapshot.entries.get(path)
        if entry is None:
            return Change(path=path, mode=REGULAR, content=b"", base_mode=None)
        content = self.snapshot.blob(path)
        return Change(path=path, mode=entry.mode, content=content, base_mode=entry.mode)

    def need_every_suite(self, broken: Collection[str | None]) -> None:
        """Refuse a mistake that some suite could pass in spite of.

        Raises:
            NotApplicableError: a family with target tests is not among `broken`.
        """
        spared = self.targets_by_family().keys() - set(broken)
        if spared:
            raise self.not_applicable(
                f"it does not know how to fail in {', '.join(sorted(spared))}"
            )

    def targets_by_family(self) -> dict[str, int]:
        """How many target tests the suites of each language family hold, none left out.

        Raises:
            NotApplicableError: the task has no `expected` yet.
        """
        if self.task.expected is None:
            raise self.not_applicable("the task's target tests are not known yet")
        counts: dict[str, int] = {}
        for suite in self.task.all_suites():
            found = len(self.task.expected.fail_to_pass.get(suite.name, ()))
            family = family_of_language(suite.language)
            if found:
                counts[family] = counts.get(family, 0) + found
        return counts

    def changes_of(self, families: Collection[str]) -> tuple[Change, ...]:
        """The source changes of these families, and those of no language.

        Raises:
            NotApplicableError: no required file is among them.
        """
        chosen = tuple(
            change
            for change in self.source_changes
            if (family := family_of_path(change.path)) is None or family in families
        )
        if not any(change.path in self.required for change in chosen):
            raise self.not_applicable(f"no required file is written in {', '.join(families)}")
        return chosen

    def not_applicable(self, reason: str) -> NotApplicableError:
        """The error that says why a behaviour makes no sense here."""
        return NotApplicableError(
            f"{_DOES_NOT_APPLY}{reason}",
            where=self.task.task_id,
            remedy="leave this model out for this task",
        )


def family_of_language(language: str) -> str:
    """The family of a language as a task names it."""
    return _FAMILY_OF_LANGUAGE.get(language.casefold(), language.casefold())


def family_of_path(path: bytes) -> str | None:
    """The family of a file by its suffix; None for data, documents and configuration."""
    return _FAMILY_OF_SUFFIX.get(splitext(path)[1].lower())


def is_module(path: bytes) -> bool:
    """Whether a file of a family is plain code that runs when it is loaded."""
    return family_of_path(path) is not None and not path.lower().endswith(_NOT_LOADED)
