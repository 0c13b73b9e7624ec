"""Test ids that would be others in the next run."""

import re
from collections.abc import Iterable

# Each with what it finds; hexadecimal needs a digit and a letter, so that words do not count.
_UNSTABLE = re.compile(
    r"\b0x[0-9a-fA-F]{6,}\b"  # an address: `<object at 0x7f1dd6844750>`
    r"|(?:^|[^\w.])(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm|/run/user)/"
    r"|\b(?:pytest-of-|pytest-\d+/|go-build\d|tmp\.?[A-Za-z0-9_]{6,}/)"
    r"|(?:^|[\s\[(\"'=-])(?:/home|/root|/Users)/|\b[A-Z]:\\\\?Users\\"  # a machine's path
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"  # a UUID
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3,}"  # a moment, to the millisecond
    r"|\b1[6-9]\d{8}(?:\d{3}|\d{6}|\d{9}|\.\d+)?\b"  # seconds since 1970, or parts of them
)


def unstable_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """The ids that hold an address, a temporary or personal path, a UUID or a moment.

    A constant may look the same: whether an id did change, only two runs can tell.

    Returns:
        sorted.
    """
    return tuple(sorted(test_id for test_id in ids if _UNSTABLE.search(test_id)))
