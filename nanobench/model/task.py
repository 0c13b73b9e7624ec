"""The task file: one real merged pull request, pinned."""

from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, AwareDatetime, Field, PositiveInt, model_validator

from nanobench.model.base import Document, Identifier, NonEmpty, Sha1, Sha256
from nanobench.model.resources import AgentNetwork, VerifyNetwork

TASK_SCHEMA_VERSION: Final = "1.0"

TierName = Literal[
    "Tier 1 (Isolated Edit)",
    "Tier 2 (Interface Mapping)",
    "Tier 3 (System Refactor)",
    "Tier 4 (Investigative Debugging)",
]
ResultFormat = Literal[
    "junit",
    "vitest-json",
    "jest-json",
    "mocha-json",
    "tap",
    "go-json",
    "cargo-text",
    "libtest-json",
]
RuntimeName = Literal["python", "node", "pnpm", "yarn", "go", "rust", "java"]


def _relative(path: str) -> str:
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise ValueError(f"{path!r} must be a path inside the repository, without '..'")
    return str(pure)


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("it holds a NUL character, which no program can be given")
    return text


def _settable(variables: dict[str, str]) -> dict[str, str]:
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"{name!r} cannot be set: a name is empty or has '=', or there is NUL")
    return variables


RepoPath = Annotated[str, AfterValidator(_relative)]
Argument = Annotated[NonEmpty, AfterValidator(_without_nul)]
Variables = Annotated[dict[str, str], AfterValidator(_settable)]
Seconds = Annotated[int, Field(gt=0, le=604_800)]
"""Up to a week: what the system's clocks cannot hold would fail in the middle of a run."""


class Selection(Document):
    """Which part of a source text is the statement; the hash is taken after selection.

    `heading`: the section under the Markdown heading of exactly this text (heading line
    excluded), up to the next heading of the same or a higher level.
    `paragraphs`: first and last paragraph, counted from 1, both included; paragraphs are
    separated by blank lines. With both, paragraphs count inside the section.
    """

    heading: NonEmpty | None = None
    paragraphs: tuple[PositiveInt, PositiveInt] | None = None


class StatementSource(Document):
    """Where the statement stands, instead of a copy of it (SPEC T2)."""

    from_: Literal["commit_message", "file", "issue", "pull_request"] = Field(alias="from")
    commit: Sha1 | None = Field(
        default=None, description="the commit of the message or of the file; base when absent"
    )
    path: RepoPath | None = None
    url: NonEmpty | None = None
    select: Selection | None = None
    sha256: Sha256 = Field(description="of the selected text, UTF-8, stripped, LF line ends")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"commit_message": "commit", "file": "path", "issue": "url", "pull_request": "url"}
        field = needs[self.from_]
        if getattr(self, field) is None:
            raise ValueError(f"a statement from {self.from_!r} needs {field!r}")
        return self


class PatchSource(Document):
    """The golden patch by reference: `git diff --binary base merge` and its hash."""

    base: Sha1
    merge: Sha1
    sha256: Sha256


class Suite(Document):
    """One test command in one language.

    The result file is written where the runner adapter says, unless the task names
    `result_path` (inside the repository). `{OUT}` in the command stands for the result file.
    """

    name: Identifier
    language: NonEmpty
    command: Argument
    format: ResultFormat | None = Field(default=None, description="by the runner when absent")
    result_path: RepoPath | None = None
    cwd: RepoPath = "."
    timeout_seconds: Seconds = 900
    env: Variables = {}


class NetworkPolicy(Document):
    """What each phase may reach."""

    install: Literal["registries", "none"] = "registries"
    agent: AgentNetwork = "provider-only"
    verify: VerifyNetwork = "none"


class TaskEnvironment(Document):
    """How the task's dependencies come about.

    `install` commands run once in the pristine base checkout, in order, by `sh -c`.
    `runtimes` names versions: `python`, `node`, `pnpm`, `yarn`, `go`, `rust`, `java`.
    """

    strategy: Literal["native", "container"] = "native"
    runtimes: dict[RuntimeName, Argument] = {}
    install: tuple[Argument, ...] = ()
    install_timeout_seconds: Seconds = 1800
    exclude_newer: AwareDatetime | None = Field(
        default=None, description="for floating dependencies; `merged_at` when absent"
    )
    env: Variables = {}
    dockerfile: RepoPath | None = None
    devcontainer: RepoPath | None = None
    network: NetworkPolicy = NetworkPolicy()


class Expected(Document):
    """Test ids by suite name, written by the verification gate only."""

    fail_to_pass: dict[Identifier, tuple[str, ...]]
    pass_to_pass: dict[Identifier, tuple[str, ...]]


