"""Counts and sums of the runs of one model on one task in one mode; figures are made of these."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from nanobench.model.plan import Cell
from nanobench.report.document import Row
from nanobench.report.measures import Amount, Effort, Interval
from nanobench.report.rounding import ends, rounded, share
from nanobench.stats.stratified import Tally, mean_rate
from nanobench.stats.wilson import wilson

_MEASURES: tuple[tuple[str, Callable[[Row], float | None]], ...] = (
    ("input_tokens", lambda row: row.usage.input_tokens),
    ("output_tokens", lambda row: row.usage.output_tokens),
    ("cost", lambda row: row.usage.cost),
    ("turns", lambda row: row.turns),
    ("agent_seconds", lambda row: row.agent_seconds),
    ("files_read", lambda row: _files_read(row)),
    ("files_edited", lambda row: row.edited),
)


class Block(NamedTuple):
    """Of one model on one task in one mode; only valid runs enter what follows `infrastructure`.

    `score` is the sum of the scores; `used` has the total and the number of runs that tell it for
    each measure; `dated` runs are those of which it is known whether they are contaminated.
    """

    cell: Cell
    valid: tuple[Row, ...]
    missing: int
    infrastructure: int
    solved: int
    score: float
    non_deterministic: int
    possibly_contaminated: int
    dated: int
    used: tuple[tuple[float, int], ...]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Block":
        """The block of at least one row, in the order of runs."""
        valid = tuple(row for row in rows if row.state == "present")
        missing = sum(row.state == "missing" for row in rows)
        return cls(
            cell=rows[0].cell,
            valid=valid,
            missing=missing,
            infrastructure=len(rows) - len(valid) - missing,
            solved=sum(row.solved for row in valid),
            score=math.fsum(row.score or 0.0 for row in valid),
            non_deterministic=sum(row.non_deterministic for row in valid),
            possibly_contaminated=sum(row.possibly_contaminated is True for row in valid),
            dated=sum(row.possibly_contaminated is not None for row in valid),
            used=tuple(_used(valid, of) for _, of in _MEASURES),
        )

    @property
    def runs(self) -> int:
        """How many are valid."""
        return len(self.valid)


def together(blocks: Sequence[Block]) -> dict[str, Any]:
    """The figures that summaries and groups have in common, by the names of their fields."""
    valid = sum(block.runs for block in blocks)
    solved = sum(block.solved for block in blocks)
    scores = [Tally(block.score, block.runs) for block in blocks if block.runs]
    return {
        "tasks": len({block.cell.task_id for block in blocks}),
        "valid_runs": valid,
        "missing": sum(block.missing for block in blocks),
        "infrastructure": sum(block.infrastructure for block in blocks),
        "solved": solved,
        "pass_rate": share(solved, valid),
        "pass_rate_interval": rate_interval(solved, valid),
        "mean_score": rounded(mean_rate(scores)) if scores else None,
        "non_deterministic": sum(block.non_deterministic for block in blocks),
        "possibly_contaminated": sum(block.possibly_contaminated for block in blocks),
        "dated_runs": sum(block.dated for block in blocks),
        "effort": _effort(blocks),
    }


def rate_interval(successes: float, runs: int) -> Interval | None:
    """Wilson's; null without runs."""
    return ends(wilson(successes, runs)) if runs else None


def _effort(blocks: Sequence[Block]) -> Effort:
    columns = zip(*(block.used for block in blocks), strict=True)
    return Effort(
        **{name: _amount(column) for (name, _), column in zip(_MEASURES, columns, strict=True)}
    )


def _amount(parts: Iterable[tuple[float, int]]) -> Amount | None:
    totals, counts = zip(*parts, strict=True)
    runs, total = sum(counts), math.fsum(totals)
    return Amount(total=rounded(total), mean=rounded(total / runs), runs=runs) if runs else None


def _used(rows: Sequence[Row], of: Callable[[Row], float | None]) -> tuple[float, int]:
    known = [value for row in rows if (value := of(row)) is not None]
    return math.fsum(known), len(known)


def _files_read(row: Row) -> int | None:
    seen = row.trajectory
    return seen.files_read if seen is not None and seen.known else None
