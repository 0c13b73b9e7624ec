"""The report as a short table for a terminal or a log."""

import io

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nanobench.report.comparison_document import Comparison
from nanobench.report.document import Report, Row
from nanobench.report.escape import plain
from nanobench.report.figures import MERGED
from nanobench.report.measures import Estimate

_CAUSE_WIDTH = 160
_SHOWN = 300
_STYLES = {"Complete Resolution": "green", "Partial Resolution": "yellow"}


def render_table(report: Report, *, width: int = 120, color: bool = False) -> str:
    """One line per cell, of 300 cells at most; plain text unless `color`.

    Args:
        report: what to show.
        width: columns of the terminal.
        color: whether the reader is a terminal that shows ANSI colours.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("model", "task", "mode", "run"):
        table.add_column(name, overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("tests", justify="right")
    table.add_column("outcome", overflow="fold")
    for row in report.cells[:_SHOWN]:
        table.add_row(*_cells(row))
    more = len(report.cells) - _SHOWN
    rest = f"and {more:,} more cells, which are in the report\n" if more > 0 else ""
    return print_table(table, width=width, color=color) + rest


def print_table(table: Table, *, width: int, color: bool = False) -> str:
    """A table as lines of at most `width` columns, none with blanks at its end."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        _environ={},
    )
    console.print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def render_verdict(comparison: Comparison) -> str:
    """What became better or worse, a line for each model and mode."""
    lines = [f"verdict: {comparison.verdict}"]
    for change in (*comparison.overall, *comparison.changes):
        name = f"{plain(str(change.model), 60) if change.model else 'all models'} {change.mode}"
        if change.before is None or change.after is None or change.same_tasks is None:
            lines.append(f"  {name}: {change.verdict}: {plain('; '.join(change.reasons), 400)}")
            continue
        told = [
            f"{_percent(change.before)} before, {_percent(change.after)} after",
            f"change {100 * change.same_tasks.value:+.1f} points "
            f"({100 * change.same_tasks.low:+.1f} to {100 * change.same_tasks.high:+.1f})",
            f"{change.compared} {'tasks' if change.model else 'pairs of model and task'} compared, "
            f"{change.excluded} left out",
        ]
        drop = change.detectable_drop
        if drop is not None:
            told.append(f"drops below {100 * drop:.0f} points often do not show")
        elif change.before.value:
            told.append("even the largest drop often does not show")
        if change.caution:
            told.append(change.caution)
        lines.append(f"  {name}: {change.verdict}: {'; '.join(told)}")
    return "\n".join(lines) + "\n"


def _percent(rate: Estimate) -> str:
    return f"{100 * rate.value:.0f} % ({100 * rate.low:.0f} to {100 * rate.high:.0f})"


def _cells(row: Row) -> list[Text]:
    cell = row.cell
    graded = row.state == "present"
    style = _STYLES.get(row.label or "", "red")
    return [
        Text(plain(str(cell.model), 60)),
        Text(cell.task_id),
        Text(cell.mode),
        Text(str(cell.run)),
        Text(f"{row.score:.1f}" if row.score is not None else "", style=style),
        Text(f"{row.targets_passed}/{row.targets}" if graded else ""),
        Text(_outcome(row), style=style),
    ]


def _outcome(row: Row) -> str:
    if row.state != "present":
        return f"{row.state}: {cause(row)}" if cause(row) != row.state else row.state
    rule = f" (rule {row.rule})" if row.rule else ""
    named = row.failure_mode if row.failure_mode == MERGED else row.category
    return f"{named or row.label}{rule}"


def cause(row: Row) -> str:
    """Why a cell has no score, in one line: the reason and the first piece of its evidence."""
    told = (row.reason, *(row.evidence or row.infrastructure)[:1])
    return plain(": ".join(filter(None, told)), _CAUSE_WIDTH) or row.state