class Status(Document):
    """Whether the task is in use; a retired task stays in the dataset."""

    state: Literal["active", "retired"] = "active"
    reason: Literal["flaky", "history_rewritten", "contaminated", "other"] | None = None
    text: str = ""
    retired_on: date | None = None
    version: str | None = None

    @model_validator(mode="after")
    def _reasoned(self) -> Self:
        if self.state == "retired" and (self.reason is None or self.retired_on is None):
            raise ValueError("a retired task needs 'reason' and 'retired_on'")
        if self.reason == "other" and not self.text:
            raise ValueError("the reason 'other' needs 'text'")
        return self


class JudgementChecks(Document):
    """The four checks that only a person makes (SPEC 11)."""

    tier: bool
    novelty_and_balance: bool
    statement_does_not_leak: bool
    required_files_right_and_complete: bool


class Curation(Document):
    """Who took the task into the dataset, when, and on what judgement."""

    state: Literal["candidate", "approved"] = "candidate"
    approved_by: str | None = None
    approved_on: date | None = None
    checks: JudgementChecks | None = None

    @model_validator(mode="after")
    def _signed(self) -> Self:
        signed = self.approved_by and self.approved_on and self.checks
        if self.state == "approved" and not signed:
            raise ValueError("an approved task needs 'approved_by', 'approved_on' and 'checks'")
        if self.state == "approved" and self.checks and not all(self.checks.model_dump().values()):
            raise ValueError("a task is approved when all four checks hold")
        return self


class Ruling(Document):
    """A dispute about the task and its outcome."""

    on: date
    by: NonEmpty
    dispute: NonEmpty
    outcome: NonEmpty
    escalated_to: str | None = None


class Attachment(Document):
    """A file of the base commit that belongs to the statement."""

    path: RepoPath
    media_type: NonEmpty
    sha256: Sha256


class Task(Document):
    """A task file of schema v1 (SPEC T1, T3)."""

    schema_version: Literal["1.0"] = TASK_SCHEMA_VERSION
    task_id: Identifier
    repo: NonEmpty
    repo_url: Argument
    issue_url: str | None = None
    pr_url: str | None = None
    base_commit: Sha1
    merge_commit: Sha1 | None = None
    languages: tuple[NonEmpty, ...] = Field(min_length=1)
    domain: NonEmpty
    complexity_tier: TierName
    task_type: NonEmpty
    reasoning_category: NonEmpty
    token_estimate: PositiveInt
    problem_statement: NonEmpty | StatementSource
    required_files: tuple[RepoPath, ...] = Field(min_length=1)
    ground_truth_patch: NonEmpty | PatchSource
    test_command: Argument | None = None
    contributor: NonEmpty
    merged_at: AwareDatetime
    suites: tuple[Suite, ...] = ()
    test_files: tuple[RepoPath, ...] = ()
    protected_files: tuple[RepoPath, ...] = ()
    generated_files: tuple[RepoPath, ...] = ()
    environment: TaskEnvironment = TaskEnvironment()
    expected: Expected | None = None
    status: Status = Status()
    curation: Curation = Curation()
    rulings: tuple[Ruling, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    attachments_optional: bool = Field(
        default=False, description="the text suffices: an agent without vision may do the task"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.suites and self.test_command is None:
            raise ValueError("a task needs 'test_command' or 'suites'")
        names = [suite.name for suite in self.suites]
        if len(set(names)) != len(names):
            raise ValueError("two suites have the same name")
        both = set(self.required_files) & set(self.test_files)
        if both:
            raise ValueError(f"required_files and test_files overlap: {sorted(both)}")
        if self.expected is not None:
            known = {suite.name for suite in self.all_suites()}
            named = set(self.expected.fail_to_pass) | set(self.expected.pass_to_pass)
            if named - known:
                raise ValueError(f"expected names unknown suites: {sorted(named - known)}")
        return self

    def all_suites(self) -> tuple[Suite, ...]:
        """The suites; `test_command` alone is one suite named `tests` in the first language."""
        if self.suites:
            return self.suites
        assert self.test_command is not None  # noqa: S101 - the validator proved it
        return (Suite(name="tests", language=self.languages[0], command=self.test_command),)

    def tier(self) -> int:
        """The complexity tier as a number, 1 to 4."""
        return int(self.complexity_tier.removeprefix("Tier ")[0])

    def dependencies_before(self) -> datetime:
        """The moment after which no floating dependency may have been published."""
        return self.environment.exclude_newer or self.merged_at
