"""A history as a Markdown page with its plots, and as lines for a terminal."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from itertools import groupby

from rich.table import Table
from rich.text import Text

from nanobench.report.escape import inert, plain
from nanobench.report.history import HistoryEntry
from nanobench.report.tables import rate, score, table
from nanobench.report.terminal import print_table


def render_history(entries: Sequence[HistoryEntry], plots: Mapping[str, str]) -> str:
    """The page.

    Args:
        entries: those that stand, in order.
        plots: file names beside the page, by model.
    """
    blocks = ["# NanoBench history"]
    for model, own in groupby(entries, key=lambda entry: str(entry.model)):
        blocks += [
            f"## {inert(model)}",
            f"![Pass rate over time]({plots[model]})",
            table(
                "began | Nanocoder | dataset | ruleset | mode | tasks | solved | pass rate | "
                "mean score | missing | infrastructure",
                map(_row, own),
            ),
        ]
    blocks.append(
        "In brackets: 95 % intervals, same tasks. Lines join only results of the same tasks, "
        "dataset and ruleset; `nanobench compare` says whether two of them differ."
    )
    return "\n\n".join(blocks) + "\n"


def render_history_table(entries: Sequence[HistoryEntry], *, width: int) -> str:
    """One line per entry."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("model", "mode", "began", "Nanocoder", "dataset", "solved", "pass rate"):
        shown.add_column(name, overflow="fold")
    for entry in entries:
        cells = (
            str(entry.model),
            entry.mode,
            _day(entry),
            entry.nanocoder,
            entry.dataset,
            _solved(entry),
            rate(entry.pass_rate, entry.pass_rate_interval),
        )
        shown.add_row(*(Text(plain(cell, 80)) for cell in cells))
    return print_table(shown, width=width)


def _row(entry: HistoryEntry) -> list[str]:
    return [
        _day(entry),
        inert(entry.nanocoder),
        inert(entry.dataset),
        entry.ruleset,
        entry.mode,
        str(entry.tasks),
        _solved(entry),
        rate(entry.pass_rate, entry.pass_rate_interval),
        score(entry.mean_score, entry.mean_score_interval),
        str(entry.missing),
        str(entry.infrastructure),
    ]


def _day(entry: HistoryEntry) -> str:
    return entry.began.astimezone(UTC).date().isoformat()


def _solved(entry: HistoryEntry) -> str:
    return f"{entry.solved}/{entry.valid_runs}"
