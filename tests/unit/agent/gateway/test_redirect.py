"""A provider's description is parted: what the agent may see, and what stays."""

from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.gateway.redirect import (
    can_redirect,
    redirected,
    route_options,
    upstream_of,
)
from nanobench.agent.gateway.route import PLACEHOLDER_KEY
from nanobench.errors import InvalidInputError

PROVIDER: dict[str, Any] = {
    "name": "acme",
    "baseUrl": "https://acme.example/v1",
    "apiKey": "secret-key",
    "headers": {"X-Team-Token": "secret-token"},
    "organizationId": "secret-organization",
    "caCertPath": " /etc/acme.pem ",
    "models": ["m"],
    "socketTimeout": 20_000,
    "connectionPool": {"idleTimeout": 1},
    "contextWindow": 5,
}


def test_the_agent_gets_no_secret_and_keeps_its_settings() -> None:
    given = redirected(PROVIDER, "http://127.0.0.1:1/key/v1")
    assert "secret" not in str(given)
    assert "acme.example" not in str(given)
    assert given == {
        "name": "acme",
        "baseUrl": "http://127.0.0.1:1/key/v1",
        "apiKey": PLACEHOLDER_KEY,
        "models": ["m"],
        "socketTimeout": 20_000,
        "connectionPool": {"idleTimeout": 1},
        "contextWindow": 5,
    }


def test_the_gateway_gets_what_the_agent_does_not() -> None:
    upstream = upstream_of(PROVIDER)
    assert (upstream.base_url, upstream.api_key) == ("https://acme.example/v1", "secret-key")
    assert upstream.headers == {"X-Team-Token": "secret-token"}
    assert (upstream.ca_cert_path, upstream.provider) == (Path("/etc/acme.pem"), "acme")
    assert upstream.dialect == "openai_chat"
    assert "secret" not in repr(upstream)


def test_anthropic_has_a_default_address() -> None:
    upstream = upstream_of({"name": "a", "sdkProvider": "anthropic", "apiKey": "k"})
    assert (upstream.base_url, upstream.dialect) == ("https://api.anthropic.com/v1", "anthropic")


@pytest.mark.parametrize(
    ("sdk", "possible"),
    [(None, True), ("openai-compatible", True), ("anthropic", True), ("google", False)],
)
def test_google_cannot_be_redirected(sdk: str | None, possible: bool) -> None:
    provider = {"name": "a", "baseUrl": "http://x", **({"sdkProvider": sdk} if sdk else {})}
    assert can_redirect(provider) is possible


@pytest.mark.parametrize(
    "wrong", [{"baseUrl": ""}, {"baseUrl": "acme.example"}, {"baseUrl": 3}, {"headers": {"a": 1}}]
)
def test_a_description_that_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as refused:
        upstream_of({**PROVIDER, **wrong})
    assert "acme" in refused.value.where
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("timeouts", "idle", "patience"),
    [
        ({}, 300, 540),
        ({"socketTimeout": 20_000}, 18, 18),
        ({"requestTimeout": 10_000}, 9, 9),
        ({"requestTimeout": 10_000, "socketTimeout": 20_000}, 18, 18),
        ({"socketTimeout": -1}, 300, 540),
        ({"socketTimeout": "soon"}, 300, 540),
    ],
)
def test_the_gateway_gives_up_before_the_agent_does(
    timeouts: dict[str, Any], idle: float, patience: float
) -> None:
    options = route_options({"name": "a", **timeouts})
    assert (options.idle_seconds, options.retry.patience_seconds) == (idle, patience)
