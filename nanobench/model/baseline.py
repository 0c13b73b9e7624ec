"""A kept result that later ones are compared with: what it holds, by hash, and where it is from."""

from typing import Annotated, Final, Literal

from pydantic import Field, NonNegativeInt, StringConstraints

from nanobench.model.base import Document, Sha256

BASELINE_SCHEMA_VERSION: Final = "1.0"
FilePath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,7}$")]


class KeptFile(Document):
    """One file of a baseline."""

    sha256: Sha256
    bytes: NonNegativeInt


class Baseline(Document):
    """The table of contents; its own hash names the baseline."""

    schema_version: Literal["1.0"] = BASELINE_SCHEMA_VERSION
    nanobench: str
    repository: str = Field(default="", description="owner/name; empty: not made on GitHub")
    commit: str = ""
    run_url: str = ""
    files: dict[FilePath, KeptFile]
