"""Cassettes: the requests of one cell and the replies to them, in one JSON document.

Requests are kept in their canonical form, each message once: a conversation sends everything
again with every request.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, ValidationError, model_validator

from nanobench.agent.gateway.canonical import CanonicalRequest
from nanobench.agent.gateway.substitution import Locations
from nanobench.errors import InvalidInputError
from nanobench.model.base import Document, Sha256
from nanobench.model.plan import Cell

CASSETTE_VERSION: Final = "1"
SUFFIX = ".cassette.json"
_MAX_BYTES = 1 << 30
_REMEDY = "record the bench again with --record"

Failure = Literal["refused", "reset", "timeout", "dns", "tls"]


class RecordedReply(Document):
    """A reply as it came, decoded but otherwise byte for byte.

    `broke_off` says how the body ended too early; `abandoned` that the agent went away before.
    """

    status: int
    headers: dict[str, str] = Field(description="those that steer retries, and the content type")
    body: str
    encoding: Literal["utf-8", "base64"]
    broke_off: Failure | None = None
    abandoned: bool = False

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str], content: bytes, **how: Any) -> Any:
        """A reply with this body; text stays readable."""
        try:
            body, encoding = content.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            body, encoding = base64.b64encode(content).decode("ascii"), "base64"
        return cls.model_validate(
            {"status": status, "headers": headers, "body": body, "encoding": encoding, **how}
        )

    @model_validator(mode="after")
    def _readable(self) -> "RecordedReply":
        if self.encoding == "base64":
            try:
                base64.b64decode(self.body, validate=True)
            except (binascii.Error, ValueError):
                raise ValueError("the body is not base64") from None
        return self

    @property
    def content(self) -> bytes:
        """The body."""
        if self.encoding == "base64":
            return base64.b64decode(self.body, validate=True)
        return self.body.encode("utf-8")


class RecordedExchange(Document):
    """One request that left the gateway, and the reply to it or the failure to get one.

    `body` names parts of the cassette: a list of them for a field that is a list, else one.
    """

    key: Sha256
    ordinal: NonNegativeInt = Field(description="position among the requests with this key")
    head: tuple[str, ...]
    kind: Literal["json", "bytes", "none"]
    body: dict[str, Sha256 | tuple[Sha256, ...]] | Sha256 | None
    pinned: dict[str, float | int | None]
    reply: RecordedReply | None = None
    failure: Failure | None = None

    @model_validator(mode="after")
    def _answered(self) -> "RecordedExchange":
        if (self.reply is None) == (self.failure is None):
            raise ValueError("an exchange has either a reply or a failure")
        return self


class Cassette(Document):
    """All exchanges of one cell, in the order in which their requests were sent."""

    format: Literal["nanobench-cassette"] = "nanobench-cassette"
    version: Literal["1"] = CASSETTE_VERSION
    key_version: PositiveInt
    cell: Cell
    nanocoder: str
    provider: dict[str, Any] = Field(description="as the agent got it, without address and key")
    priced_as: str | None = Field(description="the provider's id in the package of prices")
    locations: Locations
    substitutions: tuple[dict[str, str], ...]
    parts: dict[Sha256, str] = Field(description="JSON texts by their hash")
    exchanges: tuple[RecordedExchange, ...]

    @model_validator(mode="after")
    def _whole(self) -> "Cassette":
        named = {part for exchange in self.exchanges for part in _named(exchange.body)}
        if named - self.parts.keys():
            raise ValueError("an exchange names a part that is not there")
        if any(_hash(text) != name for name, text in self.parts.items()):
            raise ValueError("a part does not have the hash it is named by")
        return self

    def request(self, exchange: RecordedExchange) -> CanonicalRequest:
        """The request of one of the exchanges."""
        if exchange.kind == "none":
            return CanonicalRequest(exchange.head, ["none"])
        return CanonicalRequest(exchange.head, [exchange.kind, self._joined(exchange.body)])

    def _joined(self, body: Any) -> Any:
        if isinstance(body, str):
            try:
                return json.loads(self.parts[body])
            except (ValueError, RecursionError):
                return self.parts[body]  # not of our writing; it is only shown
        return {
            name: self._joined(part) if isinstance(part, str) else [self._joined(p) for p in part]
            for name, part in (body or {}).items()
        }


def split(
    request: CanonicalRequest, parts: dict[str, str], scrub: Callable[[bytes], bytes]
) -> dict[str, Any]:
    """`head`, `kind` and `body` of an exchange; what the body names is put into `parts`."""

    def kept(value: Any) -> str:
        text = scrub(json.dumps(value, sort_keys=True).encode()).decode()
        parts.setdefault(name := _hash(text), text)
        return name

    kind, *values = request.body
    body: Any = None
    if values and isinstance(values[0], dict):
        body = {
            name: [kept(item) for item in value] if isinstance(value, list) else kept(value)
            for name, value in values[0].items()
        }
    elif values:
        body = kept(values[0])
    return {"head": request.head, "kind": kind, "body": body}


def cassette_path(directory: Path, cell: Cell) -> Path:
    """Where the cassette of a cell lies."""
    return directory / f"{cell.cell_id}{SUFFIX}"


def read_cassette(directory: Path, cell: Cell) -> Cassette:
    """Read the cassette of a cell.

    Raises:
        InvalidInputError: there is none, it cannot be read, or it is of another cell.
    """
    path = cassette_path(directory, cell)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InvalidInputError("the cassette is larger than 1 GiB", where=str(path))
        cassette = Cassette.from_json(path.read_bytes())
    except FileNotFoundError:
        raise InvalidInputError(
            f"there is no cassette of {cell.model} on {cell.task_id}, {cell.mode}, run {cell.run}",
            where=str(path),
            remedy=_REMEDY,
        ) from None
    except OSError as error:
        raise InvalidInputError(
            f"the cassette cannot be read: {error.strerror}", where=str(path)
        ) from None
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in problem["loc"]) or "document"
        raise InvalidInputError(
            f"this is no cassette of this version: {place}: {problem['msg']}",
            where=str(path),
            remedy=_REMEDY,
        ) from None
    if cassette.cell != cell:
        raise InvalidInputError(
            f"this cassette is of another cell: {cassette.cell.cell_id}", where=str(path)
        )
    return cassette


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii", "backslashreplace")).hexdigest()


def _named(body: Any) -> Iterator[str]:
    if isinstance(body, str):
        yield body
        return
    for part in (body or {}).values():
        yield from (part,) if isinstance(part, str) else part
