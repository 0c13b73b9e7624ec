import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.nanocoder import (
    AgentRequest,
    agent_environment,
    check_request,
    departures,
    run_nanocoder,
)
from nanobench.environment.sandbox import CommandResult
from nanobench.errors import InvalidInputError, StateError
from nanobench.model.plan import AgentSettings, Limits, ModelRef


def request(
    prompt: str = "Fix it.",
    model: str = "p/m",
    provider: Mapping[str, Any] | None = None,
    settings: AgentSettings | None = None,
) -> AgentRequest:
    reference = ModelRef.parse(model)
    described = {"name": reference.provider, "models": [reference.model], **(provider or {})}
    return AgentRequest(prompt, reference, described, settings or AgentSettings(), Limits())


class Room:
    """Notes what it is asked to run and says that it ran."""

    workspace = "/ws"
    run_path = "/run/nb"

    def __init__(self, **result: Any) -> None:
        self.asked: dict[str, Any] = {}
        self.result = {"exit_code": 0, "timed_out": False, "launched": True, **result}

    def run(self, argv: tuple[str, ...], **asked: Any) -> CommandResult:
        self.asked = {"argv": argv, **asked}
        return CommandResult(duration_seconds=1.0, **self.result)


class Toolchain:
    node = Path("/tools/node/bin/node")

    def nanocoder(self, version: str) -> Path:
        return Path(f"/tools/{version}/cli.js")

    def compile_cache(self, version: str) -> Path:
        return Path(f"/tools/{version}/cache")


def run(run_dir: Path, asked: AgentRequest) -> Room:
    room = Room()
    run_nanocoder(room, asked, Toolchain(), run_dir)  # type: ignore[arg-type]
    return room


def test_the_invocation_is_the_one_of_the_specification(tmp_path: Path) -> None:
    room = run(tmp_path, request("Fix\nit --json.", "p/org/m:1"))
    assert room.asked["argv"] == (
        "/tools/node/bin/node",
        "/tools/1.30.0/cli.js",
        "--provider",
        "p",
        "--model",
        "org/m:1",
        "--mode",
        "yolo",
        "--trust-directory",
        "--plain",
        "--json",
        "run",
        "Fix\nit --json.",
    )
    assert room.asked["stdout"] == tmp_path / "report.json"
    assert room.asked["timeout_seconds"] == 1800


def test_nanocoder_keeps_its_own_files_in_the_run_directory(tmp_path: Path) -> None:
    env = run(tmp_path, request()).asked["env"]
    for name in ("NANOCODER_CONFIG_DIR", "NANOCODER_DATA_DIR"):
        assert (tmp_path / Path(env[name]).relative_to("/run/nb")).is_dir()


def test_limits_reach_the_agent() -> None:
    env = agent_environment(request(), "/run/nb")
    assert env["NANOCODER_MAX_TURNS"] == "200"
    assert env["NANOCODER_CONTEXT_LIMIT"] == "128000"
    assert {"NANOCODER_LOG_LEVEL", "PROVIDER_DOLLAR"}.isdisjoint(env)


def test_the_provider_is_passed_as_configured_with_dollar_signs_kept() -> None:
    asked = request(provider={"apiKey": "a$KEY", "headers": {"X": "${Y}"}})
    env = agent_environment(asked, "/x")
    (passed,) = json.loads(env["NANOCODER_PROVIDERS"])
    assert passed["apiKey"].replace("${PROVIDER_DOLLAR}", env["PROVIDER_DOLLAR"]) == "a$KEY"
    assert passed["models"] == ["m"]


def test_a_provider_without_a_list_of_models_gets_the_one_that_is_run() -> None:
    env = agent_environment(request(provider={"models": []}), "/x")
    assert json.loads(env["NANOCODER_PROVIDERS"])[0]["models"] == ["m"]


def test_defaults_of_nanocoder_write_no_configuration(tmp_path: Path) -> None:
    run(tmp_path, request())
    assert not (tmp_path / "nanocoder/config/agents.config.json").exists()


def test_tune_and_disabled_tools_are_written_and_named(tmp_path: Path) -> None:
    settings = AgentSettings(tune={"toolProfile": "full"}, disabled_tools=("fetch_url",))
    run(tmp_path, request(settings=settings))
    written = json.loads((tmp_path / "nanocoder/config/agents.config.json").read_text())
    assert written == {
        "nanocoder": {"tune": {"toolProfile": "full"}, "disabledTools": ["fetch_url"]}
    }
    assert departures(settings, Limits(max_turns=5)) == (
        "mode yolo",
        "directory trusted",
        "context limit 128000 tokens",
        "turn limit 5",
        'tune toolProfile="full"',
        "tool fetch_url disabled",
        "gateway on",
    )


@pytest.mark.parametrize(
    ("model", "provider", "problem"),
    [
        ("my mock/m", {}, "provider name 'my mock'"),
        ("p/a b", {}, "model name 'a b'"),
        ("run/m", {}, "provider name 'run'"),
        ("p/run", {}, "model name 'run'"),
        ("--json/m", {}, "provider name '--json'"),
        ("p/--acp", {}, "model name '--acp'"),
        ("p/m", {"name": "q"}, "not named 'p'"),
        ("p/m", {"models": ["x", "y"]}, "does not list the model 'm'"),
        ("p/m", {"models": "m"}, "not a list of names"),
        ("p/m", {"sdkProvider": "github-copilot"}, "login stored by Nanocoder"),
    ],
)
def test_what_the_command_line_cannot_name_is_refused(
    model: str, provider: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem) as caught:
        check_request(request(model=model, provider={"apiKey": "sk-secret", **provider}))
    assert "sk-secret" not in str(caught.value)


def test_the_models_that_are_listed_are_shown() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_request(request(provider={"models": ["x", "y"]}))
    assert "x, y" in str(caught.value)


def test_the_case_of_the_provider_s_name_is_free() -> None:
    check_request(request(model="OLLAMA/m", provider={"name": "Ollama"}))


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("a\0b", "NUL"),
        ("\ud83d", "Unicode"),
        ("--json", "option"),
        ("-h", "option"),
        ("--mode=yolo is what I want", "option"),
        ("--output-format=text please", "option"),
        ("é" * 65_536, "131072 bytes"),
    ],
)
def test_a_prompt_that_the_command_line_cannot_carry_is_refused(prompt: str, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        check_request(request(prompt))


@pytest.mark.parametrize("prompt", ["run", "--json breaks the report", "x" * 131_071])
def test_a_prompt_that_only_looks_odd_is_taken(prompt: str) -> None:
    check_request(request(prompt))


def test_a_provider_too_long_for_one_variable_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="too long"):
        agent_environment(request(provider={"models": ["m", *("x" * 99 for _ in range(2000))]}), "")


def test_a_disk_that_others_filled_is_no_end_of_the_agent(tmp_path: Path) -> None:
    room = Room(exit_code=-9, disk_full=True)
    with pytest.raises(StateError, match="the disk is full"):
        run_nanocoder(room, request(), Toolchain(), tmp_path)  # type: ignore[arg-type]
