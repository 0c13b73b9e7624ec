"""The record: everything kept of one run."""

from typing import Final, Literal

from pydantic import AwareDatetime, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nanobench.model.base import Document, Sha256
from nanobench.model.plan import AgentSettings, Cell, Limits
from nanobench.model.resources import AgentNetwork, ResourceLimits, VerifyNetwork
from nanobench.model.signals import Signals
from nanobench.model.verdict import Verdict

RECORD_SCHEMA_VERSION: Final = "1.1"


class ToolSurface(Document):
    """What the agent could use (SPEC X8); null is unknown."""

    tools: tuple[str, ...] | None = Field(description="offered to the model in its first request")
    agents_md_sha256: Sha256 | None
    web_access: bool = Field(description="whether the web tools are offered and reach the web")
    vision: bool = Field(description="whether images can reach the model")
    dependencies_writable: bool
    attachments: tuple[str, ...] = Field(default=(), description="named in the prompt")
    attachments_withheld: tuple[str, ...] = Field(
        default=(), description="that the agent cannot take and the task can do without"
    )


class Isolation(Document):
    """What was really enforced around the agent and around the tests."""

    strategy: Literal["native", "container"]
    sandbox: Literal["bubblewrap", "namespaces", "none", "docker"]
    agent_network: AgentNetwork
    verify_network: VerifyNetwork
    resources: ResourceLimits | None = Field(
        default=None, description="of each command; null: never known, or the record is older"
    )


class Provenance(Document):
    """Every version and digest that shaped the run (SPEC X8)."""

    nanobench: str
    nanocoder: str
    node: str
    platform: str
    task_sha256: Sha256
    task_schema: str
    dataset: str = Field(description="`sample`, or the dataset's version")
    image: str | None = Field(
        default=None, description="of a container, by digest or id; null on the machine itself"
    )
    environment_key: str | None = Field(
        description="hash of all that the dependencies came from; null if they could not be had"
    )
    undated_installs: tuple[str, ...] = Field(
        default=(),
        description="install commands that the task's date could not bind, so that they float",
    )
    image_digest: str | None = None
    isolation: Isolation
    tool_surface: ToolSurface
    settings: AgentSettings
    limits: Limits
    departures: tuple[str, ...] = Field(
        default=(), description="from Nanocoder's defaults, one phrase each"
    )
    temperature: Literal["pinned", "refused", "ignored", "unknown"] = "unknown"
    non_deterministic: bool = True
    scripted: bool = False
    replay: bool = Field(default=False, description="answered from a cassette, by no provider")
    prices: str | None = Field(default=None, description="the sources of prices, and their state")


class CommandSummary(Document):
    """A command's result as shown; its whole output is stored under `output_id` (SPEC X12)."""

    command: str
    exit_code: int | None
    duration_seconds: NonNegativeFloat
    timed_out: bool
    truncated: bool
    output_lines: NonNegativeInt | None = Field(description="null: record schema 1.0 had no count")
    head: str = Field(description="first lines; clock times and durations are masked")
    tail: str = Field(description="last lines that are not in `head`, masked as well")
    output_id: str


class Completion(Document):
    """Verified completion (SPEC 12): a record without these four is not complete."""

    verification_summary: str
    commands_run: tuple[CommandSummary, ...]
    artifacts_created: tuple[str, ...]
    remaining_failures: tuple[str, ...]


class Timing(Document):
    """When and how long; equal runs differ in these fields and in every `duration_seconds`."""

    started_at: AwareDatetime
    phases_seconds: dict[str, NonNegativeFloat]
    install_seconds: NonNegativeFloat | None = Field(
        default=None,
        description="what the dependencies' install took, in this run or an earlier one that it "
        "shares; null: it did not come to that, or the record is older",
    )


class Record(Document):
    """One attempt at one cell. Older versions are read through `nanobench.model.migrations`."""

    schema_version: Literal["1.1"] = RECORD_SCHEMA_VERSION
    cell: Cell
    attempt: PositiveInt
    provenance: Provenance
    signals: Signals
    verdict: Verdict
    completion: Completion
    agent_patch_sha256: Sha256 | None
    timing: Timing
