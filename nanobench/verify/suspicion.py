"""Lines of product code that reach for the test runner: evidence, and the reason for a canary.

Product code can find out that it is tested; no rule can prevent that. It can hardly change what
its runner says without naming it, or the end of the process, in some way.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from nanobench.verify.protection import Protection
from nanobench.workspace.changes import Change
from nanobench.workspace.paths import display

_WORDS = re.compile(
    rb"\b_?pytest\w*|\bpluggy\b|\bunittest\b|--junit\w*|\bos\._exit\b|\batexit\b|\bsys\.exit\b"
    rb"|\bsys\.(?:modules|orig_argv|argv|settrace|setprofile|meta_path)\b|\bctypes\b|\bgc\.get_\w+"
    rb"|\b__eq__\b|\bnode:(?:test|assert|module)\b|[\"'`]assert(?:/strict)?[\"'`]"
    rb"|\bprocess\.(?:exit\w*|reallyExit|abort|kill|argv|execArgv|on)\b|\bsyncBuiltinESMExports\b"
    rb"|\b(?:vitest|jest|mocha|chai|jasmine)\b|\b[A-Z_]*(?:PYTEST|VITEST|JEST|NODE)_[A-Z_]+\b"
    rb"|\btesting\.Testing\b|\bos\.Exit\b|\bSystem\.exit\b|\bprocess::exit\b|\borg\.junit\b"
)
_LIMIT = 20
_LARGEST = 1 << 20  # bytes; product code is smaller


def suspicious_words(
    changes: Iterable[Change], base: Mapping[bytes, bytes], guard: Protection
) -> tuple[str, ...]:
    """`path: word` for what lines say that were added outside the tests; at most 20.

    Args:
        changes: the agent's.
        base: what the changed files were before.
        guard: tells which paths are not carried to the verification.
    """
    return tuple(text for text, _ in zip(_found(changes, base, guard), range(_LIMIT), strict=False))


def _found(
    changes: Iterable[Change], base: Mapping[bytes, bytes], guard: Protection
) -> Iterator[str]:
    for change in changes:
        content = change.content or b""
        refused = guard.refuses(change.path) or guard.shadows(change)
        if refused or len(content) > _LARGEST or b"\0" in content[:8000]:
            continue
        for word in _added(content, base.get(change.path, b"").splitlines()):
            yield f"{display(change.path)}: {word}"


def _added(content: bytes, before: Collection[bytes]) -> dict[str, None]:
    """The words of lines that were not there before, each once, in order."""
    known = set(before)
    new = b"\n".join(line for line in content.splitlines() if line not in known)
    return dict.fromkeys(word.decode() for word in _WORDS.findall(new))
