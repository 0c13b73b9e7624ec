"""Provider descriptions, found where Nanocoder's users already keep them."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nanobench.errors import InvalidInputError

CONFIG_FILE = "agents.config.json"
_REFERENCE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)(?::-(.*?))?\}|\$([A-Z_][A-Z0-9_]*)")

Source = tuple[str, list[dict[str, Any]]]


def find_provider(name: str, environ: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """One of Nanocoder's provider objects, with `$VAR` and `${VAR}` substituted.

    Looked for as Nanocoder does (`config/mcp-config-loader.js` of 1.30.0): the variable
    NANOCODER_PROVIDERS, else the file NANOCODER_PROVIDERS_FILE; then `agents.config.json`
    in `cwd`; then the one in the user's configuration directory. The first that names the
    provider wins; names are compared without regard to case.

    Raises:
        InvalidInputError: unknown or ambiguous name, unreadable or malformed configuration,
            or a variable that is not set. Values are never part of a message.
    """
    known: set[str] = set()
    for origin, providers in _sources(environ, cwd):
        matches = [p for p in providers if p["name"].lower() == name.lower()]
        if len({p["name"] for p in matches}) > 1:
            raise InvalidInputError(
                f"provider {name!r} is ambiguous: {', '.join(p['name'] for p in matches)}",
                where=origin,
                remedy="Nanocoder ignores case in provider names; rename one of them",
            )
        if matches:
            where = f"{origin}, provider {name!r}"
            try:
                return {k: _substitute(v, environ, where) for k, v in matches[-1].items()}
            except RecursionError:
                raise InvalidInputError("the JSON is nested too deeply", where=where) from None
        known.update(p["name"] for p in providers)
    advice = f"describe it under nanocoder.providers in {CONFIG_FILE} or in NANOCODER_PROVIDERS"
    raise InvalidInputError(
        f"unknown provider {name!r}",
        where="looked in " + ", ".join(_places(environ, cwd)),
        remedy=f"use one of: {', '.join(sorted(known))}" if known else advice,
    )


def config_directory(environ: Mapping[str, str]) -> Path | None:
    """The user's Nanocoder configuration directory; null without a home directory."""
    chosen = environ.get("NANOCODER_CONFIG_DIR")
    if chosen:
        return Path(chosen)
    home = environ.get("HOME")
    if sys.platform == "darwin":
        return Path(home, "Library", "Preferences", "nanocoder") if home else None
    base = environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else None)
    return Path(base, "nanocoder") if base else None


def _places(environ: Mapping[str, str], cwd: Path) -> list[str]:
    directory = config_directory(environ)
    files = [str(cwd / CONFIG_FILE)] + ([str(directory / CONFIG_FILE)] if directory else [])
    return ["NANOCODER_PROVIDERS", "NANOCODER_PROVIDERS_FILE", *files]


def _sources(environ: Mapping[str, str], cwd: Path) -> Iterator[Source]:
    """In order of precedence and read only when needed, so that a later one may be broken."""
    text = environ.get("NANOCODER_PROVIDERS")
    if text:
        yield "NANOCODER_PROVIDERS", _providers(text, "NANOCODER_PROVIDERS")
    elif named := environ.get("NANOCODER_PROVIDERS_FILE"):
        yield from _read(Path(named))
    yield from _read(cwd / CONFIG_FILE)
    directory = config_directory(environ)
    if directory is not None:
        yield from _read(directory / CONFIG_FILE)


def _read(path: Path) -> list[Source]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInputError(
            f"cannot read the provider configuration: {reason}",
            where=str(path),
            remedy="make it a readable JSON file",
        ) from None
    return [(str(path), _providers(text, str(path)))]


def _providers(text: str, origin: str) -> list[dict[str, Any]]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"malformed JSON: {error.msg}",
            where=f"{origin}, line {error.lineno}, column {error.colno}",
            remedy="correct the provider configuration",
        ) from None
    except RecursionError:
        raise InvalidInputError("the JSON is nested too deeply", where=origin) from None
    except ValueError as error:  # an integer of too many digits
        raise InvalidInputError(f"the JSON cannot be used: {error}", where=origin) from None
    listed = document
    if isinstance(document, dict):
        inner = document.get("nanocoder")
        nested = inner.get("providers") if isinstance(inner, dict) else None
        listed = nested if isinstance(nested, list) else document.get("providers", [])
    if not isinstance(listed, list):
        raise InvalidInputError(
            "providers must be a list", where=origin, remedy="see Nanocoder's documentation"
        )
    for number, provider in enumerate(listed):
        if not isinstance(provider, dict) or not isinstance(provider.get("name"), str):
            raise InvalidInputError(
                f"providers[{number}] is not an object with a name",
                where=origin,
                remedy="give every provider a name, a baseUrl and its models",
            )
    return listed


def _substitute(value: Any, environ: Mapping[str, str], where: str) -> Any:
    if isinstance(value, dict):
        return {key: _substitute(item, environ, where) for key, item in value.items()}
    if isinstance(value, list):
        return [_substitute(item, environ, where) for item in value]
    if not isinstance(value, str):
        return value

    def expand(match: re.Match[str]) -> str:
        variable = match[1] or match[3]
        found = environ.get(variable, match[2])
        if found is None:
            # Nanocoder would go on with an empty string and fail with an obscure 401.
            raise InvalidInputError(
                f"environment variable {variable} is not set",
                where=where,
                remedy=f"export {variable}, or write ${{{variable}:-default}}",
            )
        return found

    return _REFERENCE.sub(expand, value)
