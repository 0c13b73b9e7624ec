"""The pinned contract of Nanocoder's report (SPEC H5): strict, one schema per version.

`AgentReport` reads leniently so that no run is lost; the contract notices drift.
"""

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanobench.errors import InvalidInputError

if TYPE_CHECKING:
    from jsonschema import ValidationError

_SUFFIX = ".schema.json"
_PACKAGED = Path(__file__).parent / "contracts"
_CHECKOUT = Path(__file__).parents[2] / "schemas" / "nanocoder"
_MAX_SHOWN = 80


def known_versions() -> tuple[str, ...]:
    """The versions that have a contract, oldest first."""
    names = (path.name.removesuffix(_SUFFIX) for path in _directory().glob(f"*{_SUFFIX}"))
    return tuple(sorted(names, key=_version_key))


@functools.cache
def contract_schema(version: str) -> dict[str, Any]:
    """The JSON Schema of the report of one Nanocoder version.

    Raises:
        InvalidInputError: that version has no contract.
    """
    if version not in known_versions():
        raise InvalidInputError(
            f"no report contract for Nanocoder {version}",
            where=str(_directory()),
            remedy=f"use one of: {', '.join(known_versions())}",
        )
    schema: dict[str, Any] = json.loads((_directory() / f"{version}{_SUFFIX}").read_text())
    return schema


def check_report(document: Any, version: str) -> list[str]:
    """What a report does against its contract: `field: what`, sorted, empty if nothing.

    A field is written as in `toolCalls[2].arguments`; the report itself is `report`.

    Raises:
        InvalidInputError: that version has no contract.
    """
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(contract_schema(version)).iter_errors(document)
    return sorted({line for error in errors for line in _problems(error)})


def _directory() -> Path:
    """In an installed wheel beside this module; in a checkout the source of truth."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def _problems(error: "ValidationError") -> Iterable[str]:
    """One line per field: jsonschema names the object where a key is missing or unknown."""
    path = list(error.absolute_path)
    rule: Any = error.validator_value
    if error.validator == "required":
        missing = next(key for key in rule if error.message.startswith(repr(key)))
        yield f"{_field([*path, missing])}: missing"
    elif error.validator == "additionalProperties":
        schema: Any = error.schema
        instance: Any = error.instance
        for key in sorted(set(instance) - set(schema["properties"])):
            yield f"{_field([*path, key])}: not in the contract"
    elif error.validator == "not":
        yield f"{_field(path)}: does not belong to a report of this kind"
    else:
        yield f"{_field(path)}: {_shorten(error)}"


def _shorten(error: "ValidationError") -> str:
    value = json.dumps(error.instance, default=str)
    shown = value if len(value) <= _MAX_SHOWN else value[:_MAX_SHOWN] + "..."
    return f"{shown} breaks {error.validator} {json.dumps(error.validator_value)}"


def _field(path: list[str | int]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(parts).lstrip(".") or "report"


def _version_key(version: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(p), "") if p.isdigit() else (-1, p) for p in version.split("."))
