"""A typical mistake of an agent in Go, Rust and Java, as a transformation of source files.

Signatures are found by their look; one that looks otherwise stays as it is.
"""

import re

from nanobench.agent.scripted.sources import GO, JAVA, RUST

_GO_FUNCTION = re.compile(
    rb"^func\s+(?:\([^)\n]*\)\s*)?(?!(?:init|main)\b)\w+(?:\[[^\]\n]*\])?\(", re.MULTILINE
)
_RUST_FUNCTION = re.compile(
    rb"^[ \t]*pub(?:\([^)\n]*\))?\s+(?:async\s+|const\s+|unsafe\s+)*fn\s+\w+(?:<[^>\n]*>)?\("
    rb"(?P<self>\s*(?:&(?:'\w+\s+)?)?(?:mut\s+)?self\b\s*(?P<comma>,)?)?",
    re.MULTILINE,
)
_JAVA_METHOD = re.compile(
    rb"^[ \t]*(?:public|protected)\s+(?:(?:static|final|synchronized)\s+)*"
    rb"[\w<>\[\],.? ]*\b(?P<name>\w+)\((?P<empty>\s*\))?",
    re.MULTILINE,
)


def with_another_parameter(family: str, source: bytes) -> bytes | None:
    """A source file whose functions all take one parameter more than anyone gives them.

    None in another language, or if no function is found.
    """
    if family == GO:
        changed, count = _GO_FUNCTION.subn(rb"\g<0>layer int, ", source)
    elif family == RUST:
        changed, count = _RUST_FUNCTION.subn(_rust, source)
    elif family == JAVA:
        changed, count = _JAVA_METHOD.subn(_java, source)
    else:
        return None
    return changed if count else None


def _rust(found: re.Match[bytes]) -> bytes:
    comma = b", " if found["self"] and not found["comma"] else b""
    return found[0] + comma + b"_layer: i32, "


def _java(found: re.Match[bytes]) -> bytes:
    if found["empty"]:
        return found[0].rpartition(b"(")[0] + b"(int layer)"
    return found[0] + b"int layer, "
