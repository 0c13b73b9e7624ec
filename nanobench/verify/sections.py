"""Parts of files that configure test runners, in files that also hold what a solution may change.

Dependencies, exports and metadata are the agent's to change. What tells a runner what to run and
how is not, unless the golden patch changes it too: then it is part of the task.

- `package.json`: the scripts that the test commands run, and the runners' keys;
- `pyproject.toml` and `setup.cfg`: pytest's tables;
- `Cargo.toml`: `[[test]]`, `[patch]` and `[replace]`; `go.mod`: `replace`;
- `pom.xml` and Gradle's files: see `java_builds`.
"""

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nanobench.model.text import clean
from nanobench.verify.invoked import Invoked
from nanobench.verify.java_builds import gradle_statements, merge_pom, pom_sections

Values = Mapping[str, Any]
"""Sections by name, with what they say."""

_NO_COMMANDS = Invoked(frozenset(), frozenset(), make=False)
_PACKAGE_KEYS = ("jest", "mocha", "vitest", "ava", "tap", "nyc", "c8")
_DIGITS = 300
_DOTS = 5_000
_TOML_HEADER = re.compile(r"^\s*\[{1,2}\s*(?P<name>[^\[\]\n]+?)\s*\]{1,2}\s*(?:#.*)?$")
_INI_HEADER = re.compile(r"^\[(?P<name>[^\]\n]+)\]")
_GO_REPLACE = re.compile(
    r"^[ \t]*replace(?:[ \t]*\([^)]*\)[^\n]*|[ \t]+[^\n]*)(?:\n|\Z)", re.MULTILINE
)


@dataclass(frozen=True)
class _Kind:
    """How one kind of file is read and put together again.

    `read` raises ValueError for a file that does not parse; its second value is all the rest, by
    which a merge of texts is checked, or null for documents that are not merged as text.
    `merge` takes the agent's text, the base's and the names of the sections to take from the
    base.
    """

    read: Callable[[str, Invoked], tuple[Values, Any]]
    merge: Callable[[str, str, Collection[str]], str]


@dataclass(frozen=True)
class Versions:
    """One file as the agent left it, at the base, and in the golden state; null is no file."""

    agent: bytes
    base: bytes | None
    golden: bytes | None


def restore(path: bytes, versions: Versions, commands: Invoked) -> tuple[bytes, tuple[str, ...]]:
    """The agent's version with the runners' sections as at the base, and which were put back.

    A file that does not parse is left as it is: the runner will refuse it. A file in which the
    sections cannot be told from the rest is taken from the base as a whole; so is one that is
    nested too deep or encoded too oddly for us, which a runner may still read, and one whose base
    does not parse.
    """
    kind = _kind(path)
    if kind is None:
        return versions.agent, ()
    agent, base = _text(versions.agent), _text(versions.base or b"")
    try:
        return _restored(kind, versions, (agent, base), commands)
    except (RecursionError, ValueError, LookupError):
        return versions.base or b"", ("all",)


def _restored(
    kind: _Kind, versions: Versions, texts: tuple[str, str], commands: Invoked
) -> tuple[bytes, tuple[str, ...]]:
    agent, base = texts
    try:
        after, rest = kind.read(agent, commands)
    except ValueError:
        return versions.agent, ()
    before = _sections(kind, base, commands)
    changed = {n for n in {*before, *after} if before.get(n) != after.get(n)}
    if versions.golden is not None:
        golden = _sections(kind, _text(versions.golden), commands)
        changed = {name for name in changed if golden.get(name) == before.get(name)}
    if not changed:
        return versions.agent, ()
    wanted = {**after, **{name: before.get(name) for name in changed}}
    merged = kind.merge(agent, base, changed)
    right = rest is None or _says(kind, merged, (wanted, rest))
    text = merged if right else base
    return text.encode("utf-8", "surrogateescape"), tuple(sorted(map(clean, changed)))


def _says(kind: _Kind, text: str, wanted: tuple[Values, Any]) -> bool:
    """Whether a text that was put together holds these sections and this rest."""
    try:
        found, rest = kind.read(text, _NO_COMMANDS)
    except ValueError:
        return False
    sections, others = wanted
    return rest == others and all(found.get(name) == value for name, value in sections.items())


def has_sections(path: bytes) -> bool:
    """Whether a file of this name may hold such a section."""
    return _kind(path) is not None


def _kind(path: bytes) -> _Kind | None:
    name = path.rpartition(b"/")[2]
    return _GRADLE if name.endswith((b".gradle", b".gradle.kts")) else _KINDS.get(name)


def _text(content: bytes) -> str:
    text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")  # npm drops it, too
    return text.replace("\r\n", "\n")


