"""Which headers go on, in both directions, and where the key is put in."""

import re
from collections.abc import Mapping

from nanobench.agent.gateway.route import PLACEHOLDER_KEY, Upstream

_HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
_OF_THE_BODY = frozenset({"content-length", "content-encoding"})  # it is decoded and framed anew
_NOT_SENT = _HOP_BY_HOP | _OF_THE_BODY | {"host", "accept-encoding", "expect", "cookie"}
_NOT_PASSED_ON = _HOP_BY_HOP | _OF_THE_BODY | {"set-cookie", "set-cookie2", "alt-svc"}

_SHORTEST_SECRET = 8  # characters; a shorter one is a word that texts hold anyway
_KEY_PARAMETER = re.compile(r"(?i)(?:api[_-]?)?key=|(?:access_)?token=")


def outgoing(headers: Mapping[str, str], upstream: Upstream) -> dict[str, str]:
    """The headers for the provider: the agent's, the provider's own, and the key.

    Compression is refused, since edges that compress event streams hold events back.
    """
    kept = _without(headers, _NOT_SENT)
    sent = {name: _with_key(value, upstream.api_key) for name, value in kept.items()}
    own = {name.lower(): value for name, value in upstream.headers.items()}
    merged = {name: value for name, value in {**sent, **own}.items() if value is not None}
    return {**merged, "accept-encoding": "identity"}


def incoming(headers: Mapping[str, str], secrets: tuple[str, ...]) -> dict[str, str]:
    """The headers for the agent; none that holds a secret."""
    kept = _without(headers, _NOT_PASSED_ON)
    return {name: redact(value, secrets) for name, value in kept.items()}


def redact(text: str, secrets: tuple[str, ...]) -> str:
    """Take every secret out of a text."""
    for secret in secrets:
        text = text.replace(secret, PLACEHOLDER_KEY)
    return text


def without_keys(route: str) -> str:
    """A route without the parameters of its query that hold keys."""
    path, mark, query = route.partition("?")
    kept = [part for part in query.split("&") if not _KEY_PARAMETER.match(part)]
    return path + mark + "&".join(kept) if any(kept) else path


def secrets_of(upstream: Upstream) -> tuple[str, ...]:
    """The key and the headers' values: what only the provider may get; longest first."""
    values = [upstream.api_key or "", *upstream.headers.values()]
    words = [word for value in values for word in (value, value.rpartition(" ")[2])]
    return tuple(sorted({word for word in words if len(word) >= _SHORTEST_SECRET}, key=len))[::-1]


def _with_key(value: str, key: str | None) -> str | None:
    if PLACEHOLDER_KEY not in value:
        return value
    return value.replace(PLACEHOLDER_KEY, key) if key else None


def _without(headers: Mapping[str, str], dropped: frozenset[str]) -> dict[str, str]:
    named = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    lowered = ((name.lower(), value) for name, value in headers.items())
    return {
        name: value
        for name, value in lowered
        if name not in dropped | named and value.isprintable()  # nothing else can be sent on
    }
