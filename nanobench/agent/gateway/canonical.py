"""The canonical form of a request: equal for requests that mean the same, and for no others.

What is left out or replaced is declared here and nowhere else; all the rest of a request, what
nobody has thought of included, stays in its key.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

from nanobench.agent.gateway.substitution import Scope, Substitution, substitute
from nanobench.agent.gateway.transport import UpstreamRequest
from nanobench.model.text import clean

KEY_VERSION = 1
LEFT_OUT = frozenset(
    {"user", "metadata", "prompt_cache_key", "safety_identifier", "stream_options"}
)
"""Top-level fields that do not shape the reply."""
KEPT_HEADERS = ("anthropic-beta", "anthropic-version")

_PROMPT_FIELDS = frozenset({"system", "instructions", "systemInstruction", "system_instruction"})
# Tuples, since what is looked for can be anything, a list too.
_PROMPT_ROLES = ("system", "developer")
_RESULT_ROLES = ("tool", "function")
_RESULT_TYPES = ("tool_result", "function_call_output")
_CALL_TYPES = ("tool_use", "function_call")
_CALL_REFERENCES = frozenset({"tool_call_id", "tool_use_id", "call_id"})
_GOOGLE_CALLS = frozenset({"functionCall", "functionResponse", "function_call"})


@dataclass(frozen=True)
class CanonicalRequest:
    """A request as the agent sent it, without what differs from run to run.

    Attributes:
        head: dialect, method, route with its query sorted, and the headers of KEPT_HEADERS.
        body: `["json", value]`, `["bytes", base64]` for what is no JSON, or `["none"]`.
    """

    head: tuple[str, ...]
    body: list[Any]

    @cached_property
    def key(self) -> str:
        """SHA-256 (hex) over all of it."""
        everything = [KEY_VERSION, list(self.head), self.body]
        text = json.dumps(everything, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def canonical_request(
    request: UpstreamRequest, substitutions: Sequence[Substitution]
) -> CanonicalRequest:
    """The canonical form of `request.agent_body` and its address.

    Keys are sorted, arrays keep their order, 1 and 1.0 are one number, ids of tool calls are
    named in the order in which they appear, and the substitutions are made.
    """
    path, _, query = request.route.partition("?")
    ordered = urlencode(sorted(parse_qsl(query, keep_blank_values=True)))
    headers = (f"{name}: {_listed(request.headers.get(name, ''))}" for name in KEPT_HEADERS)
    route = f"{path}?{ordered}" if ordered else path
    head = (request.dialect, request.method, route, *headers)
    return CanonicalRequest(
        head=tuple(map(clean, head)),
        body=_canonical_body(request.agent_body, substitutions),
    )


def _canonical_body(body: bytes, substitutions: Sequence[Substitution]) -> list[Any]:
    if not body:
        return ["none"]
    try:
        document = json.loads(
            body, parse_float=_number, parse_constant=_refuse, object_pairs_hook=_distinct
        )
        if isinstance(document, dict):
            document = {k: v for k, v in document.items() if k not in LEFT_OUT}
            "".join(document).encode()  # a cassette names the fields, which UTF-8 has to carry
        return ["json", _Canonical(substitutions).of(document)]
    except (ValueError, RecursionError):
        return ["bytes", base64.b64encode(body).decode("ascii")]


def _number(text: str) -> int | float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("too large for a float, so that it cannot be told from its neighbours")
    return int(value) if value.is_integer() else value


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: readers differ in which of the two counts."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name stands twice in an object")
    return dict(pairs)


def _listed(header: str) -> str:
    return ",".join(part.strip() for part in header.split(",") if part.strip())


class _Canonical:
    """One walk over a body. Objects are walked by sorted name, so that the first appearance of
    an id does not depend on the order in which the agent wrote them.
    """

    def __init__(self, substitutions: Sequence[Substitution]) -> None:
        self._substitutions = substitutions
        self._calls: dict[str, str] = {}

    def of(self, document: Any) -> Any:
        if not isinstance(document, dict):
            return self._value(document, "other", "")
        return {
            name: self._value(value, "prompt" if name in _PROMPT_FIELDS else "other", name)
            for name, value in sorted(document.items())
        }

    def _value(self, value: Any, scope: Scope, field: str) -> Any:
        """`field` is the name under which the value, or the list that holds it, stands."""
        if isinstance(value, str):
            return substitute(value, self._substitutions, scope)
        if isinstance(value, list):
            return [self._value(item, scope, field) for item in value]
        if isinstance(value, dict):
            return dict(self._members(value, _scope_of(value, scope, field), field))
        return value

    def _members(
        self, value: Mapping[str, Any], scope: Scope, field: str
    ) -> Iterator[tuple[str, Any]]:
        kind = value.get("type")
        call = field in _GOOGLE_CALLS or kind in _CALL_TYPES or field == "tool_calls"
        for name, member in sorted(value.items()):
            if isinstance(member, str) and (name in _CALL_REFERENCES or (call and name == "id")):
                yield name, self._calls.setdefault(member, f"call_{len(self._calls) + 1}")
            elif call and name in ("input", "args"):  # the model's own data, whatever its names
                yield name, self._plain(member, scope)
            else:
                yield name, self._value(member, scope, name)

    def _plain(self, value: Any, scope: Scope) -> Any:
        if isinstance(value, str):
            return substitute(value, self._substitutions, scope)
        if isinstance(value, list):
            return [self._plain(item, scope) for item in value]
        if isinstance(value, dict):
            return {name: self._plain(member, scope) for name, member in sorted(value.items())}
        return value


def _scope_of(value: Mapping[str, Any], scope: Scope, field: str) -> Scope:
    role, kind = value.get("role"), value.get("type")
    if role in _PROMPT_ROLES:
        return "prompt"
    if role in _RESULT_ROLES or kind in _RESULT_TYPES or field == "functionResponse":
        return "result"
    return scope
