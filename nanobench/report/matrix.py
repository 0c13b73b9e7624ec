"""The provider matrix (SPEC O1): provider, model, task, score, failure mode; for other programs."""

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import NonNegativeInt, PositiveInt

from nanobench.model.base import Document
from nanobench.report.document import FailureMode, Report, SectionKind, TaskResult
from nanobench.report.measures import Interval
from nanobench.report.sheets import Value, csv_text

MATRIX_SCHEMA_VERSION: Final = "1.0"
_HEADS = (
    "section",
    "provider",
    "model",
    "task",
    "mode",
    "tier",
    "runs",
    "solved",
    "missing",
    "infrastructure",
    "pass_rate",
    "pass_rate_low",
    "pass_rate_high",
    "mean_score",
    "mean_score_low",
    "mean_score_high",
    "pass_at_1",
    "not_compared",
    "failure_modes",
)


class MatrixEntry(Document):
    """One model on one task in one mode; the figures are those of the report."""

    section: SectionKind
    valid_runs: NonNegativeInt
    missing: NonNegativeInt
    infrastructure: NonNegativeInt
    solved: NonNegativeInt
    pass_rate_interval: Interval | None
    mean_score: float | None
    mean_score_interval: Interval | None
    pass_at_1: bool | None
    not_compared: str | None
    failure_modes: dict[FailureMode, PositiveInt]


_SHARED = tuple(name for name in MatrixEntry.model_fields if name != "section")


class Matrix(Document):
    """`matrix.json`: provider, model, task, mode."""

    schema_version: Literal["1.0"] = MATRIX_SCHEMA_VERSION
    providers: dict[str, dict[str, dict[str, dict[str, MatrixEntry]]]]


def matrix(report: Report) -> Matrix:
    """The matrix of all sections."""
    providers: dict[str, dict[str, dict[str, dict[str, MatrixEntry]]]] = {}
    for kind, result in _results(report):
        models = providers.setdefault(result.model.provider, {})
        tasks = models.setdefault(result.model.model, {})
        found = {name: getattr(result, name) for name in _SHARED}
        entry = MatrixEntry(section=kind, **found)
        tasks.setdefault(result.task_id, {})[result.mode] = entry
    return Matrix(providers=providers)


def matrix_csv(report: Report) -> str:
    """`matrix.csv`: one line per model, task and mode."""
    tiers = {card.task_id: card.tier for card in report.tasks}
    return csv_text(_HEADS, (_row(kind, r, tiers[r.task_id]) for kind, r in _results(report)))


def _results(report: Report) -> Iterator[tuple[SectionKind, TaskResult]]:
    for section in report.sections:
        for result in section.tasks:
            yield section.kind, result


def _row(kind: SectionKind, result: TaskResult, tier: int | None) -> list[Value]:
    runs = result.valid_runs
    return [
        kind,
        result.model.provider,
        result.model.model,
        result.task_id,
        result.mode,
        tier,
        runs,
        result.solved,
        result.missing,
        result.infrastructure,
        round(result.solved / runs, 6) if runs else None,
        *_ends(result.pass_rate_interval),
        result.mean_score,
        *_ends(result.mean_score_interval),
        result.pass_at_1,
        result.not_compared,
        "; ".join(f"{mode}: {count}" for mode, count in result.failure_modes.items()),
    ]


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)
