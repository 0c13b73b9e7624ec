"""The words of the simple commands in a shell text, and where they stand."""

import re
import shlex
from dataclasses import dataclass

_WORD = re.compile(
    r"""(?:\d{0,9}[<>]{1,2}&\d|&>+|[^\s'"\\;&|()]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""", re.DOTALL
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
    found = commands(text)
    return found[-1] if found else []


def commands(text: str) -> list[list[Word]]:
    """The words of every simple command, in the order of the text."""
    found: list[list[Word]] = []
    position = 0
    ended = True
    while position < len(text):
        word = _WORD.match(text, position)
        if word:
            if ended:
                found.append([])
            ended = False
            found[-1].append(Word(word.start(), word.end(), _unquoted(word[0])))
            position = word.end()
            continue
        separator = _SEPARATOR.match(text, position)
        ended = ended or separator is not None
        position = separator.end() if separator else position + 1
    return found


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word))
    except ValueError:  # an unclosed quotation mark; the shell will say so
        return word
