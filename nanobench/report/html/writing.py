"""Writing the page, and beside it what is too much for one page."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from markupsafe import Markup

from nanobench.files import make_directory, write_atomic
from nanobench.report.attempts import Attempts
from nanobench.report.comparison_document import Comparison
from nanobench.report.document import Report
from nanobench.report.html.detail import detail
from nanobench.report.html.page import render_page, script_json

PAGE = "report.html"
FILES = "report-files"
INLINE_RUNS = 300
INLINE_BYTES = 12 * 1024 * 1024
_FILE_BYTES = 1024 * 1024
_FILE_RUNS = 200


def write_page(
    report: Report,
    attempts: Attempts,
    directory: Path,
    comparison: Comparison | None = None,
) -> Path:
    """Write `report.html`; with more than 300 runs or 12 MiB of detail, `report-files/` too.

    Args:
        report: what the page shows.
        attempts: the runs behind it.
        directory: where it goes; older files of the page are removed.
        comparison: with a baseline, if there is one.

    Raises:
        StateError: it cannot be written.
    """
    found = _details(report, attempts)
    inline: dict[str, Markup] = {}
    if sum(row.state != "missing" for row in report.cells) <= INLINE_RUNS:
        inline = dict(found)
        if sum(map(len, inline.values())) > INLINE_BYTES:
            found, inline = iter(inline.items()), {}
    files = dict.fromkeys(inline, 0)
    if not inline:
        for number, group in enumerate(_grouped(found), 1):
            _write_details(make_directory(directory / FILES) / f"{number}.js", group)
            files.update(dict.fromkeys(group, number))
    _remove_others(directory / FILES, max(files.values(), default=0))
    page = directory / PAGE
    write_atomic(page, render_page(report, comparison, files, inline))
    return page


def _details(report: Report, attempts: Attempts) -> Iterator[tuple[str, Markup]]:
    for row in report.cells:
        attempt = attempts.of(row.cell_id) if row.state != "missing" else None
        if attempt is not None:
            yield row.cell_id, script_json(detail(attempt))


def _grouped(found: Iterator[tuple[str, Markup]]) -> Iterator[dict[str, Markup]]:
    """Details in groups that are small enough to be loaded for one of them."""
    group: dict[str, Markup] = {}
    size = 0
    for cell_id, text in found:
        group[cell_id] = text
        size += len(text)
        if size >= _FILE_BYTES or len(group) == _FILE_RUNS:
            yield group
            group, size = {}, 0
    if group:
        yield group


def _write_details(path: Path, group: Mapping[str, Markup]) -> None:
    """A script, because a page opened from a file may load nothing else."""
    pairs = ",\n".join(f'["{cell_id}",{text}]' for cell_id, text in group.items())
    write_atomic(path, f"nanobenchDetails([\n{pairs}\n]);\n")


def _remove_others(directory: Path, kept: int) -> None:
    """Remove what an earlier report with more files left."""
    if not directory.is_dir():
        return
    for path in directory.glob("*.js"):
        if path.stem.isdecimal() and int(path.stem) > kept:
            path.unlink(missing_ok=True)
    if not any(directory.iterdir()):
        directory.rmdir()
