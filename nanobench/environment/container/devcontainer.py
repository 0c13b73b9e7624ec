"""What of a devcontainer shapes an environment; the rest is the editor's, or is refused."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import normpath
from shlex import join
from typing import Any

from nanobench.environment.room import FIXED_WORKSPACE
from nanobench.errors import InvalidInputError
from nanobench.model.text import clean

COMMANDS = ("onCreateCommand", "updateContentCommand", "postCreateCommand")
_USED = {
    "image", "build", "dockerFile", "context", "containerEnv", "remoteEnv", "remoteUser",
    "containerUser", *COMMANDS,
}  # fmt: skip
# They concern the editor or how it attaches, and not what commands find.
_IGNORED = {
    "$schema", "name", "customizations", "settings", "extensions", "forwardPorts",
    "portsAttributes", "otherPortsAttributes", "shutdownAction", "waitFor", "hostRequirements",
    "userEnvProbe", "updateRemoteUserUID", "workspaceFolder", "workspaceMount",
    "overrideCommand", "init", "postAttachCommand", "appPort",
}  # fmt: skip
_BUILD_KEYS = {"dockerfile", "context", "args", "target", "cacheFrom"}
_STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_MACHINE_VARIABLES = ("localEnv:", "containerEnv:", "localWorkspaceFolder", "devcontainerId")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
# The base commit stands; only the task file can be changed.
_REMEDY = (
    "take `devcontainer` out of the task's `environment`, and name a Dockerfile of the repository "
    "there, or an image that has what the task needs (--image)"
)


@dataclass(frozen=True)
class Build:
    """An image to be built.

    Args:
        dockerfile: relative to the repository, as all paths here.
        context: the directory whose files the build sees.
        args: values of the Dockerfile's own ARGs.
        target: the stage that is built; null for the last.
    """

    dockerfile: str
    context: str = "."
    args: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None


@dataclass(frozen=True)
class Recipe:
    """How a task's container comes about: an image that is pulled or built, and what goes over it.

    Args:
        source: an image's reference, or how to build one.
        env: variables for every command.
        user: whom the image is made for; empty for the image's own.
        install: commands to be run once, before the task's.
    """

    source: str | Build
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    install: tuple[str, ...] = ()


def parse_devcontainer(text: str, path: str) -> Recipe:
    """Read a `devcontainer.json`, which may have comments and trailing commas.

    Args:
        text: its content.
        path: its place in the repository; the paths in it are relative to its directory.

    Raises:
        InvalidInputError: it is not JSON, or asks for something that is not supported.
    """
    document = _load(text, path)
    _check_keys(document, path)
    env = {
        name: _substituted(_string(value, name, path), path)
        for key in ("containerEnv", "remoteEnv")
        for name, value in _object(document, key, path).items()
        if value is not None
    }
    user = document.get("remoteUser") or document.get("containerUser") or ""
    return Recipe(
        source=_source(document, path),
        env=env,
        user=_string(user, "remoteUser", path),
        install=tuple(
            _substituted(line, path)
            for key in COMMANDS
            for line in _lines(document.get(key), key, path)
        ),
    )


def _load(text: str, path: str) -> dict[str, Any]:
    plain = _STRING_OR_COMMENT.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))
    plain = _STRING_OR_COMMA.sub(lambda found: found[1] or "", plain)
    try:
        document = json.loads(plain)
    except (ValueError, RecursionError) as error:
        raise _refused(f"the devcontainer is not JSON: {error}", path) from None
    if not isinstance(document, dict):
        raise _refused("the devcontainer is not a JSON object", path)
    return document


def _check_keys(document: dict[str, Any], path: str) -> None:
    empty: tuple[Any, ...] = (None, {}, [], "", False)
    unknown = sorted(key for key in set(document) - _USED - _IGNORED if document[key] not in empty)
    unknown += sorted(f"build.{key}" for key in set(_object(document, "build", path)) - _BUILD_KEYS)
    if unknown:
        asked = ", ".join(unknown)
        raise _refused(f"the devcontainer asks for what is not supported: {asked}", path)


def _source(document: dict[str, Any], path: str) -> str | Build:
    build = _object(document, "build", path)
    dockerfile = build.get("dockerfile") or document.get("dockerFile")
    image = document.get("image")
    if dockerfile is None:
        if not image:
            raise _refused("the devcontainer names neither an image nor a Dockerfile", path)
        return _substituted(_string(image, "image", path), path)
    context = build.get("context") or document.get("context") or "."
    args = _object(build, "args", path)
    target = build.get("target")
    return Build(
        dockerfile=_inside(_string(dockerfile, "build.dockerfile", path), path),
        context=_inside(_string(context, "build.context", path), path),
        args={key: _substituted(_string(args[key], key, path), path) for key in sorted(args)},
        target=_string(target, "build.target", path) if target else None,
    )


def _inside(named: str, path: str) -> str:
    """A path of the repository, from one that is relative to the devcontainer."""
    joined = normpath(str(PurePosixPath(path).parent / named))
    if joined.startswith(("/", "..")):
        raise _refused(f"the devcontainer names {named!r}, which is outside", path)
    return joined


def _lines(value: Any, key: str, path: str) -> list[str]:
    """A command as a shell line, an argument list, or an object of either."""
    if value is None or value == "":
        return []
    if _is_text(value):
        return [value]
    if isinstance(value, list) and all(map(_is_text, value)):
        return [join(value)] if value else []
    if isinstance(value, dict) and not any(isinstance(part, dict) for part in value.values()):
        return [line for name in sorted(value) for line in _lines(value[name], key, path)]
    raise _refused(f"{key} of the devcontainer is no command", path)


def _substituted(text: str, path: str) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name == "containerWorkspaceFolder":
            return FIXED_WORKSPACE
        if name == "containerWorkspaceFolderBasename":
            return FIXED_WORKSPACE.strip("/")
        if not name.startswith(_MACHINE_VARIABLES):
            return found[0]  # the shell's own
        raise _refused(
            f"the devcontainer uses {found[0]}, which differs from machine to machine", path
        )

    return _VARIABLE.sub(value, text)


def _object(document: dict[str, Any], key: str, path: str) -> dict[str, Any]:
    value = document.get(key) or {}
    if not isinstance(value, dict):
        raise _refused(f"{key} of the devcontainer is not an object", path)
    return value


def _string(value: Any, key: str, path: str) -> str:
    if not _is_text(value):
        raise _refused(f"{key} of the devcontainer is not a text", path)
    return str(value)


def _is_text(value: Any) -> bool:
    """Whether it can be an argument of a program."""
    return isinstance(value, str) and "\0" not in value and value == clean(value)


def _refused(what: str, path: str) -> InvalidInputError:
    return InvalidInputError(what, where=path, remedy=_REMEDY)
