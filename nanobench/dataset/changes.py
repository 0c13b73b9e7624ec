"""What a merged change did to each file, and what kind of file each is."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal

from nanobench.dataset.clone import Clone
from nanobench.dataset.languages import language_of
from nanobench.verify.protection import looks_like_test
from nanobench.workspace.paths import display

Status = Literal["added", "modified", "deleted", "renamed", "type"]
Kind = Literal[
    "source", "test", "generated", "lock", "vendored", "docs", "binary", "submodule", "other"
]

_STATUS: dict[str, Status] = {"A": "added", "M": "modified", "D": "deleted", "T": "type"}
_SUBMODULE = 0o160000
# Fixed, since git's own limits and defaults have changed over time.
_DIFF = ("diff-tree", "-r", "-z", "--raw", "--numstat", "-M50%", "-l1000", "--no-ext-diff")

_LOCK = re.compile(
    r"(^|/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb?|go\.sum"
    r"|go\.work\.sum|gradle\.lockfile|Package\.resolved|[^/]+\.lock)$"
)
_VENDORED = re.compile(
    r"(^|/)(_?vendor(ed)?|third[_-]?party|node_modules|bower_components|\.yarn)/", re.I
)
_GENERATED = re.compile(
    r"(^|/)(__generated__|generated|dist)/|(^|/)zz_generated[._]"
    r"|(_pb2(_grpc)?\.pyi?|\.pb(\.gw)?\.go|[._](generated|gen)\.[a-z]+|\.g\.dart"
    r"|\.min\.(js|css)|\.map)$"
)
_MARKED = re.compile(
    rb"@generated\b|code generated\b.{0,200}\bdo not edit|auto(matically|-)? ?generated"
    rb".{0,200}\bdo not (edit|modify)|\bthis file (is|was) (auto(matically|-)? ?)?generated",
    re.I | re.S,
)
_HEADER_BYTES = 1024
_DOCS = re.compile(
    r"(^|/)docs?/|\.(md|mdx|rst|adoc|txt)$|(^|/)(LICEN[CS]E|NOTICE|CHANGELOG|README|AUTHORS)[^/]*$"
)
_BUILD = re.compile(r"\.gradle\.kts$")  # as `build.gradle`, whose language is not known here
# What `looks_like_test`, which knows runners of Python, JavaScript and Go, does not name.
_MORE_TESTS = re.compile(
    r"(^|/)src/(test|testFixtures|integrationTest|androidTest)/"
    r"|(^|/)(testdata|test-data|fixtures?|__mocks__|__fixtures__)/"
    r"|(^|/)([^/]*(Test|Tests|TestCase|IT|Spec)\.(java|kt|scala|groovy|cs|php|swift)"
    r"|[^/]*_(test|tests|unittest)\.(rs|c|cc|cpp|cxx|dart|rb|exs)|tests?\.(rs|py)"
    r"|test_[^/]*\.(c|cc|cpp|cxx)|[^/]*_spec\.rb|[^/]*\.(snap|ambr))$"
)


@dataclass(frozen=True)
class PathRules:
    """Patterns that overrule the habits below: `*` and `?` as in file names, `*` also over `/`."""

    test: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()

    def kind(self, path: str) -> Kind | None:
        """The kind that a pattern gives this path; null if none matches."""
        kinds: tuple[Kind, ...] = ("test", "source", "generated")
        for kind in kinds:
            if any(fnmatchcase(path, pattern) for pattern in getattr(self, kind)):
                return kind
        return None


@dataclass(frozen=True)
class ChangedFile:
    """One file of a change.

    Args:
        path: after the change; of a deleted file, before it.
        old_path: before a rename.
        blob: SHA-1 after the change, of a deleted file before it.
        added: lines; 0 of a binary file.
        removed: likewise.
    """

    path: bytes
    old_path: bytes | None
    status: Status
    kind: Kind
    blob: str = field(repr=False)
    added: int
    removed: int

    @property
    def name(self) -> str:
        """The path as documents write it."""
        return display(self.path)

    @property
    def readable(self) -> str:
        """The path for patterns to look at, whatever its bytes."""
        return _readable(self.path)

    @property
    def language(self) -> str | None:
        """The language by its name."""
        return language_of(self.readable)

    @property
    def base_name(self) -> str:
        """The path before the change, as documents write it."""
        return display(self.path if self.old_path is None else self.old_path)

    @property
    def is_named(self) -> bool:
        """Whether a task file can name the paths, which have to be UTF-8."""
        return all(_is_text(path) for path in (self.path, self.old_path or b""))


def changed_files(
    clone: Clone, base: str, merge: str, rules: PathRules | None = None
) -> tuple[ChangedFile, ...]:
    """What differs between two commits, by path. A file is renamed if half of it is the same.

    Raises:
        RepositoryError: the clone lacks a commit or its tree.
    """
    fields = iter(clone.git(*_DIFF, base, merge).split(b"\0")[:-1])
    entries, lines = [], {}
    for head in fields:
        if head.startswith(b":"):
            entries.append((head.removeprefix(b":").decode().split(), *_paths(head, fields)))
        else:
            added, removed, path = head.split(b"\t", 2)
            if not path:  # a rename: old and new path follow
                next(fields)
                path = next(fields)
            lines[path] = (added, removed)
    found = []
    for (before, after, old_sha, sha, letter), old, path in entries:
        added, removed = lines.get(path, (b"0", b"0"))
        binary = added == b"-"
        modules = _SUBMODULE in (int(before, 8), int(after, 8))
        found.append(
            ChangedFile(
                path=path,
                old_path=old,
                status="renamed" if old is not None else _STATUS[letter[0]],
                kind="submodule" if modules else _kind(_readable(path), rules, binary),
                blob=sha if letter[0] != "D" else old_sha,
                added=0 if binary else int(added),
                removed=0 if binary else int(removed),
            )
        )
    return tuple(sorted(_marked(clone, found, rules), key=lambda file: file.path))


def _readable(path: bytes) -> str:
    return path.decode(errors="replace")


def _is_text(path: bytes) -> bool:
    return path.decode(errors="ignore").encode() == path


def _paths(head: bytes, fields: Iterable[bytes]) -> tuple[bytes | None, bytes]:
    rest = iter(fields)
    first = next(rest)
    return (first, next(rest)) if head.split()[-1][:1] in (b"R", b"C") else (None, first)


def path_kind(path: str, rules: PathRules | None = None) -> Kind:
    """The kind of a file by its path alone; the first that holds."""
    given = rules.kind(path) if rules else None
    if given:
        return given
    patterns: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("vendored", _VENDORED),
        ("lock", _LOCK),
        ("generated", _GENERATED),
        ("test", _MORE_TESTS),
    )
    for kind, pattern in patterns:
        if pattern.search(path):
            return kind
    if looks_like_test(path):
        return "test"
    if _DOCS.search(path):
        return "docs"
    return "source" if language_of(path) and not _BUILD.search(path) else "other"


def _kind(path: str, rules: PathRules | None, binary: bool) -> Kind:
    kind = path_kind(path, rules)
    # A picture that a test compares with is needed to run it.
    return "binary" if binary and kind in ("source", "docs", "other") else kind


def _marked(
    clone: Clone, files: list[ChangedFile], rules: PathRules | None
) -> Iterable[ChangedFile]:
    """The files; sources whose first lines say that a tool wrote them become `generated`."""
    asked = [file for file in files if file.kind == "source"]
    heads = {file.path: content[:_HEADER_BYTES] for file, content in _contents(clone, asked)}
    for file in files:
        written = file.path in heads and _MARKED.search(heads[file.path])
        if written and not (rules and rules.kind(file.readable)):
            yield replace(file, kind="generated")
        else:
            yield file


def _contents(clone: Clone, files: list[ChangedFile]) -> Iterable[tuple[ChangedFile, bytes]]:
    return zip(files, clone.blobs([file.blob for file in files]), strict=True)
