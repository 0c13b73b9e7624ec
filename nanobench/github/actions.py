"""What a step hands to GitHub Actions: outputs, summary, annotations, masks.

Files and commands as in GitHub's "Workflow commands" reference. Outside of Actions the files are
not named by the environment: then nothing is written and nothing fails.
"""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nanobench.errors import UsageError
from nanobench.files import state_error
from nanobench.report.escape import plain

# GitHub refuses a summary over 1 MiB as a whole; this leaves room for its own line.
SUMMARY_BYTES = 900 * 1024
# All outputs of one job, counted in UTF-16 by GitHub.
OUTPUT_BYTES = 1024 * 1024
# Of each level and step; the rest would be dropped without a word.
ANNOTATIONS = 10
_MESSAGE_LIMIT = 1000
_SHORTEST_KEY = 8  # characters; a shorter word would be hidden in innocent lines
_SECRET_NAMES = ("key", "token", "secret", "password", "authorization")

AnnotationLevel = Literal["error", "warning", "notice"]


@dataclass(frozen=True)
class Annotation:
    """A remark on a run or on a file of the repository; all texts can be foreign."""

    level: AnnotationLevel
    title: str
    message: str
    file: str | None = None


def write_outputs(environ: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Append outputs of the step; any text is taken as it is.

    The delimiter is drawn by lot for each value, so that no value can end itself early and name
    outputs of its own.

    Raises:
        UsageError: together they exceed what a job may hand on.
        StateError: the file cannot be written.
    """
    size = sum(utf16_bytes(name) + utf16_bytes(value) for name, value in outputs.items())
    if size > OUTPUT_BYTES:
        raise UsageError(
            f"the outputs hold {size:,} bytes, and a job may hand on {OUTPUT_BYTES:,}",
            where=", ".join(outputs),
            remedy="select fewer tasks or models, or pass a file as an artifact",
        )
    _append(environ.get("GITHUB_OUTPUT"), "".join(map(_output, outputs.items())))


def utf16_bytes(text: str) -> int:
    """The size by which GitHub counts outputs."""
    return len(text.encode("utf-16-le", "surrogatepass"))


def write_summary(environ: Mapping[str, str], text: str) -> bool:
    """Append to the summary of the step; whether there is one.

    The caller keeps `text` below `summary_room`.

    Raises:
        StateError: the file cannot be written.
    """
    return _append(environ.get("GITHUB_STEP_SUMMARY"), f"{text}\n")


def summary_room(environ: Mapping[str, str]) -> int:
    """Bytes that the step's summary still takes."""
    named = environ.get("GITHUB_STEP_SUMMARY")
    path = Path(named) if named else None
    return SUMMARY_BYTES - (path.stat().st_size if path and path.is_file() else 0)


def annotation_lines(annotations: list[Annotation]) -> Iterator[str]:
    """Commands for the first ten of each level, which is what GitHub shows of a step."""
    shown: dict[str, int] = {}
    for found in annotations:
        shown[found.level] = shown.get(found.level, 0) + 1
        if shown[found.level] <= ANNOTATIONS:
            yield _command(found)


def mask_lines(values: Iterator[str]) -> Iterator[str]:
    """Commands that make the runner hide values in logs; each line of a value by itself.

    The last word too, where it is long enough for a key: a header has its scheme before it.
    """
    for value in values:
        for line in filter(None, map(str.strip, value.splitlines())):
            yield f"::add-mask::{_data(line)}"
            _, blank, word = line.rpartition(" ")
            if blank and len(word) >= _SHORTEST_KEY:
                yield f"::add-mask::{_data(word)}"


def secrets_in(document: Any, *, named: bool = False) -> Iterator[str]:
    """The texts of a provider configuration that stand under names of secrets."""
    if isinstance(document, str) and named:
        yield document
    elif isinstance(document, list):
        for item in document:
            yield from secrets_in(item, named=named)
    elif isinstance(document, dict):
        for name, item in document.items():
            secret = any(word in str(name).lower() for word in _SECRET_NAMES)
            yield from secrets_in(item, named=named or secret)


def _command(found: Annotation) -> str:
    places = {"file": found.file, "title": plain(found.title)}
    told = ",".join(f"{name}={_property(text)}" for name, text in places.items() if text)
    return f"::{found.level} {told}::{_data(plain(found.message, _MESSAGE_LIMIT))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _output(output: tuple[str, str]) -> str:
    name, value = output
    delimiter = f"nb-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(named: str | None, text: str) -> bool:
    if not named:
        return False
    path = Path(named)
    try:
        with path.open("ab") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise state_error(error, path) from None
    return True
