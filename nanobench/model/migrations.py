"""Records of older versions, read as the present one.

A record names its schema's version, `major.minor`. Whatever changes the shape of a record raises
it and adds a step here; records on disk are never rewritten. Steps are pure functions on plain
data that say what is known and nothing more: what an older version did not note becomes null,
or the value that was true of every run it made. A record of a version that is not here is
refused by name, since nobody can know what its fields mean.

| version | what changed |
|---|---|
| 1.0 | the first; also everything that development versions wrote under this number |
| 1.1 | outputs are counted in lines, which is null where only bytes had been counted; the gateway |
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from nanobench.model.record import RECORD_SCHEMA_VERSION

Step = Callable[[dict[str, Any]], dict[str, Any]]

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


class UnreadableRecordError(ValueError):
    """A document is no record that can be read; its text says why."""


class NewerRecordError(UnreadableRecordError):
    """A record was written by a newer version of NanoBench."""


def upgrade(document: Any) -> Any:
    """The document of a record as the present version would have it; the input is left as it is.

    Only the version is judged here. What else is wrong with the document is left for validation.

    Raises:
        NewerRecordError: a newer version wrote it.
        UnreadableRecordError: it names no version, or one that never was.
    """
    if not isinstance(document, dict):
        raise UnreadableRecordError("is no record: not a JSON object")
    version = _version(document)
    while version != RECORD_SCHEMA_VERSION:
        version, step = STEPS[version]
        document = {**step(document), "schema_version": version}
    return document


def _version(document: dict[str, Any]) -> str:
    version = document.get("schema_version")
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        raise UnreadableRecordError("names no schema version (`schema_version`)")
    if version == RECORD_SCHEMA_VERSION or version in STEPS:
        return match[0]
    if _order(match[0]) > _order(RECORD_SCHEMA_VERSION):
        raise NewerRecordError(
            f"has the record schema {version}, and this NanoBench reads up to "
            f"{RECORD_SCHEMA_VERSION}: read it with the version that wrote it, or a newer one"
        )
    raise UnreadableRecordError(f"has the record schema {version}, which never was")


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _from_1_0(record: dict[str, Any]) -> dict[str, Any]:
    """Bytes become unknown lines; a run from before the gateway had none."""

    def counted(command: dict[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in command.items() if name != "output_bytes"}
        return {"output_lines": None, **kept}

    def commands(completion: dict[str, Any]) -> dict[str, Any]:
        ran = completion.get("commands_run")
        if not isinstance(ran, list):
            return completion
        return {**completion, "commands_run": [_on(one, counted) for one in ran]}

    def settings(provenance: dict[str, Any]) -> dict[str, Any]:
        return _inside(provenance, "settings", lambda found: {"gateway": "off", **found})

    return _inside(_inside(record, "completion", commands), "provenance", settings)


def _inside(document: dict[str, Any], name: str, change: Step) -> dict[str, Any]:
    """The document with one of its objects changed; absent, it stays so."""
    return {**document, name: _on(document[name], change)} if name in document else document


def _on(value: Any, change: Step) -> Any:
    return change(value) if isinstance(value, dict) else value


STEPS: Mapping[str, tuple[str, Step]] = MappingProxyType({"1.0": ("1.1", _from_1_0)})
"""Version to the next one and the way there."""
