"""`nanobench report`: result directories to one report."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.judging import (
    check_readable,
    check_regression,
    read_results,
    some,
    tell_verdict,
)
from nanobench.cli.options import (
    baseline_option,
    json_option,
    out_directory_option,
    tasks_dir_option,
)
from nanobench.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from nanobench.report.comparison_document import Comparison
    from nanobench.report.document import Report
    from nanobench.report.pairing import Results

FAILURES = ("regression", "missing", "infrastructure")
_LOG_WIDTH = 160


@dataclass(frozen=True)
class FailOn:
    """What fails a report; `infrastructure`: the share of cells above which it does, or null."""

    regression: bool = False
    missing: bool = False
    infrastructure: float | None = None


def _fail_on(ctx: click.Context, param: click.Parameter, value: str) -> FailOn:
    found: dict[str, bool | float] = {}
    for name in (name.strip() for name in value.split(",") if name.strip()):
        share = re.fullmatch(r"infrastructure(?:>([0-9]{1,3})%)?", name)
        if share and int(share[1] or 0) <= 100:
            found["infrastructure"] = int(share[1] or 0) / 100
        elif name in FAILURES:
            found[name] = True
        else:
            raise click.BadParameter(
                f"{name!r} is none of: {', '.join(FAILURES)}, infrastructure>10%"
            )
    return FailOn(**found)  # type: ignore[arg-type]  # each name has the type of its field


@click.command()
@click.argument(
    "directories", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@out_directory_option
@baseline_option
@click.option(
    "--fail-on",
    callback=_fail_on,
    metavar=",".join(FAILURES),
    default="",
    help="Exit with 1 if there is a regression against --baseline, with 4 if a planned cell is "
    "missing, or one ended in infrastructure trouble (infrastructure>10%: more than that share).",
)
@click.option("--no-html", is_flag=True, help="Leave out report.html.")
@tasks_dir_option
@json_option
def report(
    directories: tuple[Path, ...],
    out: Path,
    baseline: Path | None,
    fail_on: FailOn,
    no_html: bool,
    tasks_dir: Path | None,
    as_json: bool,
) -> None:
    """Merge records, judge them, and render a report.

    All results below DIR... go into report.html, report.md, report.json, matrix.csv and matrix.json
    in --out, and with --baseline into comparison.json too. Every planned cell is listed as present,
    missing or infrastructure; only graded runs enter a score. A file that is no readable record is
    named, and the rest is still reported.

    Exit codes: 0 fine, 1 there is a regression and --fail-on names it, 2 usage, 3 a record could
    not be read or there are no results, 4 there is what else --fail-on names, or a directory
    cannot be written.
    """
    from nanobench.files import make_directory

    if fail_on.regression and baseline is None:
        raise UsageError(
            "a regression needs something to compare with",
            where="--fail-on regression",
            remedy="name an earlier result directory with --baseline",
        )
    results = read_results(directories, tasks_dir=tasks_dir)
    document, comparison = results.report, None
    if baseline is not None:
        from nanobench.report.comparison import compare_results

        comparison = compare_results(read_results([baseline], tasks_dir=tasks_dir), results)
    make_directory(out)
    write_report(results, out, comparison)
    if not no_html:
        write_html(results, directories, out, comparison)
    if as_json:
        click.echo((out / "report.json").read_text(), nl=False)
    else:
        show(document)
        if comparison is not None:
            tell_verdict(comparison)
        click.echo(f"report: {out / ('report.md' if no_html else 'report.html')}")
    check_readable((*document.problems, *(comparison.before.problems if comparison else ())))
    if comparison is not None and fail_on.regression:
        check_regression(comparison)
    _check_states(document, fail_on)


def write_report(results: Results, directory: Path, comparison: Comparison | None = None) -> None:
    """Write `report.json`, `report.md` and the matrix as JSON and CSV.

    With a comparison, `comparison.json` too.

    Raises:
        StateError: the directory cannot be written.
    """
    from nanobench.files import write_atomic
    from nanobench.report.markdown import render_markdown
    from nanobench.report.matrix import matrix, matrix_csv

    verdict: tuple[str, ...] = ()
    if comparison is not None:
        from nanobench.report.comparison_markdown import comparison_blocks

        verdict = tuple(comparison_blocks(comparison))
    write_atomic(directory / "report.json", results.report.to_json())
    write_atomic(directory / "report.md", render_markdown(results.report, verdict))
    write_atomic(directory / "matrix.json", matrix(results.report).to_json())
    write_atomic(directory / "matrix.csv", matrix_csv(results.report))
    if comparison is not None:
        write_atomic(directory / "comparison.json", comparison.to_json())


def write_html(
    results: Results,
    sources: Sequence[Path],
    directory: Path,
    comparison: Comparison | None = None,
) -> None:
    """Write `report.html`; `sources` are the directories that hold the runs' files.

    Raises:
        StateError: the directory cannot be written.
    """
    from nanobench.report.attempts import Attempts
    from nanobench.report.html.writing import write_page

    write_page(results.report, Attempts(results.records, sources), directory, comparison)


def show(document: Report) -> None:
    """Print the table of the cells to standard output."""
    import shutil

    from nanobench.report.terminal import render_table

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _LOG_WIDTH
    click.echo(render_table(document, width=width, color=terminal), nl=False)


def _check_states(document: Report, fail_on: FailOn) -> None:
    rows = [*document.in_state("missing")] if fail_on.missing else []
    troubled = document.in_state("infrastructure")
    share = fail_on.infrastructure
    # Divided, as the share was: 29 of 100 are not more than 29 %, whatever rounding does.
    if share is not None and troubled and len(troubled) / len(document.cells) > share:
        rows += troubled
    if rows:
        raise InfrastructureError(
            f"{len(rows)} of {len(document.cells)} cells are "
            f"{' or '.join(sorted({row.state for row in rows}))}",
            where=some([f"{row.cell_id} ({row.state})" for row in rows]),
            remedy="repeat the bench with the same --out to run them",
        )
