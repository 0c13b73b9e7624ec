"""The long format: one row per run, missing ones included; its columns and their types."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from nanobench.model.record import Provenance
from nanobench.report.breakdown_document import TaskCard
from nanobench.report.document import Row
from nanobench.report.entries import Circumstances
from nanobench.report.pairing import Results
from nanobench.report.sheets import Value

Kind = Literal["text", "whole", "real", "truth"]
_BETWEEN = "; "


@dataclass(frozen=True)
class Run:
    """One cell: its row, its task, and under what circumstances it ran; null if it did not."""

    row: Row
    card: TaskCard
    under: Circumstances | None


class Column(NamedTuple):
    """A column, and what a run has in it; null is unknown."""

    name: str
    kind: Kind
    of: Callable[[Run], Value]


def runs(results: Results) -> Iterator[Run]:
    """Every cell in the order of the report."""
    cards = {card.task_id: card for card in results.report.tasks}
    for row in results.report.cells:
        yield Run(row, cards[row.cell.task_id], results.circumstances.get(row.cell_id))


def _row(name: str, kind: Kind) -> Column:
    return Column(name, kind, lambda run: getattr(run.row, name))


def _of_run(name: str, kind: Kind, get: Callable[[Row], Value]) -> Column:
    """Null for a missing run, of which nothing is known."""
    return Column(name, kind, lambda run: None if run.row.state == "missing" else get(run.row))


def _listed(name: str) -> Column:
    return Column(name, "text", lambda run: _BETWEEN.join(map(str, getattr(run.row, name))))


def _usage(name: str, kind: Kind) -> Column:
    return Column(name, kind, lambda run: getattr(run.row.usage, name))


def _seen(name: str, kind: Kind) -> Column:
    """Of the trajectory; null without a report of the agent's calls."""

    def of(run: Run) -> Value:
        seen = run.row.trajectory
        value: Value = getattr(seen, name) if seen is not None and seen.known else None
        return value

    return Column(name, kind, of)


def _facts(name: str, kind: Kind) -> Column:
    return Column(name, kind, lambda run: _of(run.card.facts, name))


def _ran(name: str, get: Callable[[Provenance], str]) -> Column:
    return Column(name, "text", lambda run: get(run.under.provenance) if run.under else None)


def _of(document: Any, name: str) -> Value:
    value: Value = None if document is None else getattr(document, name)
    return value


COLUMNS: tuple[Column, ...] = (
    _row("section", "text"),
    Column("provider", "text", lambda run: run.row.cell.model.provider),
    Column("model", "text", lambda run: run.row.cell.model.model),
    Column("task", "text", lambda run: run.row.cell.task_id),
    Column("mode", "text", lambda run: run.row.cell.mode),
    Column("run", "whole", lambda run: run.row.cell.run),
    _row("cell_id", "text"),
    _row("state", "text"),
    _row("attempt", "whole"),
    _row("score", "real"),
    _row("label", "text"),
    Column("solved", "truth", lambda run: run.row.solved if run.row.state == "present" else None),
    _row("category", "text"),
    _row("failure_mode", "text"),
    _row("rule", "whole"),
    _row("level", "text"),
    _row("reason", "text"),
    _row("observed_score", "real"),
    _of_run("targets_passed", "whole", lambda row: row.targets_passed),
    _of_run("targets", "whole", lambda row: row.targets),
    _of_run("regressions", "whole", lambda row: row.regressions),
    _of_run("files_edited", "whole", lambda row: row.edited),
    _of_run("required_edited", "whole", lambda row: len(row.required_edited)),
    _seen("files_read", "whole"),
    _seen("required_read", "whole"),
    _seen("required_files", "whole"),
    _seen("calls", "whole"),
    _seen("rereads", "whole"),
    _seen("loops", "whole"),
    _seen("unverified_claim", "truth"),
    _row("turns", "whole"),
    _usage("input_tokens", "whole"),
    _usage("output_tokens", "whole"),
    _usage("cost", "real"),
    _row("agent_seconds", "real"),
    _of_run("non_deterministic", "truth", lambda row: row.non_deterministic),
    _row("possibly_contaminated", "truth"),
    Column("tier", "whole", lambda run: run.card.tier),
    Column(
        "languages",
        "text",
        lambda run: _BETWEEN.join(run.card.facts.languages) if run.card.facts else None,
    ),
    _facts("domain", "text"),
    _facts("task_type", "text"),
    _facts("reasoning_category", "text"),
    _facts("token_estimate", "whole"),
    Column("token_density", "text", lambda run: run.card.token_density),
    Column(
        "merged_at",
        "text",
        lambda run: run.card.facts.merged_at.isoformat() if run.card.facts else None,
    ),
    Column("ruleset", "text", lambda run: run.under.ruleset if run.under else None),
    _ran("dataset", lambda found: found.dataset),
    _ran("nanocoder", lambda found: found.nanocoder),
    _ran("nanobench", lambda found: found.nanobench),
    _ran("node", lambda found: found.node),
    _ran("platform", lambda found: found.platform),
    _ran("sandbox", lambda found: found.isolation.sandbox),
    _ran("temperature", lambda found: found.temperature),
    _listed("flags"),
    _listed("infrastructure"),
    _listed("evidence"),
)
