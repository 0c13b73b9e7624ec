"""The audit of Level 4 verdicts (SPEC F6): the blinded bundle, its key, and the status file."""

from typing import Final, Literal, get_args

from pydantic import AwareDatetime, Field, NonNegativeInt, PositiveInt

from nanobench.model.base import Document, Identifier, NonEmpty, Sha256
from nanobench.model.plan import Ruleset

AUDIT_SCHEMA_VERSION: Final = "1.0"
LEAST_AGREEMENT: Final = 0.9
"""Below it both categories are reported as `implementation_error` (SPEC F6)."""

AuditedCategory = Literal["hallucinated_api", "wrong_abstraction_layer"]
AuditLabel = Literal["hallucinated_api", "wrong_abstraction_layer", "neither", "cannot_tell"]


class TracedFailure(Document):
    """What one failing test, or a suite as a whole, says."""

    test: str | None = Field(description="null: an error that belongs to no test")
    text: str


class BaseHunk(Document):
    """The lines of a file before the agent's edit, where it edited."""

    path: str
    first_line: NonNegativeInt = Field(description="counted from 1; 0 in a new file")
    text: str


class AuditItem(Document):
    """One run as a reviewer sees it. Nothing here tells the provider, the model or the run."""

    item: Identifier
    language: str
    failures: tuple[TracedFailure, ...]
    diff: str
    base: tuple[BaseHunk, ...]


class AuditBundle(Document):
    """What goes to a reviewer: `items.json`."""

    schema_version: Literal["1.0"] = AUDIT_SCHEMA_VERSION
    bundle: Identifier
    items: tuple[AuditItem, ...]


class KeyEntry(Document):
    """What an item of the bundle is in truth."""

    item: Identifier
    cell_id: str
    attempt: PositiveInt
    record_sha256: Sha256
    language: str
    category: AuditedCategory


class AuditKey(Document):
    """What stays with the maintainer until the answers are in."""

    schema_version: Literal["1.0"] = AUDIT_SCHEMA_VERSION
    bundle: Identifier
    seed: str
    ruleset: Ruleset
    population: PositiveInt = Field(description="runs with a Level 4 verdict, of which it is drawn")
    entries: tuple[KeyEntry, ...]


class Agreement(Document):
    """How often people and the rules agree: a share with its 95 % Wilson interval."""

    agreed: float = Field(ge=0, description="items; between reviewers, the mean")
    items: PositiveInt
    rate: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)


class ReviewerAgreement(Document):
    """One reviewer against the rules."""

    reviewer: NonEmpty
    agreement: Agreement
    kappa: float | None = Field(description="Cohen's; null where only one label was given")
    confusion: dict[AuditedCategory, dict[AuditLabel, NonNegativeInt]]


class AuditScore(Document):
    """One audit: every reviewer against the rules, and against each other."""

    bundle: Identifier
    ruleset: Ruleset
    overall: Agreement
    languages: dict[str, Agreement]
    reviewers: tuple[ReviewerAgreement, ...]
    between_reviewers: dict[str, float | None] = Field(
        description="`a, b` to Cohen's kappa of the two"
    )
    unanswered: dict[str, tuple[str, ...]] = Field(description="items, by reviewer")

    @property
    def holds(self) -> bool:
        """Whether the categories may be told apart in reports."""
        return self.overall.rate >= LEAST_AGREEMENT


class AuditRound(Document):
    """A recorded audit."""

    recorded_at: AwareDatetime
    score: AuditScore


class AuditStatus(Document):
    """`audit.json` of the dataset: every audit so far, in the order they were recorded."""

    schema_version: Literal["1.0"] = AUDIT_SCHEMA_VERSION
    rounds: tuple[AuditRound, ...] = ()

    def latest(self, ruleset: Ruleset) -> AuditRound | None:
        """The audit that counts for a ruleset: the last one of its verdicts."""
        return next((one for one in reversed(self.rounds) if one.score.ruleset == ruleset), None)

    @property
    def merged(self) -> tuple[Ruleset, ...]:
        """The rulesets of which the two categories are reported as one."""
        rulesets: tuple[Ruleset, ...] = get_args(Ruleset)
        return tuple(
            name for name in rulesets if (last := self.latest(name)) and not last.score.holds
        )
