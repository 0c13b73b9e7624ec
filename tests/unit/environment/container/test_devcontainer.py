"""Devcontainers: what is used is read right, what would change the environment is refused."""

import json

import pytest

from nanobench.environment.container.devcontainer import Build, parse_devcontainer
from nanobench.errors import InvalidInputError

PLACE = ".devcontainer/devcontainer.json"


def test_comments_and_trailing_commas_are_no_content() -> None:
    recipe = parse_devcontainer(
        """// the editor writes these
        {
          "image": "debian:bookworm", /* pinned
          elsewhere */
          "containerEnv": {"URL": "http://x//y", "LIST": "[1,]", "Q": "a\\"//b",},
        }""",
        PLACE,
    )
    assert recipe.source == "debian:bookworm"
    assert recipe.env == {"URL": "http://x//y", "LIST": "[1,]", "Q": 'a"//b'}


def test_paths_of_a_build_are_relative_to_the_file() -> None:
    document = {
        "build": {"dockerfile": "Dockerfile", "context": "..", "args": {"A": "1"}, "target": "dev"},
        "remoteUser": "dev",
    }
    recipe = parse_devcontainer(json.dumps(document), PLACE)
    assert recipe.source == Build(".devcontainer/Dockerfile", ".", {"A": "1"}, "dev")
    assert recipe.user == "dev"
    at_root = parse_devcontainer('{"dockerFile": "Dockerfile"}', ".devcontainer.json")
    assert at_root.source == Build("Dockerfile")


def test_commands_run_in_the_order_of_their_phases() -> None:
    document = {
        "image": "i",
        "postCreateCommand": {"b": ["echo", "two words"], "a": "make ${containerWorkspaceFolder}"},
        "onCreateCommand": "first ${HOME:-x}",
        "updateContentCommand": {},
    }
    recipe = parse_devcontainer(json.dumps(document), PLACE)
    assert recipe.install == ("first ${HOME:-x}", "make /ws", "echo 'two words'")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("features", {"ghcr.io/devcontainers/features/node:1": {}}),
        ("dockerComposeFile", "compose.yml"),
        ("mounts", ["source=/,target=/host,type=bind"]),
        ("runArgs", ["--privileged"]),
        ("privileged", True),
        ("capAdd", ["SYS_PTRACE"]),
        ("initializeCommand", "curl x | sh"),
        ("postStartCommand", "service postgresql start"),
        ("something-new", 1),
    ],
)
def test_what_would_shape_the_environment_and_is_not_supported_is_refused(
    key: str, value: object
) -> None:
    with pytest.raises(InvalidInputError, match=key) as refused:
        parse_devcontainer(json.dumps({"image": "i", key: value}), PLACE)
    assert refused.value.where == PLACE
    assert refused.value.remedy


def test_empty_features_and_the_editors_own_keys_are_no_obstacle() -> None:
    document = {"image": "i", "features": {}, "customizations": {"vscode": {}}, "forwardPorts": [1]}
    assert parse_devcontainer(json.dumps(document), PLACE).source == "i"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"image": 3}',
        '{"image": "i", "containerEnv": ["A"]}',
        '{"image": "i", "containerEnv": {"A": "${localEnv:HOME}"}}',
        '{"image": "i", "postCreateCommand": 3}',
        '{"build": {"dockerfile": "../../Dockerfile"}}',
        '{"build": {"dockerfile": "/etc/passwd"}}',
        '{"build": {"dockerfile": "Dockerfile", "options": ["--network=host"]}}',
        "[" * 100_000,
    ],
)
def test_what_cannot_be_read_or_leads_out_is_the_inputs_fault(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_devcontainer(text, PLACE)
    assert (refused.value.where, bool(refused.value.remedy)) == (PLACE, True)
