"""The facts seen in one run, before any judgement. Everything a verdict needs stands here."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nanobench.model.base import Document
from nanobench.model.plan import Mode

Ending = Literal[
    "not_started",  # trouble before the agent ran; see `infrastructure`
    "completed",  # a report of kind success
    "turn_limit",
    "empty_response",
    "provider_error",
    "configuration_error",  # unknown provider or model, no configuration, untrusted directory
    "approval_required",
    "timed_out",  # ended by our wall clock
    "request_limit",  # these three: a ceiling of the plan's limits
    "token_limit",
    "cost_limit",
    "aborted",  # exit 0 and nothing on stdout, or killed by a signal that we did not send
    "crashed",  # exit code not 0, no report, no known message
]
ErrorClass = Literal[
    "context_size",
    "rate_limit",
    "quota",
    "billing",
    "authentication",
    "permission",
    "unknown_model",
    "invalid_request",
    "overload",
    "server_error",
    "connection",
    "timeout",
    "stream_cut",
    "bad_response",
    "content_filter",
    "length",
    "empty",
    "configuration",
    "budget",  # a request beyond a ceiling of ours; the ending says which
    "unmetered",  # a ceiling is set on what the provider does not report
    "replay",  # not in the recording, or recorded under other settings
    "unknown",
]
ReportState = Literal["complete", "missing", "truncated", "malformed"]
TestStatus = Literal["passed", "failed", "error", "skipped", "missing"]


class Usage(Document):
    """Tokens as the provider reports them; null is unknown, never 0."""

    input_tokens: NonNegativeInt | None = None
    output_tokens: NonNegativeInt | None = None
    cost: NonNegativeFloat | None = Field(
        default=None, description="US dollars; null unless the cost of every reply is known"
    )
    source: Literal["gateway", "report", "none"] = "none"


class AgentSignals(Document):
    """How the agent ended and what it claims."""

    ending: Ending
    exit_code: int | None
    report: ReportState
    report_bytes: NonNegativeInt
    trailing_bytes: NonNegativeInt = Field(
        default=0, description="on stdout beside the one report object"
    )
    error_class: ErrorClass | None = None
    error_source: Literal["gateway", "report", "stderr"] | None = None
    error_message: str | None = Field(default=None, description="first 500 characters")
    model_responses: NonNegativeInt | None = Field(
        default=None, description="successful replies of the model; null is unknown"
    )
    requests: NonNegativeInt | None = Field(default=None, description="that the agent sent")
    retries: NonNegativeInt | None = Field(
        default=None, description="absorbed by the gateway, and the agent's own"
    )
    finish_reason: str | None = None
    final_text_tail: str = Field(default="", description="last 500 characters")
    usage: Usage = Usage()


class ToolSignals(Document):
    """What the agent did with its tools, as its report tells (SPEC O3)."""

    calls: dict[str, NonNegativeInt] = {}
    failed: dict[str, NonNegativeInt] = {}
    unparsed_arguments: NonNegativeInt = 0
    files_read: tuple[str, ...] = ()
    required_files_read: tuple[str, ...] = ()


class HarnessEvidence(Document):
    """What points at the harness rather than at the model (SPEC O4). Null is unknown."""

    rejected_calls: NonNegativeInt = Field(
        default=0, description="refused by Nanocoder's own checks before they ran"
    )
    failed_calls: NonNegativeInt = Field(default=0, description="other calls that gave an error")
    malformed_calls: NonNegativeInt = Field(
        default=0, description="with arguments that are no JSON"
    )
    timed_out_calls: NonNegativeInt = Field(default=0, description="ended by the tool's own limit")
    cut_results: NonNegativeInt = Field(default=0, description="results shown to the model in part")
    unreported_calls: NonNegativeInt | None = Field(
        default=None, description="made by the model, absent from the report: a lower bound"
    )
    shrunk_requests: NonNegativeInt | None = Field(
        default=None,
        description="smaller than the one before: a shortened history, or a subagent's",
    )
    turn_limit: bool = False


class TrajectorySignals(Document):
    """How the agent went about it (SPEC O3): evidence for readers, no verdict looks at it.

    The rules stand in `nanobench/agent/trajectory.py`. What the report does not tell is false,
    0 or empty; `known` says whether there was a report.
    """

    known: bool = False
    calls: NonNegativeInt = 0
    rereads: NonNegativeInt = Field(
        default=0, description="calls that show again what was shown before"
    )
    loops: NonNegativeInt = Field(default=0, description="three or more identical calls in a row")
    longest_repeat: NonNegativeInt = Field(default=0, description="identical calls in a row")
    claims_success: bool = False
    verified: bool = Field(
        default=False, description="a test or other command was run after the last edit"
    )
    unverified_claim: bool = False
    vision: bool = Field(default=False, description="images reached the model")
    ocr: bool = False
    shell_only: bool = Field(default=False, description="no tool but the shell")
    web: bool = False
    browser: bool = False
    network_attempts: tuple[str, ...] = Field(
        default=(), description="the first 20 commands, 160 characters each"
    )
    history_attempts: tuple[str, ...] = Field(
        default=(), description="looks for other states of the repository, likewise"
    )
    harness_attempts: tuple[str, ...] = Field(
        default=(), description="reaches for files and processes of the harness, likewise"
    )
    harness: HarnessEvidence = HarnessEvidence()


class FileEdit(Document):
    """One path that differs from the base commit. A rename is a deletion and an addition."""

    path: str
    change: Literal["added", "modified", "deleted", "mode", "type"]
    binary: bool = False
    size: NonNegativeInt | None = Field(default=None, description="bytes after; null if deleted")
    stored: bool = Field(default=True, description="false: too large, listed only")


class EditSignals(Document):
    """What changed in the workspace, observed and reported (SPEC X5)."""

    source: Literal["diff", "reported"] = Field(description="which set is authoritative")
    observed: tuple[FileEdit, ...] = ()
    reported: tuple[str, ...] | None = Field(description="filesChanged; null without a report")
    observed_only: tuple[str, ...] = ()
    reported_only: tuple[str, ...] = ()
    required_observed: tuple[str, ...] = ()
    required_reported: tuple[str, ...] = ()
    protected: tuple[str, ...] = Field(
        default=(), description="edited test and protected files; not carried to verification"
    )
    suspect: tuple[str, ...] = Field(
        default=(),
        description="`path: word` of the first 20 words in added lines of product code that name "
        "the test runner or the end of its process",
    )
    pollution: tuple[str, ...] = Field(
        default=(),
        description="left by the agent's runtime, ignored by the base commit, or planted in .git",
    )
    skipped: tuple[str, ...] = Field(
        default=(), description="special files, nested repositories' metadata, conflicts"
    )
    agent_committed: bool = False


class TestOutcome(Document):
    """One test as its runner wrote it."""

    id: str
    status: TestStatus
    duration_seconds: float | None = None
    error_type: str | None = None
    message: str | None = Field(default=None, description="at most 2,000 characters")
    details: str | None = Field(default=None, description="at most 4,000 characters")


SuiteState = Literal[
    "ok",
    "crashed",
    "timed_out",
    "no_result",
    "nothing_collected",
    "malformed_result",
    "inconsistent",
]


class SuiteSignals(Document):
    """One suite after the agent's work, held against what the gate expects of it."""

    name: str
    language: str
    state: SuiteState
    exit_code: int | None
    duration_seconds: float
    removed_options: tuple[str, ...] = ()
    targets: tuple[TestOutcome, ...] = ()
    regressions: tuple[TestOutcome, ...] = ()
    counts: dict[TestStatus, NonNegativeInt] = {}
    suite_errors: tuple[str, ...] = Field(
        default=(), description="errors that belong to no test, e.g. a collection error"
    )
    control: Literal["passed", "failed"] | None = Field(
        default=None, description="the golden state, run only if this suite did not end well"
    )
    output_id: str | None = None

    @property
    def targets_passed(self) -> int:
        """How many target tests passed."""
        return sum(test.status == "passed" for test in self.targets)


