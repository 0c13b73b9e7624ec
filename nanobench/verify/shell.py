"""The words of the last simple command in a shell text, and where they stand."""

import re
import shlex
from dataclasses import dataclass

_WORD = re.compile(
    r"""(?:\d*[<>]+&\d+|&>+|[^\s'"\\;&|()]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""", re.DOTALL
)
_SEPARATOR = re.compile(r"&&|\|\||\||;|&|\n|[()]")


@dataclass(frozen=True)
class Word:
    """A word: its place in the text, and its value without quotes, not expanded."""

    start: int
    end: int
    value: str


def last_command(text: str) -> list[Word]:
    """The words of the last simple command."""
    words: list[Word] = []
    position = 0
    ended = False
    while position < len(text):
        word = _WORD.match(text, position)
        if word:
            words = [] if ended else words
            ended = False
            words.append(Word(word.start(), word.end(), _unquoted(word[0])))
            position = word.end()
            continue
        separator = _SEPARATOR.match(text, position)
        ended = ended or separator is not None
        position = separator.end() if separator else position + 1
    return words


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word))
    except ValueError:  # an unclosed quotation mark; the shell will say so
        return word
