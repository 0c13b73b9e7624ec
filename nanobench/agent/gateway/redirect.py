"""A provider of Nanocoder's configuration, parted in two: what the agent gets, what stays here."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from nanobench.agent.gateway.dialects.anthropic import ANTHROPIC
from nanobench.agent.gateway.dialects.base import number
from nanobench.agent.gateway.dialects.openai_chat import OPENAI_CHAT
from nanobench.agent.gateway.route import (
    PLACEHOLDER_KEY,
    UNKNOWN_DIALECT,
    RetryPolicy,
    RouteOptions,
    Upstream,
)
from nanobench.errors import InvalidInputError

_DIALECTS = {"anthropic": ANTHROPIC.name, "openai-compatible": OPENAI_CHAT.name}
_DEFAULT_URLS = {"anthropic": "https://api.anthropic.com/v1"}  # of the SDK that Nanocoder uses
_STAYS_HERE = frozenset({"baseUrl", "apiKey", "headers", "caCertPath", "organizationId"})
_LONGEST_TIMEOUT = 1e9  # milliseconds, twelve days: a longer one is as good as none
_PATIENCE = 0.9  # of the time after which the agent gives up
_AGENT_GIVES_UP_SECONDS = 600.0  # Nanocoder's default for a provider on loopback


def can_redirect(provider: dict[str, Any]) -> bool:
    """Whether Nanocoder heeds the provider's `baseUrl`: not for `google` (1.30.0).

    Raises:
        InvalidInputError: its `sdkProvider` is no text.
    """
    return _sdk(provider) in _DIALECTS


def upstream_of(provider: dict[str, Any]) -> Upstream:
    """What the gateway needs of a provider object whose variables are substituted.

    Raises:
        InvalidInputError: the provider has no usable `baseUrl`, `headers` or `sdkProvider`.
    """
    name = str(provider.get("name", ""))
    sdk = _sdk(provider)
    base = provider.get("baseUrl") or _DEFAULT_URLS.get(sdk)
    if not isinstance(base, str) or not _is_address(base):
        raise InvalidInputError(
            "the provider has no baseUrl of http or https",
            where=f"provider {name!r}",
            remedy="give it the address of its interface, e.g. http://localhost:11434/v1",
        )
    headers = provider.get("headers") or {}
    if not isinstance(headers, dict) or not all(isinstance(v, str) for v in headers.values()):
        raise InvalidInputError(
            "the provider's headers are not texts by name", where=f"provider {name!r}"
        )
    key, ca = provider.get("apiKey"), provider.get("caCertPath")
    return Upstream(
        base_url=base,
        api_key=key if isinstance(key, str) and key else None,
        headers=headers,
        dialect=_DIALECTS.get(sdk, UNKNOWN_DIALECT),
        ca_cert_path=Path(ca.strip()) if isinstance(ca, str) and ca.strip() else None,
        provider=name,
    )


def _sdk(provider: dict[str, Any]) -> str:
    sdk = provider.get("sdkProvider") or "openai-compatible"
    if not isinstance(sdk, str):
        raise InvalidInputError(
            "the provider's sdkProvider is not a text",
            where=f"provider {str(provider.get('name', ''))!r}",
            remedy=f"use one of: {', '.join(sorted(_DIALECTS))}",
        )
    return sdk


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # a port or a host that is none
        return False


def redirected(provider: dict[str, Any], base_url: str) -> dict[str, Any]:
    """The provider object for the agent: no key, no address, no header of the user's."""
    kept = {name: value for name, value in provider.items() if name not in _STAYS_HERE}
    return {**kept, "baseUrl": base_url, "apiKey": PLACEHOLDER_KEY}


def route_options(provider: dict[str, Any]) -> RouteOptions:
    """The provider's timeouts, kept: the gateway is done with a request before the agent is."""
    given = provider.get("socketTimeout", provider.get("requestTimeout"))
    milliseconds = number(given) or 0
    if not 0 < milliseconds < _LONGEST_TIMEOUT:
        return RouteOptions(retry=RetryPolicy(patience_seconds=_PATIENCE * _AGENT_GIVES_UP_SECONDS))
    seconds = _PATIENCE * milliseconds / 1000
    return RouteOptions(retry=RetryPolicy(patience_seconds=seconds), idle_seconds=seconds)
