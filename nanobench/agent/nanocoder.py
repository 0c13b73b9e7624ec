"""Running the real Nanocoder on a workspace (SPEC X2, X4)."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanobench.agent.way_out import forwarded
from nanobench.errors import InvalidInputError, StateError
from nanobench.files import make_directory, write_atomic
from nanobench.model.plan import AgentSettings, Limits, ModelRef
from nanobench.model.resources import AgentNetwork

if TYPE_CHECKING:
    from nanobench.environment.room import Room
    from nanobench.environment.toolchain import Toolchain

_DEFAULT_MAX_TURNS = 200  # config/index.js
_MAX_ARGUMENT_BYTES = 128 * 1024 - 1  # Linux: MAX_ARG_STRLEN, without the final NUL
_PROVIDER_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_MODEL_NAME = re.compile(r"[a-zA-Z0-9_/.:-]+")
_SWALLOWED_PREFIXES = ("--mode=", "--output-format=")
_STORED_LOGIN = ("github-copilot", "chatgpt-codex")
_DOLLAR = "PROVIDER_DOLLAR"
_CONFIG, _DATA = "nanocoder/config", "nanocoder/data"


@dataclass(frozen=True)
class AgentRequest:
    """What one run asks of the agent.

    Attributes:
        prompt: the whole prompt (`build_prompt`).
        model: provider and model as the plan names them.
        provider: Nanocoder's provider object, variables substituted (`find_provider`).
        settings: version, tune and disabled tools.
        limits: seconds, turns and context tokens.
        network: `provider-only`: the gateway's socket in the run directory is the only way out.
    """

    prompt: str
    model: ModelRef
    provider: dict[str, Any]
    settings: AgentSettings
    limits: Limits
    network: AgentNetwork = "host"


@dataclass(frozen=True)
class AgentRun:
    """A finished run of the agent.

    Attributes:
        exit_code: negative or null when a signal ended it.
        timed_out: ended by `limits.agent_seconds`.
        duration_seconds: wall-clock.
        report_path: its stdout, a regular file.
        stderr_path: its stderr.
        launched: false when the process could not be started.
        workspace: the workspace's path as the agent saw it.
    """

    exit_code: int | None
    timed_out: bool
    duration_seconds: float
    report_path: Path
    stderr_path: Path
    launched: bool
    workspace: str


def check_request(request: AgentRequest) -> None:
    """Refuse what Nanocoder would refuse or misread, before anything is started.

    Raises:
        InvalidInputError: a name that the command line cannot carry, a model that the
            provider does not list, or a prompt that cannot be given.
    """
    check_model(request.model, request.provider)
    _check_prompt(request.prompt)


def check_model(model: ModelRef, provider: dict[str, Any]) -> None:
    """Refuse a model that Nanocoder could not be asked for with this provider object.

    Raises:
        InvalidInputError: a name that the command line cannot carry, a model that the provider
            does not list, or a provider whose login only Nanocoder itself has.
    """
    where = f"model {model}"
    for kind, name, pattern, allowed in (
        ("provider", model.provider, _PROVIDER_NAME, "letters, digits, - and _"),
        ("model", model.model, _MODEL_NAME, "letters, digits and _ / . : -"),
    ):
        if not pattern.fullmatch(name):
            raise InvalidInputError(
                f"Nanocoder cannot take the {kind} name {name!r}",
                where=where,
                remedy=f"use a name of {allowed} only",
            )
        if name == "run" or name.startswith("-"):
            raise InvalidInputError(
                f"Nanocoder would read the {kind} name {name!r} as part of its command line",
                where=where,
                remedy=f"give the {kind} another name",
            )
    if str(provider.get("name", "")).lower() != model.provider.lower():
        raise InvalidInputError(f"the provider is not named {model.provider!r}", where=where)
    models = provider.get("models") or []
    if not isinstance(models, list) or not all(isinstance(known, str) for known in models):
        raise InvalidInputError("the provider's models are not a list of names", where=where)
    if models and model.model not in models:
        raise InvalidInputError(
            f"provider {model.provider!r} does not list the model {model.model!r}",
            where=where,
            remedy=f"add it to the provider's models, or use one of: {', '.join(models)}",
        )
    if provider.get("sdkProvider") in _STORED_LOGIN:
        raise InvalidInputError(
            f"provider {model.provider!r} needs a login stored by Nanocoder",
            where=where,
            remedy="use a provider with a baseUrl and an API key",
        )


def departures(settings: AgentSettings, limits: Limits) -> tuple[str, ...]:
    """Every departure from Nanocoder's defaults for `run`, one phrase each (SPEC X2)."""
    found = ["mode yolo", "directory trusted", f"context limit {limits.context_tokens} tokens"]
    if limits.max_turns != _DEFAULT_MAX_TURNS:
        found.append(f"turn limit {limits.max_turns}")
    found += [f"tune {key}={json.dumps(value)}" for key, value in sorted(settings.tune.items())]
    found += [f"tool {name} disabled" for name in sorted(settings.disabled_tools)]
    found.append(f"gateway {settings.gateway}")
    return tuple(found)


