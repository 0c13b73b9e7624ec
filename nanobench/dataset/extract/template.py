"""What stands in the description of a pull request and says nothing of the change.

Templates leave comments, forms and headings; platforms and tools add names, links and signatures.
"""

import re
from collections.abc import Sequence

_TRAILER = re.compile(
    r"(?i)(co-authored-by|signed-off-by|reviewed-by|acked-by|tested-by|reported-by|helped-by"
    r"|suggested-by|assisted-by|generated-by|change-id|reviewed-on|cc|pr-url|refs?|git-svn-id"
    r"|piperorigin-revid): \S"
)
_RULE = re.compile(r"[-*_]{3,}")
_BOX = re.compile(r"(?:[-*+]\s+)?\[[ xX]?\](\s|$)")
_HEADING = re.compile(r"#{1,6}\s.*|\*\*[^*]{1,40}\*\*:?")
_SIGNATURE = re.compile(r"(?i)\W*generated (with|by) .*https?://.*")
# A line of nothing but these words: an issue that is closed, a link, a picture.
_REFERENCE = re.compile(
    r"(?i)[-*+]|(close[sd]?|fix(e[sd])?|resolve[sd]?|refs?|see|and|part|of):?"
    r"|[^\s#]*#\d+[.,]?|<?https?://\S+"
)
_POINTS = re.compile(r"#\d|://")
# Comments, footnotes and pictures, which may stretch over lines and paragraphs.
_MARKUP = re.compile(r"(?is)<!--.*?-->|<sub>.*?</sub>|<img\b[^>]*>|!\[[^\]\n]*\]\([^)\n]*\)")
_BREAK = "\n\n"


def without_markup(paragraphs: Sequence[str]) -> list[str]:
    """The paragraphs without comments, footnotes and pictures; as many as there were."""
    text = _BREAK.join(paragraphs)
    # The blank keeps lines apart whose own line is taken out.
    return _MARKUP.sub(lambda found: f" {_BREAK * found[0].count(_BREAK)} ", text).split(_BREAK)


def says_nothing(paragraph: str) -> bool:
    """Whether a paragraph without its markup names people, fills a form, or is a heading."""
    if fills_a_form(paragraph):
        return True
    lines = (line.strip() for line in paragraph.splitlines())
    return all(_is_nothing(line) for line in lines if line)


def fills_a_form(paragraph: str) -> bool:
    """Whether a paragraph has boxes to tick."""
    return any(_BOX.match(line.strip()) for line in paragraph.splitlines())


def _is_nothing(line: str) -> bool:
    if _POINTS.search(line) and all(_REFERENCE.fullmatch(word) for word in line.split()):
        return True
    patterns = (_RULE, _HEADING, _SIGNATURE)
    return _TRAILER.match(line) is not None or any(one.fullmatch(line) for one in patterns)
