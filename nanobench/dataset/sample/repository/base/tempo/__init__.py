"""Durations in a notation that people and programs read alike."""

from tempo.errors import NotationError
from tempo.notation import format_duration, parse_duration

__all__ = ["NotationError", "format_duration", "parse_duration"]
