"""Result files that are one JSON object; values of wrong types do no harm."""

import json
from typing import Any, BinaryIO

from nanobench.model.text import clean
from nanobench.verify.results import ParseError

SIZE_LIMIT = 64 * 1024 * 1024  # of a document that is held in memory as a whole
_LARGEST = 1e15  # JSON's integers may be too large for a float


def load_object(stream: BinaryIO) -> dict[str, Any]:
    """The object in the file.

    Raises:
        ParseError: it is truncated, malformed, nests too deep, or is no object.
    """
    content = stream.read(SIZE_LIMIT + 1)
    if len(content) > SIZE_LIMIT:
        raise ParseError(f"the JSON has more than {SIZE_LIMIT} bytes")
    text = content.decode("utf-8-sig", "replace")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        ended = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise ParseError(f"malformed JSON: {error}", truncated=ended) from None
    except RecursionError:
        raise ParseError("malformed JSON: it nests too deep") from None
    except ValueError as error:  # an integer of too many digits
        raise ParseError(f"malformed JSON: {error}") from None
    if not isinstance(document, dict):
        raise ParseError("the JSON is no object")
    return document


def objects(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in a list; empty if there is no list."""
    value = document.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(document: dict[str, Any], key: str) -> str:
    """A text that UTF-8 can carry; empty if it is none."""
    value = document.get(key)
    return clean(value) if isinstance(value, str) else ""


def number_of(document: dict[str, Any], key: str) -> float | None:
    """A number; null if it is none, or larger than any that is meant."""
    value = document.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if abs(value) < _LARGEST else None


def seconds_of(document: dict[str, Any], key: str) -> float | None:
    """A duration that is told in milliseconds."""
    milliseconds = number_of(document, key)
    return None if milliseconds is None else milliseconds / 1000
