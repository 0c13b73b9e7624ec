"""Names of dataset versions: `1.0`, and the git tag `v1.0`."""

import re

_VERSION = re.compile(r"v?(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})(?:\.(0|[1-9][0-9]{0,5}))?")


Order = tuple[int, int, int]


def order(version: str) -> Order | None:
    """What versions are sorted by; null if it is none (`v1`, which moves, is none)."""
    found = _VERSION.fullmatch(version)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None
