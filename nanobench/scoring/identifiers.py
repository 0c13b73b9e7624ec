"""Names in source text and in messages: Unicode identifiers, and what imports are called.

Identifiers may hold what `\\w` of a pattern does not know (combining marks, joiners), and Python
and Rust compare them normalised.
"""

import unicodedata
from collections.abc import Iterator
from pathlib import PurePosixPath

_JOINERS = "\u200c\u200d"  # part of identifiers in JavaScript
_SOURCE_SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json", ".vue")


def identifiers(text: str) -> Iterator[str]:
    """The identifiers of a text, in order; `$` is part of one."""
    start = None
    for at, char in enumerate(text):
        if start is None:
            start = at if char == "$" or char.isidentifier() else None
        elif not _continues(char):
            yield text[start:at]
            start = None
    if start is not None:
        yield text[start:]


def occurs(name: str, text: str) -> bool:
    """Whether a name stands in a text as a whole: it is no part of a longer identifier.

    The name may be an import (`a/b`, `a.b`, `a-b`). Both are compared in Unicode's form NFKC.
    """
    if not name.isascii():
        name, text = normalised(name), normalised(text)
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        apart = not (at > 0 and _continues(text[at - 1])) or not _continues(name[0])
        if apart and not (end < len(text) and _continues(text[end]) and _continues(name[-1])):
            return True
        at = text.find(name, at + 1)
    return False


def normalised(text: str) -> str:
    """The text in Unicode's form NFKC."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def imported(module: str) -> str:
    """What an import is looked up as: a file by its stem, a package or module by its whole name.

    A package is imported by the same words everywhere, so the whole is more telling than its
    last part; a relative or absolute path depends on where it stands.
    """
    if not module.startswith((".", "/")):
        return module
    name = PurePosixPath(module).name
    for suffix in _SOURCE_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.strip(".") or module


def names_path(name: str, path: str) -> bool:
    """Whether a file's path gives the module its name.

    `a/b.py` names `a` and `b`; `src/com/acme/X.java` the package `com.acme`; `internal/x/y.go`
    the import `example.com/m/internal/x`.
    """
    pure = PurePosixPath(path)
    if any(name in (part, part.partition(".")[0]) for part in pure.parts):
        return True
    directory = "/".join(pure.parts[:-1])
    if "/" in name:
        return bool(directory) and f"/{name}".endswith(f"/{directory}")
    return "." in name and f"/{directory}/".find(f"/{name.replace('.', '/')}/") >= 0


def _continues(char: str) -> bool:
    return char == "$" or char in _JOINERS or f"_{char}".isidentifier()
