"""Text as documents can carry it. What agents, providers and runners write may be none."""

import json
from typing import Any


def clean(text: str) -> str:
    """Text without what UTF-8 cannot carry (lone surrogates)."""
    return text.encode("utf-8", "replace").decode()


def clean_json(document: Any) -> Any:
    """Plain data of JSON with all its texts clean; Nanocoder cuts texts between UTF-16 units.

    Raises:
        RecursionError: it nests too deep.
    """
    text = json.dumps(document, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(clean(text))
    return document
