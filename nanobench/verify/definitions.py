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
    r"\bconstructor\s*\(.*\b(?:public|private|protected|readonly)\s+{name}\s*[?:]",
    r"\bexport\s+\*\s+as\s+{name}\b|^\s*import\s+{name}\s*=",
    r"(?<![\w$.]){name}\s*:\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)",
)
_GO = (
    r"^\s*func\s*(?:\([^)]*\)\s*)?{name}\s*[\[(]",
    r"^\s*(?:type|package|var|const)\s+{name}\b",
    r"^\s*(?:var|const)\s+(?:\w+\s*,\s*){{1,9}}{name}\b",
    r"^\s*(?:\w+\s*,\s*){{0,9}}{name}\s*(?:,\s*\w+\s*){{0,9}}:=",
    # In a group, a struct or an interface; a line that begins so is no statement in Go.
    r"^\s+(?:\w+\s*,\s*){{0,9}}{name}(?:\s*,\s*\w+){{0,9}}\s+(?:\*|\[|<-|\w)[^=]*(?:=\s.*)?$",
    r"^\s+{name}\s*=\s",
    r"^\s+{name}\([^()]*\)\s+[\w(*\[]",
    r"^\s+{name}\((?:\w+\s*,\s*){{0,9}}\w+\s+[^()]*\)\s*$",
    r"^\s*(?:import\s+)?{name}\s+\"",
)
_RUST_TYPE = (
    r"(?:[&\[(A-Z]|dyn\b|impl\b|[ui](?:8|16|32|64|128|size)\b|f32\b|f64\b|bool\b|char\b|str\b)"
)
_RUST = (
    r"\b(?:fn|struct|enum|union|trait|type|mod|static|const|let)\s+(?:mut\s+)?{name}\b",
    r"\bmacro_rules!\s*{name}\b",
    r"\bas\s+{name}\b\s*[,;}}]",
    r"^\s*pub(?:\([^)]*\))?\s+{name}\s*:",
    r"^\s*{name}\s*:\s*" + _RUST_TYPE + r"[^=(]*,?\s*$",
    r"^\s*{name}\s*(?:\([^)]*\)|\{{[^}}]*\}}?)\s*,?\s*$",  # a variant; a call ends otherwise
)
_JAVA_MODIFIERS = (
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|static|final|abstract|default"
    r"|synchronized|native|strictfp|transient|volatile)\s+)*"
)
_JAVA_TYPE = (
    r"(?:<[^>]*>\s*)?(?!(?:return|new|throw|else|case|assert|yield|package|import|goto)\b)"
    r"[\w.]+(?:<.*>)?(?:\[\])*\s+"
)
_JAVA = (
    r"\b(?:class|interface|enum|record)\s+{name}\b",
    r"^\s*package\s+{name}\s*;",
    _JAVA_MODIFIERS + _JAVA_TYPE + r"{name}\s*(?:\(|=(?!=)|;|,|:)",
    r"^\s*(?:public|protected|private)\s+{name}\s*\(",
    r"\brecord\s+\w+(?:<[^>]*>)?\s*\([^)]*\b{name}\s*[,)]",
    r"^\s*{name}\s*(?:\([^()]*\)\s*)?,\s*$",  # a constant of an enum
)
_BY_EXTENSION: Mapping[str, tuple[str, ...]] = MappingProxyType(
    dict.fromkeys(("py", "pyi"), _PYTHON)
    | {"go": _GO, "rs": _RUST, "java": _JAVA}
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
