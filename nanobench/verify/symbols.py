"""Facts about the symbols of symptoms: where they existed, who added them (SPEC F3).

Names are compared as whole identifiers, wherever they stand: alone, as a member, in an import.
Modules are named by files as well. "Added" lines are those of the new content that the base file
does not have, so that moved code is not new.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from nanobench.model.signals import Symptom
from nanobench.scoring.identifiers import names_path, normalised, occurs
from nanobench.scoring.symptoms import RawSymptom
from nanobench.verify.definitions import defines
from nanobench.workspace.changes import Change
from nanobench.workspace.paths import display
from nanobench.workspace.snapshot import Snapshot

_TEXT_LIMIT = 4 * 1024 * 1024  # bytes of one file that are looked at
_LINE_LIMIT = 2000  # characters of a line; longer ones are generated
_BATCH = 200  # blobs in memory at a time
_REGULAR = 0o100000
_KIND = 0o170000


@dataclass(frozen=True)
class SymbolContext:
    """What is looked through: the base, the golden patch and the agent's changes."""

    snapshot: Snapshot
    required_files: tuple[str, ...]
    golden: Sequence[Change]
    agent: Sequence[Change]


def complete(raw: Sequence[RawSymptom], context: SymbolContext) -> tuple[Symptom, ...]:
    """Look up the symbols of symptoms, keeping their order; without a symbol nothing is said."""
    names = frozenset(symptom.symbol for symptom in raw if symptom.symbol)
    if not names:
        return tuple(_symptom(symptom, {}) for symptom in raw)
    required = {path.encode() for path in context.required_files}
    in_required = _found(context.snapshot, required & set(context.snapshot.entries), names)
    others = set(context.snapshot.entries) - required
    in_repository = in_required | _found(context.snapshot, others, names - in_required)
    golden = _added_lines(context.golden, context.snapshot)
    agent = _added_lines(context.agent, context.snapshot)
    base = {display(path) for path in context.snapshot.entries}
    facts = {
        name: {
            "in_required_files_at_base": name in in_required,
            "in_repository_at_base": name in in_repository,
            "in_golden_patch": bool(built) or _mentions(golden, name),
            "in_agent_lines": _mentions(agent, name),
            "golden_defines_in": built,
            "agent_defines_in": _defining(agent, agent.keys() - base, name),
        }
        for name in names
        for built in (_defining(golden, golden.keys() - base, name),)
    }
    return tuple(_symptom(symptom, facts.get(symptom.symbol or "", {})) for symptom in raw)


def _symptom(raw: RawSymptom, facts: Mapping[str, object]) -> Symptom:
    return Symptom.model_validate(
        {
            "kind": raw.kind,
            "language": raw.language,
            "code": raw.code,
            "symbol": raw.symbol,
            "suite": raw.suite,
            "test_ids": raw.test_ids,
            "message": raw.message,
            **facts,
        }
    )


def _found(snapshot: Snapshot, paths: Collection[bytes], names: Collection[str]) -> set[str]:
    """Which of the names stand in these files or in their paths at the base."""
    missing = set(names)
    for path in paths:
        if not missing:
            break
        missing -= _named_by(path, missing)
    files = (p for p in sorted(paths) if snapshot.entries[p].mode & _KIND == _REGULAR)
    while missing and (batch := list(islice(files, _BATCH))):
        for content in snapshot.blobs(batch).values():
            missing -= _names_in(content, missing)
    return set(names) - missing


def _named_by(path: bytes, names: Iterable[str]) -> set[str]:
    text = path.decode("utf-8", "replace")
    return {name for name in names if names_path(name, text)}


def _names_in(content: bytes, names: Iterable[str]) -> set[str]:
    ascii_only = content.isascii()
    likely = {
        name for name in names if (name.encode() in content if name.isascii() else not ascii_only)
    }
    if not likely or b"\0" in content[:8000]:
        return set()
    text = content[:_TEXT_LIMIT].decode("utf-8", "replace")
    if not all(name.isascii() for name in likely):
        text = normalised(text)
    return {name for name in likely if occurs(name, text)}


def _added_lines(changes: Sequence[Change], snapshot: Snapshot) -> dict[str, list[str]]:
    """The lines that changes add, by displayed path; links and binary files add none."""
    texts = {
        change.path: change.content
        for change in changes
        if change.content is not None
        and change.mode is not None
        and change.mode & _KIND == _REGULAR
        and b"\0" not in change.content[:8000]
    }
    base = snapshot.blobs(path for path in texts if path in snapshot.entries)
    return {
        display(path): list(_new_lines(base.get(path, b""), content))
        for path, content in sorted(texts.items())
    }


def _new_lines(before: bytes, after: bytes) -> Iterator[str]:
    known = Counter(_lines(before))
    for line in _lines(after):
        if known[line] > 0:
            known[line] -= 1
        else:
            yield line


def _lines(content: bytes) -> list[str]:
    text = content[:_TEXT_LIMIT].decode("utf-8", "replace")
    return [line[:_LINE_LIMIT] for line in text.splitlines()]


def _mentions(added: Mapping[str, list[str]], name: str) -> bool:
    return any(occurs(name, line) for lines in added.values() for line in lines)


def _defining(added: Mapping[str, list[str]], new: Collection[str], name: str) -> tuple[str, ...]:
    """The files that bind the name in an added line, and the new files that it is the module of."""
    return tuple(
        path
        for path, lines in added.items()
        if defines(path, lines, name) or (path in new and names_path(name, path))
    )