class Symptom(Document):
    """An error that says that a symbol is missing or an interface does not fit (rules 3, 4).

    The facts about the symbol are looked up when the run is verified, so that a record can be
    judged again from itself alone. Each is null when the symptom names no symbol.
    """

    kind: Literal["missing_symbol", "interface_mismatch"]
    language: str
    code: str = Field(description="exception type or compiler code, e.g. AttributeError, TS2339")
    symbol: str | None
    suite: str
    test_ids: tuple[str, ...]
    message: str
    in_required_files_at_base: bool | None = None
    in_repository_at_base: bool | None = None
    in_golden_patch: bool | None = Field(default=None, description="in lines it adds")
    in_agent_lines: bool | None = Field(default=None, description="in lines the agent added")
    golden_defines_in: tuple[str, ...] = ()
    agent_defines_in: tuple[str, ...] = ()


class VerificationSignals(Document):
    """What the target repository's own tests say."""

    possible: bool
    impossible_because: str | None = None
    suites: tuple[SuiteSignals, ...] = ()
    symptoms: tuple[Symptom, ...] = Field(
        default=(), description="the dominant one first (most target tests, then order of ids)"
    )

    @property
    def target_count(self) -> int:
        """All target tests, pooled over the suites."""
        return sum(len(suite.targets) for suite in self.suites)

    @property
    def targets_passed(self) -> int:
        """The target tests that passed."""
        return sum(suite.targets_passed for suite in self.suites)


class Signals(Document):
    """All facts of one run that a ruleset may look at."""

    mode: Mode
    required_files: tuple[str, ...]
    agent: AgentSignals
    tools: ToolSignals = ToolSignals()
    trajectory: TrajectorySignals = TrajectorySignals()
    edits: EditSignals
    verification: VerificationSignals
    infrastructure: tuple[str, ...] = Field(
        default=(), description="troubles outside agent and model, each a cause and its place"
    )