def run_nanocoder(
    room: "Room", request: AgentRequest, toolchain: "Toolchain", run_dir: Path
) -> AgentRun:
    """Run the agent to its end or to its time limit.

    stdout goes to a regular file, since Nanocoder exits without draining a pipe and a report
    would be cut at 64 KiB. All that it writes for itself stays in `run_dir`.

    Raises:
        InvalidInputError: see `check_request`.
        StateError: the run directory cannot be written, or the disk was filled by others.
        EnvironmentSetupError: Nanocoder cannot be installed.
    """
    check_request(request)
    cli = toolchain.nanocoder(request.settings.nanocoder)
    make_directory(run_dir / _DATA)
    _write_settings(make_directory(run_dir / _CONFIG), request.settings)
    report, stderr = run_dir / "report.json", run_dir / "stderr.txt"
    argv: tuple[str, ...] = (str(toolchain.node), str(cli), *_arguments(request))
    apart = request.network == "provider-only"
    result = room.run(
        forwarded(toolchain.node, room.run_path, argv) if apart else argv,
        env={
            **agent_environment(request, room.run_path),
            "NODE_COMPILE_CACHE": str(toolchain.compile_cache(request.settings.nanocoder)),
        },
        timeout_seconds=request.limits.agent_seconds,
        stdout=report,
        stderr=stderr,
        network="none" if apart else "host",
    )
    if result.disk_full:
        raise StateError(
            "the disk is full, and what the agent wrote is little of it",
            where=str(run_dir),
            remedy="free some space; repeat the command to resume",
        )
    return AgentRun(
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        duration_seconds=result.duration_seconds,
        report_path=report,
        stderr_path=stderr,
        launched=result.launched,
        workspace=room.workspace,
    )


def agent_environment(request: AgentRequest, run_path: str) -> dict[str, str]:
    """The variables that make Nanocoder use this provider and keep its state in `run_path`.

    NANOCODER_PROVIDERS beats every configuration file, the task repository's own included.
    Nanocoder substitutes variables in it once more: a dollar sign is therefore passed as a
    variable that holds one.
    """
    provider = dict(request.provider)
    provider["models"] = provider.get("models") or [request.model.model]
    plain = json.dumps([provider], sort_keys=True)  # the agent can see it: in one order always
    providers = plain.replace("$", f"${{{_DOLLAR}}}")
    if len(providers) > _MAX_ARGUMENT_BYTES - len("NANOCODER_PROVIDERS="):
        raise InvalidInputError(
            "the provider's description is too long to be passed to Nanocoder",
            where=f"provider {request.model.provider!r}",
            remedy="list fewer models in it",
        )
    return {
        "NANOCODER_PROVIDERS": providers,
        **({_DOLLAR: "$"} if providers != plain else {}),
        "NANOCODER_MAX_TURNS": str(request.limits.max_turns),
        "NANOCODER_CONTEXT_LIMIT": str(request.limits.context_tokens),
        "NANOCODER_CONFIG_DIR": f"{run_path}/{_CONFIG}",
        "NANOCODER_DATA_DIR": f"{run_path}/{_DATA}",
    }


def _arguments(request: AgentRequest) -> tuple[str, ...]:
    model = request.model
    return (
        *("--provider", model.provider, "--model", model.model, "--mode", "yolo"),
        *("--trust-directory", "--plain", "--json", "run", request.prompt),
    )


def _write_settings(config: Path, settings: AgentSettings) -> None:
    """Only what departs from the defaults is written; without that Nanocoder's own stay."""
    chosen: dict[str, Any] = {}
    if settings.tune:
        chosen["tune"] = settings.tune
    if settings.disabled_tools:
        chosen["disabledTools"] = list(settings.disabled_tools)
    if chosen:
        write_atomic(config / "agents.config.json", json.dumps({"nanocoder": chosen}, indent=2))


def _check_prompt(prompt: str) -> None:
    remedy = "change the task's problem statement"
    if not prompt.strip():
        raise InvalidInputError("the prompt is empty", remedy=remedy)
    try:
        length = len(prompt.encode())
    except UnicodeEncodeError:
        raise InvalidInputError("the prompt is not valid Unicode text", remedy=remedy) from None
    if "\0" in prompt:
        raise InvalidInputError("the prompt holds a NUL character", remedy=remedy)
    if length > _MAX_ARGUMENT_BYTES:
        raise InvalidInputError(
            f"the prompt has {length} bytes; a command line carries {_MAX_ARGUMENT_BYTES}",
            remedy="shorten the problem statement, or select a part of its source",
        )
    one_word = len(prompt.split()) == 1
    if (one_word and prompt.startswith("-")) or prompt.startswith(_SWALLOWED_PREFIXES):
        raise InvalidInputError(
            f"Nanocoder would read the prompt {prompt[:40]!r} as an option", remedy=remedy
        )
