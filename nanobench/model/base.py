"""What all documents share: strict, frozen, and the same bytes for the same content."""

import hashlib
import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, StringConstraints

Sha1 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
NonEmpty = Annotated[str, StringConstraints(min_length=1)]


class Document(BaseModel):
    """A frozen document that refuses fields it does not know, and numbers that JSON cannot say."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself, since it is frozen; pydantic copies every default of a field otherwise."""
        return self

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, two-space indent, ASCII, a final newline."""
        return canonical_json(self.model_dump(mode="json", by_alias=True))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Parse and validate.

        Raises:
            pydantic.ValidationError: the text is not JSON or does not fit.
        """
        return cls.model_validate_json(text)

    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """Serialise plain data so that equal data give equal bytes."""
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
