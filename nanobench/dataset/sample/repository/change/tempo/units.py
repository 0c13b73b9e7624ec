"""The units of the notation, from the largest to the smallest."""

from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: its symbol and its length in seconds."""

    symbol: str
    seconds: int


UNITS = (
    Unit("w", 604800),
    Unit("d", 86400),
    Unit("h", 3600),
    Unit("m", 60),
    Unit("s", 1),
)


def unit_of(symbol):
    """The unit with this symbol, or None."""
    for unit in UNITS:
        if unit.symbol == symbol:
            return unit
    return None


def largest_unit(seconds):
    """The largest unit of which the duration holds at least one, else the smallest unit."""
    for unit in UNITS:
        if seconds >= unit.seconds:
            return unit
    return UNITS[-1]
