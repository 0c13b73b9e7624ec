"""File names are bytes; documents are text. The one place where the first becomes the second."""

_ESCAPES = {
    0x07: "\\a",
    0x08: "\\b",
    0x09: "\\t",
    0x0A: "\\n",
    0x0B: "\\v",
    0x0C: "\\f",
    0x0D: "\\r",
    0x22: '\\"',
    0x5C: "\\\\",
}


def display(path: bytes) -> str:
    """A path as documents write it: UTF-8 text, or C-quoted as git does when it is not UTF-8.

    The quoted form stands in double quotes, with octal escapes for every byte outside ASCII.
    """
    try:
        return path.decode()
    except UnicodeDecodeError:
        return '"' + "".join(map(_quote, path)) + '"'


def _quote(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def parents(path: bytes) -> list[bytes]:
    """The directories above a relative path, nearest first; the root is not among them."""
    parts = path.split(b"/")
    return [b"/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]


def is_git_metadata(name: bytes) -> bool:
    """Whether git refuses a path with this component (`.git` in any case)."""
    return name.lower() == b".git"
