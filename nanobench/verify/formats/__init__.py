"""Result formats: one parser per file, looked up by name.

A further format is one module with a `parse(stream, root)` and one line here, or, for a third
party, an entry point of the group `nanobench.result_formats`.
"""

import os
import stat
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import BinaryIO, cast

from nanobench.errors import InvalidInputError
from nanobench.verify.results import ParsedResult, ParseError, numbered

Parser = Callable[[BinaryIO, str], ParsedResult]

GROUP = "nanobench.result_formats"
SIZE_LIMIT = 256 * 1024 * 1024
FILES_LIMIT = 20_000
RESULT_EXTENSIONS = (".xml", ".json", ".jsonl", ".tap", ".txt")
_MODULES = {
    "junit": "nanobench.verify.formats.junit",
    "vitest-json": "nanobench.verify.formats.jest_json",
    "jest-json": "nanobench.verify.formats.jest_json",
    "mocha-json": "nanobench.verify.formats.mocha_json",
    "tap": "nanobench.verify.formats.tap",
    "go-json": "nanobench.verify.formats.go_json",
    "cargo-text": "nanobench.verify.formats.cargo_text",
    "libtest-json": "nanobench.verify.formats.libtest_json",
}


def parser_for(format_name: str) -> Parser:
    """The parser of a format.

    Raises:
        InvalidInputError: no parser has this name.
    """
    module = _MODULES.get(format_name)
    if module is not None:
        return cast(Parser, import_module(module).parse)
    for entry in entry_points(group=GROUP, name=format_name):
        return cast(Parser, entry.load())
    raise InvalidInputError(
        f"unknown result format {format_name!r}",
        where="suite.format",
        remedy=f"use one of {', '.join(sorted(_MODULES))}, or install a plug-in that adds it",
    )


def parse(format_name: str, path: Path, root: str) -> ParsedResult:
    """Read a result file that hostile code may have written.

    Of a directory, as Surefire and Gradle write one, every result file
    (by its extension) is read, in the order of their paths.

    Args:
        format_name: a built-in format or the name of an entry point.
        path: the file on this machine; links and special files are refused.
        root: the workspace as the runner saw it; ids and texts hold paths
            relative to it.

    Raises:
        FileNotFoundError: there is no such file.
        ParseError: it is no regular file, too large, truncated or malformed.
        InvalidInputError: the format is unknown.
    """
    parser = parser_for(format_name)
    try:
        if _is_filled_directory(path):
            return _parse_directory(parser, path, root).without(root)
        with _open_regular(path) as stream:
            return parser(stream, root).without(root)
    except RecursionError:
        raise ParseError("the result nests too deep") from None


def _is_filled_directory(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink() and any(path.iterdir())
    except OSError as error:
        raise ParseError(f"the result directory cannot be read: {error.strerror}") from None


def _parse_directory(parser: Parser, directory: Path, root: str) -> ParsedResult:
    files = sorted(_files(directory))
    if sum(path.lstat().st_size for path in files) > SIZE_LIMIT:
        raise ParseError(f"the result files have more than {SIZE_LIMIT} bytes together")
    results = []
    for path in files:
        with _open_regular(path) as stream:
            results.append(parser(stream, root))
    tests = numbered(test for result in results for test in result.tests)
    errors = (error for result in results for error in result.suite_errors)
    return ParsedResult(tuple(tests), tuple(errors))


def _files(directory: Path) -> Iterator[Path]:
    count = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            if name.endswith(RESULT_EXTENSIONS):
                count += 1
                if count > FILES_LIMIT:
                    raise ParseError(f"there are more than {FILES_LIMIT} result files")
                yield Path(parent, name)


def _open_regular(path: Path) -> BinaryIO:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ParseError(f"the result file cannot be opened: {error.strerror}") from None
    status = os.fstat(descriptor)
    problem = None
    if not stat.S_ISREG(status.st_mode):
        problem = ParseError("the result file is not a regular file")
    elif status.st_size > SIZE_LIMIT:
        problem = ParseError(f"the result file has {status.st_size} bytes, over {SIZE_LIMIT}")
    elif status.st_size == 0:
        problem = ParseError("the result file is empty", truncated=True)
    if problem is not None:
        os.close(descriptor)
        raise problem
    return os.fdopen(descriptor, "rb")
