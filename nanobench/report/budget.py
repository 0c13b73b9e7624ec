"""Pages that must fit: whole sections go, in a stated order, and the page says which."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_NAMED = 10
_NOTE_ROOM = 2000  # for the line that names what was left out; names are short
_BETWEEN = "\n\n"


@dataclass(frozen=True)
class Part:
    """A section of a page.

    Attributes:
        name: what readers call it: at most some hundred characters of Markdown.
        text: Markdown.
        sheds: when it goes if the page is too long, the lowest number first; null: never.
    """

    name: str
    text: str
    sheds: int | None = None


def fit(parts: Sequence[Part], limit: int, size: Callable[[str], int], where: str) -> str:
    """The page of all parts that fit into `limit`, as `size` measures it.

    Args:
        parts: in the order of the page; those that never go must fit by themselves.
        limit: the most that the page may measure.
        size: of a text, e.g. in bytes; of two texts together it is the sum.
        where: Markdown that tells where to find what was left out.
    """
    kept = [part for part in parts if part.text]
    total = sum(size(part.text + _BETWEEN) for part in kept)
    going = sorted((p for p in kept if p.sheds is not None), key=_order)
    left: list[Part] = []
    while total > limit - (_NOTE_ROOM if left else 0) and len(left) < len(going):
        part = going[len(left)]
        left.append(part)
        total -= size(part.text + _BETWEEN)
    gone = set(map(id, left))
    texts = [part.text for part in kept if id(part) not in gone]
    return _BETWEEN.join([*texts, *_note(left, where)])


def _note(left: Sequence[Part], where: str) -> list[str]:
    if not left:
        return []
    names = [part.name for part in left[:_NAMED]]
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return [f"Left out for length: {', '.join(names)}{more}. {where}"]


def _order(part: Part) -> int:
    return part.sheds or 0
