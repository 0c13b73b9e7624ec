"""What repositories, events and configurations hold is understood, or refused by name."""

import json
import os
from contextlib import suppress

import pytest

from nanobench.agent.gateway.live import LiveTransport
from nanobench.agent.gateway.redirect import can_redirect, route_options, upstream_of
from nanobench.agent.providers import find_provider
from nanobench.environment.container.devcontainer import Build, parse_devcontainer
from nanobench.errors import InvalidInputError
from nanobench.github.context import read_context

DEVCONTAINER = {
    "image": "i",
    "containerEnv": {"A": "b"},
    "remoteUser": "u",
    "postCreateCommand": {"a": ["x", "y"], "b": "z"},
}
BUILT = {"build": {"dockerfile": "D", "context": "..", "args": {"A": "b"}, "target": "t"}}
EVENTS = {
    "pull_request": {
        "pull_request": {
            "number": 1,
            "head": {"sha": "a", "repo": {"full_name": "a/b"}},
            "base": {"repo": {"full_name": "a/b"}},
        }
    },
    "workflow_run": {
        "workflow_run": {
            "id": 1,
            "event": "push",
            "head_sha": "a",
            "head_branch": "m",
            "head_repository": {"owner": {"login": "a"}},
        }
    },
}
PROVIDER = {
    "name": "a",
    "baseUrl": "http://localhost:1/v1",
    "sdkProvider": "anthropic",
    "apiKey": "long enough",
    "headers": {"X": "y"},
    "caCertPath": "",
    "requestTimeout": 1000,
}
PROVIDERS = {"nanocoder": {"providers": [{"name": "a", "baseUrl": "u", "models": ["$M"]}]}}


def arguments(recipe):
    source = recipe.source
    if isinstance(source, Build):
        yield from (source.dockerfile, source.context, source.target or "", *source.args.values())
    else:
        yield source
    yield from (recipe.user, *recipe.env.values(), *recipe.install)


@pytest.mark.parametrize("template", [DEVCONTAINER, BUILT], ids=["image", "build"])
def test_any_devcontainer_is_refused_or_gives_arguments_of_programs(template, spoiled):
    deep = json.dumps({"image": "i", "postCreateCommand": 0}).replace("0", '{"a":' * 900 + "0")
    for text in (*map(json.dumps, spoiled(template)), deep + "}" * 900):
        try:
            recipe = parse_devcontainer(text, ".devcontainer/devcontainer.json")
        except InvalidInputError:
            continue
        assert all(b"\0" not in os.fsencode(argument) for argument in arguments(recipe))


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_any_payload_of_an_event_is_read_or_refused(event, tmp_path, spoiled):
    path = tmp_path / "event.json"
    environ = {"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(path)}
    for payload in spoiled(EVENTS[event]):
        path.write_text(json.dumps(payload))
        with suppress(InvalidInputError):
            assert read_context(environ).event == event


def test_any_configuration_of_providers_is_read_or_refused(tmp_path, spoiled):
    deep = json.dumps([{"name": "a", "x": 0}]).replace("0", "[" * 900 + "]" * 900)
    for text in (*map(json.dumps, spoiled(PROVIDERS)), "9" * 5000, deep):
        try:
            found = find_provider("a", {"NANOCODER_PROVIDERS": text, "M": "m"}, tmp_path)
        except InvalidInputError:
            continue
        assert found["name"] == "a"


def test_any_provider_is_reached_through_the_gateway_or_refused(spoiled):
    odd = ("http://", "http://a:99999/", "http://[", "http://a:b/", "ftp://a")
    for provider in (*spoiled(PROVIDER), *(PROVIDER | {"baseUrl": address} for address in odd)):
        if not isinstance(provider, dict):
            continue
        try:
            if can_redirect(provider):
                LiveTransport(upstream_of(provider), route_options(provider).idle_seconds)
        except InvalidInputError as error:
            assert "provider" in error.what  # noqa: PT017 - some are refused
