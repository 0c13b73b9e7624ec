"""Hints for the person who judges a task (SPEC 11): facts counted by fixed rules, no decisions."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, Protocol

from nanobench.dataset.extract.extraction import UNASSIGNED
from nanobench.model.task import Task
from nanobench.scoring.identifiers import identifiers, occurs
from nanobench.verify.expected import some
from nanobench.verify.protection import looks_like_test
from nanobench.workspace.golden import Golden
from nanobench.workspace.paths import display
from nanobench.workspace.snapshot import Snapshot

Topic = Literal["statement", "required files", "balance", "near duplicates"]
_SHOWN = 10
_SHORTEST = 4  # shorter identifiers stand in texts by chance
_LARGEST = 512 * 1024
_SHINGLE = 3
_NEAR = 0.3  # of the words of two statements, three in a row
# A line that takes something from another file, in the languages of the dataset.
_IMPORT = re.compile(
    r"^\s*(?:import\b|from\s+\S+\s+import\b|export\b.*\bfrom\b|(?:pub\s+)?(?:use|mod)\s"
    r"|\}\s*from\b|.*\brequire\(|#include\b|package\s|\"[\w./-]+\"\s*$)"
)
_SOURCES = (".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".java",
            ".kt", ".svelte", ".vue")  # fmt: skip
_ENTRY_NAMES = {"__init__", "index", "mod", "lib", "main"}


@dataclass(frozen=True)
class Hint:
    """One thing to look at."""

    topic: Topic
    text: str


class Sources(Protocol):
    """What the pinned repository says of a task."""

    @property
    def statement(self) -> str:
        """The text that the agent is given."""

    @property
    def golden(self) -> Golden:
        """The golden patch."""

    @property
    def snapshot(self) -> Snapshot:
        """The base commit."""


def hints(task: Task, sources: Sources, others: Iterable[Task]) -> tuple[Hint, ...]:
    """All hints about a task, by topic; `others` are the tasks of the dataset."""
    rest = [other for other in others if other.task_id != task.task_id]
    return (
        *statement_hints(sources),
        *file_hints(task, sources),
        *balance_hints(task, rest),
        *duplicate_hints(task, rest),
    )


def statement_hints(sources: Sources) -> list[Hint]:
    """What the statement gives away: names and paths that only the golden patch brings."""
    statement = sources.statement
    named = sorted(name for name in _introduced(sources) if occurs(name, statement))
    paths = sorted(
        path
        for change in sources.golden.changes
        if occurs(PurePosixPath(path := display(change.path)).name, statement)
    )
    found = []
    if named:
        found.append(Hint("statement", f"names what the patch introduces: {_shown(named)}"))
    if paths:
        found.append(Hint("statement", f"names files that the patch changes: {_shown(paths)}"))
    return found or [Hint("statement", "names nothing that the patch introduces, and no file")]


def file_hints(task: Task, sources: Sources) -> list[Hint]:
    """Changed files that are not required, and files with imports from or to required ones."""
    known = {*task.required_files, *task.test_files, *task.generated_files}
    changed = sorted(
        path
        for change in sources.golden.changes
        if not looks_like_test(path := display(change.path)) and path not in known
    )
    found = []
    if changed:
        found.append(
            Hint("required files", f"the patch also changes, not required: {_shown(changed)}")
        )
    near = _neighbours(task, sources.snapshot, {*known, *changed})
    if near:
        told = [f"{path} ({count})" for path, count in near]
        found.append(
            Hint(
                "required files",
                f"untouched, with imports between them and required files: {_shown(told)}",
            )
        )
    return found or [Hint("required files", "the patch changes no other source file")]


def balance_hints(task: Task, others: Sequence[Task]) -> list[Hint]:
    """How many active tasks share its domain, its tier and each of its languages."""
    active = [other for other in others if other.status.state == "active"]
    domains = Counter(other.domain for other in active)
    tiers = Counter(other.complexity_tier for other in active)
    languages = Counter(language for other in active for language in other.languages)
    own = ", ".join(f"{languages[name]} with {name}" for name in task.languages)
    domain = "" if task.domain == UNASSIGNED else f"{domains[task.domain]} are of its domain, "
    tier = f"{tiers[task.complexity_tier]} {'of' if domain else 'are of'} its tier"
    return [Hint("balance", f"of {len(active)} other active tasks {domain}{tier}, {own}")]


def duplicate_hints(task: Task, others: Iterable[Task]) -> list[Hint]:
    """Tasks of the same repository that edit the same files, and statements that are alike."""
    found = []
    for other in others:
        shared = sorted(set(task.required_files) & set(other.required_files))
        if other.repo == task.repo and shared:
            found.append(Hint("near duplicates", f"{other.task_id} requires too: {_shown(shared)}"))
        alike = _alike(task, other)
        if alike >= _NEAR:
            found.append(
                Hint(
                    "near duplicates",
                    f"{other.task_id} shares {alike:.0%} of the statement's words",
                )
            )
    return found


def _introduced(sources: Sources) -> set[str]:
    """Identifiers in the golden state of changed files that their base state has not."""
    before: set[str] = set()
    after: set[str] = set()
    for change in sources.golden.changes:
        if change.path in sources.snapshot.entries:
            before.update(identifiers(_text(sources.snapshot.blob(change.path))))
        if change.content is not None:
            after.update(identifiers(_text(change.content)))
    return {name for name in after - before if len(name) >= _SHORTEST}


def _neighbours(task: Task, snapshot: Snapshot, known: set[str]) -> list[tuple[str, int]]:
    """Files by the number of required files that they import or are imported by, two or more."""
    required = {name: _module(name) for name in task.required_files}
    sources = {
        path: display(path)
        for path in snapshot.entries
        if PurePosixPath(display(path)).suffix in _SOURCES and not looks_like_test(display(path))
    }
    contents = snapshot.blobs(sources)
    lines = {
        sources[path]: _imports(_text(content)) for path, content in contents.items() if content
    }
    counts: Counter[str] = Counter()
    for name, text in lines.items():
        if name in known:
            continue
        module = _module(name)
        for other, other_module in required.items():
            imports = occurs(other_module, text)
            imported = other in lines and occurs(module, lines[other])
            counts[name] += imports or imported
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(name, count) for name, count in ranked if count > 1]


def _imports(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if _IMPORT.match(line))


def _module(path: str) -> str:
    """The word by which other files import a file; of an entry file its folder's name."""
    pure = PurePosixPath(path)
    stem = pure.name.lstrip(".").partition(".")[0]
    return pure.parent.name if stem in _ENTRY_NAMES and pure.parent.name else stem


def _alike(task: Task, other: Task) -> float:
    """The share of word triples of the shorter statement that the other one has too.

    Statements that are pinned elsewhere are not compared: two of one commit share its files.
    """
    if not isinstance(task.problem_statement, str) or not isinstance(other.problem_statement, str):
        return 0.0
    one, two = _shingles(task.problem_statement), _shingles(other.problem_statement)
    return len(one & two) / max(1, min(len(one), len(two)))


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}


def _text(content: bytes) -> str:
    return content[:_LARGEST].decode(errors="replace")


def _shown(items: Sequence[str]) -> str:
    return some(items, _SHOWN)
