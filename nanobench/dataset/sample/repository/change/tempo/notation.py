"""Durations as text and back."""

import re

from tempo.errors import NotationError
from tempo.units import UNITS, largest_unit, unit_of

_PART = re.compile(r"(\d+)([a-z]+)")


def format_duration(seconds, max_parts=None):
    """Write a whole number of seconds, for example 5400 as "1h 30m".

    With `max_parts`, only so many parts are written, the largest ones.
    """
    if seconds < 0:
        raise NotationError(f"a duration cannot be negative: {seconds}")
    if max_parts is not None and max_parts < 1:
        raise NotationError(f"at least one part is needed, not {max_parts}")
    parts = []
    for unit in UNITS[UNITS.index(largest_unit(seconds)) :]:
        count, seconds = divmod(seconds, unit.seconds)
        if count:
            parts.append(f"{count}{unit.symbol}")
    return " ".join(parts[:max_parts]) or "0s"


def parse_duration(text):
    """Read "1h 30m" as a number of seconds."""
    words = text.split()
    if not words:
        raise NotationError("an empty text is not a duration")
    total = 0
    for word in words:
        match = _PART.fullmatch(word)
        unit = unit_of(match.group(2)) if match else None
        if unit is None:
            raise NotationError(f"not a part of a duration: {word!r}")
        total += int(match.group(1)) * unit.seconds
    return total