def _sections(kind: _Kind, text: str, commands: Invoked) -> Values:
    try:
        return kind.read(text, commands)[0]
    except (ValueError, RecursionError):
        return {}


def _read_package(text: str, commands: Invoked) -> tuple[Values, Any]:
    document = _json(text)
    if not isinstance(document, dict):
        raise ValueError("no object")
    scripts = _object(document.get("scripts"))
    used = commands.scripts(scripts) & set(scripts)
    found = {f"scripts.{name}": scripts[name] for name in used}
    found |= {key: document[key] for key in _PACKAGE_KEYS if key in document}
    return found, None  # the document is put together as one, not as text


def _json(text: str) -> Any:
    """As npm reads it: of a number with very many digits, Python would make an error."""
    return json.loads(text or "{}", parse_int=lambda digits: int(digits[:_DIGITS]))


def _object(value: object) -> dict[str, Any]:
    """A JSON object; an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def _merge_package(agent: str, base: str, names: Collection[str]) -> str:
    document, original = _json(agent), _object(_json(base))
    for name in names:
        _, dot, script = name.partition("scripts.")
        source = _object(original.get("scripts")) if dot else original
        if dot:
            document["scripts"] = _object(document.get("scripts"))
        target = document["scripts"] if dot else document
        key = script if dot else name
        target.pop(key, None)
        if key in source:
            target[key] = source[key]
    return json.dumps(document, indent=2) + "\n"


def _toml(*paths: tuple[str, ...]) -> _Kind:
    def read(text: str, _: Invoked) -> tuple[Values, Any]:
        if any(line.count(".") > _DOTS for line in text.split("\n")):
            raise RecursionError("a key of so many parts takes Python's reader very long")
        document = tomllib.loads(text)
        found = {}
        for path in paths:
            inner: Any = document
            for part in path[:-1]:
                inner = inner.get(part) if isinstance(inner, dict) else None
            if isinstance(inner, dict) and path[-1] in inner:
                found[".".join(path)] = inner.pop(path[-1])
        return found, _without_empty(document)

    return _Kind(read, lambda *texts: _merge_blocks(*texts, header=_TOML_HEADER))


def _without_empty(value: Any) -> Any:
    """Tables without empty tables: `[tool.x]` alone makes `tool`."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(item) for key, item in value.items()}
    return {key: item for key, item in inner.items() if item != {}}


def _read_ini(text: str, _: Invoked) -> tuple[Values, Any]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    found = {name: dict(parser[name]) for name in parser.sections()}
    name = "tool:pytest"
    return ({name: found.pop(name)} if name in found else {}), found


def _merge_blocks(agent: str, base: str, names: Collection[str], *, header: re.Pattern[str]) -> str:
    def mine(block: str) -> bool:
        match = header.match(block.partition("\n")[0])
        name = re.sub(r"[\s\"']", "", match["name"]) if match else ""
        return any(name == wanted or name.startswith(f"{wanted}.") for wanted in names)

    kept = [block for block in _blocks(agent, header) if not mine(block)]
    restored = [block for block in _blocks(base, header) if mine(block)]
    return "\n".join([*kept, *restored])


def _blocks(text: str, header: re.Pattern[str]) -> list[str]:
    """The text before the first header, then each header with what is below it."""
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if header.match(line):
            blocks.append([])
        blocks[-1].append(line)
    return ["\n".join(block) for block in blocks]


def _read_go(text: str, _: Invoked) -> tuple[Values, Any]:
    found = tuple(" ".join(match[0].split()) for match in _GO_REPLACE.finditer(text))
    return ({"replace": found} if found else {}), _GO_REPLACE.sub("", text).split()


def _merge_go(agent: str, base: str, _: Collection[str]) -> str:
    restored = "".join(match[0].rstrip("\n") + "\n" for match in _GO_REPLACE.finditer(base))
    return _GO_REPLACE.sub("", agent).rstrip("\n") + "\n" + restored


def _read_gradle(text: str, _: Invoked) -> tuple[Values, Any]:
    found = gradle_statements(text)
    return ({"test": found} if found else {}), None


_GRADLE = _Kind(_read_gradle, lambda _, base, names: base)
_KINDS: Mapping[bytes, _Kind] = {
    b"package.json": _Kind(_read_package, _merge_package),
    b"pyproject.toml": _toml(("tool", "pytest")),
    b"setup.cfg": _Kind(_read_ini, lambda *texts: _merge_blocks(*texts, header=_INI_HEADER)),
    b"Cargo.toml": _toml(("test",), ("patch",), ("replace",)),
    b"go.mod": _Kind(_read_go, _merge_go),
    b"pom.xml": _Kind(lambda text, _: (pom_sections(text), None), merge_pom),
}
