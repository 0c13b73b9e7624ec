"""The registry of repositories (SPEC 4): what each scores, and from what evidence."""

from typing import Final, Literal, Self

from pydantic import AwareDatetime, Field, NonNegativeFloat, NonNegativeInt, model_validator

from nanobench.model.base import Document, NonEmpty, Sha1

REGISTRY_SCHEMA_VERSION: Final = "1.0"
ONBOARDED_FROM: Final = 12
"""Points of 20 that a repository needs."""

NoveltyPoints = Literal[0, 2, 4]


class LanguageBreadth(Document):
    """One point per language that a typical change needs, at most 4."""

    points: int = Field(ge=0, le=4)
    sample: NonNegativeInt = Field(description="merged changes with sources and tests looked at")
    changes: dict[str, NonNegativeInt] = Field(description="by language, how many of them edit it")
    counted: tuple[NonEmpty, ...] = Field(description="edited by a tenth of them or more")


class ChangeEvidence(Document):
    """One merged change of the sample of five."""

    commit: Sha1
    pull: int | None
    fix: bool = Field(description="its subject says that it mends something")
    files: NonNegativeInt = Field(description="hand-written source files that it edits")
    context_tokens: NonNegativeInt = Field(
        description="of the sources in the directories that it edits, at its base"
    )


class DependencyDepth(Document):
    """The whole part of the mean number of source files over five changes, at most 4."""

    points: int = Field(ge=0, le=4)
    mean_files: NonNegativeFloat


class Activity(Document):
    """Merged pull requests a month from 2026-05-01 on: 2 give 4 points, 1 gives 2."""

    points: Literal[0, 2, 4]
    merged: NonNegativeInt
    since: AwareDatetime
    until: AwareDatetime = Field(description="the date of the commit that was scored")
    months: NonNegativeFloat
    per_month: NonNegativeFloat


class Novelty(Document):
    """How new the domain is: 4 new, 2 adjacent, 0 covered. A person judges."""

    points: NoveltyPoints = 0
    reason: str = ""

    @model_validator(mode="after")
    def _reasoned(self) -> Self:
        if self.points and not self.reason.strip():
            raise ValueError("points for novelty need a 'reason'")
        return self


class ContextPressure(Document):
    """The median of the five changes' tokens: 20k gives 2, 50k 3, above 80k 4."""

    points: Literal[0, 2, 3, 4]
    median_tokens: NonNegativeInt
    tokenizer: NonEmpty


class ScoredRepository(Document):
    """A repository at one commit."""

    repo: NonEmpty
    repo_url: NonEmpty
    domain: NonEmpty
    commit: Sha1
    languages: LanguageBreadth
    depth: DependencyDepth
    activity: Activity
    novelty: Novelty
    context: ContextPressure
    changes: tuple[ChangeEvidence, ...] = Field(description="what depth and context are taken from")
    total: int = Field(ge=0, le=20)

    @model_validator(mode="after")
    def _summed(self) -> Self:
        axes = (self.languages, self.depth, self.activity, self.novelty, self.context)
        total = sum(axis.points for axis in axes)
        if self.total != total:
            raise ValueError(f"'total' is {self.total}, the axes give {total}")
        return self

    @property
    def onboarded(self) -> bool:
        """Whether the points suffice."""
        return self.total >= ONBOARDED_FROM


def rank(entry: ScoredRepository) -> tuple[int, str]:
    """The order of the registry: most points first, then by name."""
    return -entry.total, entry.repo.casefold()


class Registry(Document):
    """`tasks/registry.json`."""

    schema_version: Literal["1.0"] = REGISTRY_SCHEMA_VERSION
    repositories: tuple[ScoredRepository, ...] = ()

    @model_validator(mode="after")
    def _ranked(self) -> Self:
        names = [entry.repo.casefold() for entry in self.repositories]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"a repository stands twice: {', '.join(twice)}")
        if list(self.repositories) != sorted(self.repositories, key=rank):
            raise ValueError("the repositories are not ranked: most points first, then by name")
        return self
