"""All that a person needs to judge a task, section by section.

A further section is a function of a task under view, added to `SECTIONS`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from nanobench.dataset.catalog import Dataset, TaskEntry
from nanobench.dataset.changes import path_kind
from nanobench.dataset.extract.extraction import suggested_tier
from nanobench.dataset.hints import hints
from nanobench.dataset.lifecycle import CHECKS, obstacles
from nanobench.dataset.tokens import TOKENIZER, tokens_of_bytes
from nanobench.files import StateDirectory
from nanobench.model.task import PatchSource, StatementSource, Task
from nanobench.verify.expected import some
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.golden import Golden, resolve_golden
from nanobench.workspace.paths import display
from nanobench.workspace.snapshot import Snapshot, SnapshotStore
from nanobench.workspace.statement import resolve_statement

_HEADER = re.compile(rb"(?:---|\+\+\+) (?:\"?[ab]/|/dev/null)")


@dataclass(frozen=True)
class Material:
    """What the pinned repository says: the statement's text, the golden patch, the base."""

    statement: str
    golden: Golden
    snapshot: Snapshot


@dataclass(frozen=True)
class View:
    """A task under view, and the tasks of the dataset.

    `material` is null if the repository was not asked.
    """

    entry: TaskEntry
    dataset: Dataset | None
    material: Material | None
    others: tuple[Task, ...] = ()

    @property
    def task(self) -> Task:
        """The task."""
        return self.entry.task


@dataclass(frozen=True)
class Section:
    """A title and its facts: name to a value, a list of values, or null."""

    title: str
    facts: dict[str, Any]


def material_of(task: Task, state: StateDirectory) -> Material:
    """Resolve a task's sources, checked against their hashes.

    Raises:
        HashMismatchError: a source is not what the task pins.
        InvalidInputError: a source is not there, or is no task's.
        RepositoryError: the repository cannot be had.
        StateError: the state directory cannot be written.
    """
    cache = ObjectCache(state.repositories)
    snapshot = SnapshotStore(state.snapshots, cache).get(task.repo_url, task.base_commit)
    return Material(resolve_statement(task, cache), resolve_golden(task, snapshot, cache), snapshot)


def sections(view: View) -> list[Section]:
    """Every section that has something to say."""
    found = [section(view) for section in SECTIONS]
    return [section for section in found if section.facts]


def _origin(view: View) -> Section:
    task, dataset = view.task, view.dataset
    facts: dict[str, Any] = {
        "repository": task.repo_url,
        "pull request": task.pr_url,
        "issue": task.issue_url,
        "base commit": task.base_commit,
        "merge commit": task.merge_commit,
        "merged at": f"{task.merged_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
    }
    if dataset is not None:
        after = task.merged_at > dataset.contamination_cutoff
        facts["after the cutoff"] = "yes" if after else "no"
    return Section("where it comes from", facts)


def _what(view: View) -> Section:
    task = view.task
    suggested = suggested_tier(len(task.required_files))
    return Section(
        "what it asks",
        {
            "domain": task.domain,
            "languages": list(task.languages),
            "type": task.task_type,
            "reasoning": task.reasoning_category,
            "tier": task.complexity_tier,
            "tier by the count of required files": suggested,
            f"tokens of required files ({TOKENIZER})": task.token_estimate,
            "contributor": task.contributor,
        },
    )


def _statement(view: View) -> Section:
    source = view.task.problem_statement
    facts: dict[str, Any] = {}
    if isinstance(source, StatementSource):
        facts["from"] = source.from_
        facts["at"] = source.commit or source.url or view.task.base_commit
        facts["path"] = source.path
        if source.select is not None:
            facts["selected"] = source.select.model_dump_json(exclude_none=True)
    text = source if isinstance(source, str) else view.material and view.material.statement
    if text:
        facts[f"tokens ({TOKENIZER})"] = tokens_of_bytes(len(text.encode()))
        facts["text"] = text
    return Section("statement", facts)


def _patch(view: View) -> Section:
    task, source = view.task, view.task.ground_truth_patch
    facts: dict[str, Any] = {
        "required files": list(task.required_files),
        "test files": list(task.test_files),
        "protected files": list(task.protected_files),
        "generated files": list(task.generated_files),
    }
    if isinstance(source, PatchSource):
        facts["SHA-256"] = source.sha256
    if view.material is not None:
        named = {*task.required_files, *task.test_files, *task.generated_files}
        paths = [display(change.path) for change in view.material.golden.changes]
        facts["size"] = _size(view.material.golden)
        facts["changed, and none of these"] = [
            f"{path} ({path_kind(path)})" for path in paths if path not in named
        ]
        facts["required, and not changed"] = sorted({*task.required_files} - {*paths})
        facts["look at it"] = (
            f"git diff {task.base_commit} {source.merge}"
            if isinstance(source, PatchSource)
            else None
        )
    return Section("golden patch", facts)


def _size(golden: Golden) -> str:
    lines = [line for line in golden.patch.split(b"\n") if not _HEADER.match(line)]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in (b"+", b"-"))
    return f"{len(golden.changes)} files, {added} lines added, {removed} removed"


def _tests(view: View) -> Section:
    task, expected = view.task, view.task.expected
    facts: dict[str, Any] = {
        f"suite {suite.name} ({suite.language}, in {suite.cwd})": suite.command
        for suite in task.all_suites()
    }
    facts["environment"] = task.environment.strategy
    facts["install"] = list(task.environment.install)
    facts["runtimes"] = [f"{name} {wanted}" for name, wanted in task.environment.runtimes.items()]
    if expected is None:
        facts["expected"] = "not written yet: run `nanobench task gate --write`"
    else:
        facts["fail to pass"] = [
            f"{name} {len(tests)}: {some(tests)}"
            for name, tests in expected.fail_to_pass.items()
            if tests
        ]
        facts["pass to pass"] = _counts(expected.pass_to_pass)
    return Section("tests", facts)


def _counts(ids: dict[str, tuple[str, ...]]) -> list[str]:
    return [f"{name} {len(tests)}" for name, tests in ids.items()]


def _hints(view: View) -> Section:
    facts: dict[str, list[str]] = {}
    if view.material is not None:
        for hint in hints(view.task, view.material, view.others):
            facts.setdefault(hint.topic, []).append(hint.text)
    return Section("hints (counted, not judged)", dict(facts))


def _decisions(view: View) -> Section:
    status, curation = view.task.status, view.task.curation
    facts: dict[str, Any] = {"status": status.state, "curation": curation.state}
    if status.state == "active" and curation.state == "candidate":
        judged = f"a person finds true: {', '.join(CHECKS)}"
        facts["before it can be approved"] = [*obstacles(view.task), judged]
    if status.state == "retired":
        facts["retired"] = (
            f"on {status.retired_on} ({status.reason}), out of version {status.version}"
        )
        facts["why"] = status.text or None
    if curation.checks is not None:
        facts["approved"] = f"by {curation.approved_by} on {curation.approved_on}"
        checks = curation.checks.model_dump()
        facts["checked"] = [name for name, held in checks.items() if held]
    for ruling in view.task.rulings:
        facts[f"ruling of {ruling.on} by {ruling.by}"] = f"{ruling.dispute}: {ruling.outcome}" + (
            f" (escalated to {ruling.escalated_to})" if ruling.escalated_to else ""
        )
    return Section("decisions", facts)


SECTIONS: Sequence[Callable[[View], Section]] = (
    _origin,
    _what,
    _statement,
    _patch,
    _tests,
    _hints,
    _decisions,
)
