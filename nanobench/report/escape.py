"""Making foreign text harmless: test names, file names, model output, error messages.

Everything that was not written by NanoBench passes through `plain` before a terminal (whole
outputs: through `visible`) and through `inert` (whole texts: `fenced`) before Markdown, and through
nothing else.
"""

import re
import unicodedata

DEFAULT_LIMIT = 200

# CSI and OSC sequences (ECMA-48), bounded so that an unclosed one cannot swallow the text.
_ANSI = re.compile(r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)")
_SPACES = re.compile(r"[\t\n\v\f\r \x85\u2028\u2029]+")
# Besides Markdown's own signs: HTML, mathematics and mentions of GitHub, and the signs by which
# bare addresses are turned into links.
_MARKDOWN = re.compile(
    r"[\\`*\[\]<>&|~$@#!\"']|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.",
    re.IGNORECASE,
)
_UNUSUAL = re.compile(r"[^\n\t -~]")  # all else is shown as it is
# Control, format (also bidirectional marks), private, unassigned and surrogate characters.
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cn", "Cs"})


def plain(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """One line of at most `limit` visible characters, with nothing that steers a terminal.

    ANSI sequences are dropped, line ends become blanks, characters that cannot be seen become
    escapes such as `\\u202e`. A cut is marked with the number of characters left out.
    """
    if len(text) <= limit and text.isascii() and text.isprintable() and _tidy(text):
        return text  # most texts, and ten times as fast
    head = text[: 4 * limit]  # bounds the work for a line of megabytes
    clean = _SPACES.sub(" ", _ANSI.sub("", head)).strip()
    shown = _UNUSUAL.sub(_visible, clean[:limit])
    if len(shown) > limit:
        shown = shown[:limit]
    elif len(clean) <= limit and len(head) == len(text):
        return shown
    return f"{shown}… ({len(text):,} characters)"


def visible(text: str) -> str:
    """`text` whole, with its line ends and tabs, and with nothing that steers a terminal.

    ANSI sequences are dropped; a carriage return before a line end goes; other characters that
    cannot be seen become escapes.
    """
    if _UNUSUAL.search(text) is None:
        return text
    return _UNUSUAL.sub(_visible, _ANSI.sub("", text).replace("\r\n", "\n"))


def inert(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """`plain(text)` as code in Markdown: no markup, HTML, link, mention or table cell in it.

    Signs are written as character references, which CommonMark never takes for structure;
    the `<code>` around them keeps GitHub from expanding mentions, issue numbers and emoji.
    """
    shown = plain(text, limit)
    return f"<code>{_MARKDOWN.sub(_reference, shown)}</code>" if shown else ""


def fenced(text: str) -> str:
    """`visible(text)` as a block of code in Markdown, in a fence that the text cannot close."""
    shown = visible(text).strip("\n")
    longest = max(map(len, re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _tidy(text: str) -> bool:
    return "  " not in text and text[:1] != " " and text[-1:] != " "


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if unicodedata.category(character) in _UNSEEN:
        return character.encode("unicode_escape").decode()
    return character


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"
