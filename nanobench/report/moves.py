"""Which labels moved when records were judged anew, as a table for a terminal or a log."""

from collections import Counter

from rich.table import Table
from rich.text import Text

from nanobench.model.verdict import Verdict
from nanobench.pipeline.regrading import Move, Regrading
from nanobench.report.escape import plain
from nanobench.report.terminal import print_table

_WHY_WIDTH = 120


def render_moves(regrading: Regrading, *, width: int = 120) -> str:
    """How many labels moved, from which to which, and each of them with its evidence."""
    summary = (
        f"ruleset {regrading.ruleset}: {regrading.records} records, "
        f"{len(regrading.moved)} labels moved\n"
    )
    if not regrading.moved:
        return summary
    return summary + "\n" + _kinds(regrading, width) + "\n" + _each(regrading, width)


def name_verdict(verdict: Verdict) -> str:
    """A verdict in a few words: score, category or label, rule, reason."""
    if verdict.outcome == "infrastructure_error":
        return f"infrastructure: {verdict.reason}"
    rule = f"rule {verdict.rule}" if verdict.rule else None
    told = ", ".join(filter(None, (rule, verdict.reason)))
    named = f"{verdict.score} {verdict.category or verdict.label}"
    return f"{named} ({told})" if told else named


def _kinds(regrading: Regrading, width: int) -> str:
    table = _table("runs", "before", "after")
    kinds = Counter(
        (name_verdict(move.before), name_verdict(move.after)) for move in regrading.moved
    )
    for (before, after), count in sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0])):
        table.add_row(str(count), Text(plain(before)), Text(plain(after)))
    return print_table(table, width=width)


def _each(regrading: Regrading, width: int) -> str:
    table = _table("cell", "attempt", "before", "after", "why")
    for move in regrading.moved:
        table.add_row(*_row(move))
    return print_table(table, width=width)


def _row(move: Move) -> tuple[Text, ...]:
    before = f"{move.before.ruleset}: {name_verdict(move.before)}"
    why = "; ".join(move.after.evidence)
    cells = (move.cell_id, str(move.attempt), before, name_verdict(move.after))
    return (*(Text(plain(cell)) for cell in cells), Text(plain(why, _WHY_WIDTH)))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    return table
