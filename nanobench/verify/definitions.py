"""How a language defines a name: lines that bind it, by file extension."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType

# Hostile lines must not make the patterns slow.
_LINE_LIMIT = 500
_MENTION_LIMIT = 1000

# Each template is searched in one line; `{name}` is the escaped identifier. Importing a name is
# using it. A keyword argument on a line of its own (`name=value,`) has no space before `=`.
_PYTHON = (
    r"^\s*(?:async\s+)?def\s+{name}\s*[(\[]",
    r"^\s*class\s+{name}\b",
    r"^\s*(?:self\.|cls\.)?{name}\s*(?::[^=]+)?\s=(?!=)",
    r"^\s*{name}\s*:\s*[^=\s,][^=,]*$",
    r"^\s*(?:from|import)\b.*\bas\s+{name}\b",
    r"^\s*type\s+{name}\b",
)
_MODIFIERS = (
    r"^\s*(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract|declare)"
    r"\s+|[*#]\s*)*"
)
_SCRIPT = (
    r"\bfunction\s*\*?\s*{name}(?![\w$])",
    r"\b(?:class|interface|enum|namespace|type)\s+{name}(?![\w$])",
    r"\b(?:const|let|var)\s+{name}(?![\w$])",
    r"\b(?:const|let|var)\s+[{{\[][^=]*(?<![\w$]){name}(?![\w$])[^=]*[}}\]]\s*=",
    r"^\s*export\s*(?:type\s*)?\{{.*(?<![\w$]){name}\s*[,}}]",
    r"\bexports\.{name}\s*=(?!=)",
    r"\.prototype\.{name}\s*=(?!=)|\bthis\.{name}\s*=(?!=)",
    _MODIFIERS + r"{name}\s*\??\s*(?:<[^>]*>)?\([^()'\"`]*\)\s*(?::[^;{{]+)?\{{",
    _MODIFIERS + r"{name}\s*\??\s*(?:<[^>]*>)?\([^()'\"`]*\)\s*:[^;]*;\s*$",
    _MODIFIERS + r"{name}\s*[?!]?\s*:[^,]*;\s*$",
    _MODIFIERS + r"{name}\s*[?!]?\s*(?::[^=]+)?\s=\s",
    r"(?<![\w$.]){name}\s*:\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)",
)
_BY_EXTENSION: Mapping[str, tuple[str, ...]] = MappingProxyType(
    dict.fromkeys(("py", "pyi"), _PYTHON)
    | dict.fromkeys(
        ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "svelte", "vue"), _SCRIPT
    )
)


def defines(path: str, lines: Iterable[str], name: str) -> bool:
    """Whether one of the lines, of a file of this name, defines the identifier.

    Files of a language without rows define nothing.
    """
    templates = _BY_EXTENSION.get(path.rpartition(".")[2].lower())
    if templates is None:
        return False
    escaped = re.escape(name)
    pattern = re.compile("|".join(f"(?:{row.format(name=escaped)})" for row in templates))
    mentions = islice((line[:_LINE_LIMIT] for line in lines if name in line), _MENTION_LIMIT)
    return any(pattern.search(line) for line in mentions)
