"""Sampling is pinned in the request: temperature 0 and a seed, where they are taken (SPEC X7)."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from nanobench.agent.exchange import TemperatureState
from nanobench.agent.gateway.dialects.base import Dialect, Place, inner, number
from nanobench.agent.gateway.dialects.errors import ErrorDocument
from nanobench.agent.gateway.reply import decode

TEMPERATURE, SEED, USAGE = "temperature", "seed", "usage"
_VALUES: Mapping[str, Any] = {TEMPERATURE: 0, SEED: 1, USAGE: True}

IGNORED: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"gemini-3\.5-flash-lite|gemini-3\.[678]-flash"),
        "https://github.com/langchain-ai/langchain-google/issues/1897",
    ),
)
"""Models that accept a temperature and do not heed it, each with where that is said."""

_REFUSALS = re.compile(
    r"deprecated|not support|unsupported|unknown|unrecogni[sz]ed|not permitted|not allowed"
    r"|cannot find|forbidden|extra|unexpected|additional propert|only be set to|only the default"
)


@dataclass(frozen=True)
class Asked:
    """What a request asks for; null where its body was not understood.

    Attributes:
        document: the decoded body; null when it is no JSON object.
        model: named in it.
        tools: their names.
        temperature: asked for.
        streams: whether a stream is asked for.
    """

    document: dict[str, Any] | None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    temperature: float | None = None
    streams: bool = False


@dataclass(frozen=True)
class Pinned:
    """A body as it is sent, and what the gateway set in it, by parameter."""

    body: bytes
    values: Mapping[str, Any]

    @property
    def sampling(self) -> dict[str, Any]:
        """What shapes the reply: temperature and seed."""
        return {name: value for name, value in self.values.items() if name != USAGE}


def read_request(dialect: Dialect | None, route: str, body: bytes) -> Asked:
    """What a request says, as far as its dialect is known."""
    document = decode(body) if dialect else None
    if dialect is None or not isinstance(document, dict):
        return Asked(None)
    return Asked(
        document=document,
        model=dialect.model(route, document),
        tools=dialect.tools(document),
        temperature=number(_at(document, dialect.temperature)),
        streams=dialect.streams(route, document),
    )


def pin(dialect: Dialect | None, asked: Asked, body: bytes, refused: Collection[str]) -> Pinned:
    """Set what the dialect has and the provider has not refused."""
    if dialect is None or asked.document is None:
        return Pinned(body, {})
    places = _places(dialect, asked)
    values = {name: _VALUES[name] for name in places if name not in refused}
    dropped = [places[name] for name in places if name in refused]
    wanted = {places[name]: value for name, value in values.items()}
    try:
        return Pinned(_edited(body, asked.document, wanted, dropped), values)
    except RecursionError:  # nested more deeply than can be written again
        return Pinned(body, {})


def refused_parameter(
    dialect: Dialect, status: int, error: ErrorDocument, pinned: Pinned
) -> str | None:
    """The parameter of the gateway's own that a provider refuses by name; null if it is none."""
    if status not in (400, 422):
        return None
    message = error.message.lower()
    for name in pinned.values:
        field = _field(dialect, name)
        blamed = error.parameter is not None and field in re.split(r"[.\[\]/]", error.parameter)
        if blamed or (re.search(rf"\b{field}\b", message) and _REFUSALS.search(message)):
            return name
    return None


def temperature_state(asked: Asked, pinned: Pinned, refused: Collection[str]) -> TemperatureState:
    """What is known of the temperature of a request that was sent so."""
    if TEMPERATURE in refused:
        return "refused"
    if TEMPERATURE not in pinned.values:
        return "unknown"
    model = asked.model or ""
    return "ignored" if any(pattern.search(model) for pattern, _ in IGNORED) else "pinned"


def _places(dialect: Dialect, asked: Asked) -> dict[str, Place]:
    places: dict[str, Place] = {TEMPERATURE: dialect.temperature}
    if dialect.seed:
        places[SEED] = dialect.seed
    if dialect.usage_switch and asked.streams:
        places[USAGE] = dialect.usage_switch
    return places


def _field(dialect: Dialect, name: str) -> str:
    """The word by which an error would name a parameter."""
    if name == USAGE:
        return dialect.usage_switch[0] if dialect.usage_switch else ""
    return (dialect.temperature if name == TEMPERATURE else dialect.seed or ("",))[-1]


def _at(document: Mapping[str, Any], place: Place) -> Any:
    return inner(document, *place[:-1]).get(place[-1])


def _edited(
    body: bytes, document: dict[str, Any], wanted: Mapping[Place, Any], dropped: list[Place]
) -> bytes:
    """The body with these values; additions at the top leave every byte of the rest alone."""
    gone = [place for place in dropped if _at(document, place) is not None]
    if not gone and not any(place[0] in document for place in wanted):
        if not wanted:
            return body
        added = orjson.dumps(_nested(wanted))[1:-1]
        start = body.index(b"{") + 1
        return body[:start] + added + (b"," if document else b"") + body[start:]
    changed = json.loads(body)  # the document has integers of 64 bits only
    for place in gone:
        inner(changed, *place[:-1]).pop(place[-1], None)
    for place, value in wanted.items():
        _set(changed, place, value)
    return json.dumps(changed).encode()


def _nested(wanted: Mapping[Place, Any]) -> dict[str, Any]:
    built: dict[str, Any] = {}
    for place, value in wanted.items():
        _set(built, place, value)
    return built


def _set(document: dict[str, Any], place: Place, value: Any) -> None:
    for key in place[:-1]:
        if not isinstance(document.get(key), dict):
            document[key] = {}
        document = document[key]
    document[place[-1]] = value
