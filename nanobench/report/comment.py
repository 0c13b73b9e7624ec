"""The results as one comment on a pull request, and as the summary of a job.

The verdict stands first. A comment has a limit: the parts that a reader can do without go first,
and what is left out is named.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from nanobench.report.budget import Part
from nanobench.report.comment_tables import (
    failing,
    matrix,
    models,
    navigation,
    taxonomies,
    titled,
    varied,
)
from nanobench.report.comparison_document import Comparison
from nanobench.report.document import CellState, Report, Row
from nanobench.report.escape import inert, plain
from nanobench.report.tables import estimated

VERDICTS = {
    "regression": "regression",
    "improvement": "improvement",
    "not distinguishable from noise": "not distinguishable from noise",
    "not comparable": "not comparable with the baseline",
}
SHED_ORDER = (
    "notes",
    "what varied",
    "navigation delta",
    "failing tasks",
    "runs without a score",
    "matrix",
    "failure taxonomy",
    "models",
)
"""The parts of a comment that can go, in the order in which they go."""

_URL = re.compile(r"https?://[^\s<>()\[\]\"'`|]{1,500}")
_STATES: dict[CellState, str] = {
    "missing": "missing",
    "infrastructure": "ended in infrastructure trouble",
}
_NAMED = 3
_LISTED = 15
_NAME_WIDTH = 60


@dataclass(frozen=True)
class Links:
    """What a comment points to; what is empty is left out."""

    commit: str = ""
    run_url: str = ""
    report_url: str = ""


def comment_parts(report: Report, comparison: Comparison | None, links: Links) -> list[Part]:
    """The parts of a comment, in its order; foreign text in them is inert."""
    texts = {
        "models": _joined(models(report, comparison)),
        "matrix": _joined(matrix(report, comparison)),
        "failure taxonomy": _joined(taxonomies(report, comparison)),
        "runs without a score": _absent(report),
        "failing tasks": _joined(failing(report)),
        "navigation delta": _joined(navigation(report)),
        "what varied": _joined(varied(comparison)),
        "notes": _notes(report, comparison),
    }
    head = _joined(_head(report, comparison, links))
    sheds = {name: number for number, name in enumerate(SHED_ORDER)}
    return [
        Part("verdict", head),
        *(Part(name, text, sheds[name]) for name, text in texts.items()),
        Part("provenance", _provenance(report, links)),
    ]


def pointer(links: Links) -> str:
    """Where everything can be found, as Markdown."""
    found = [("full report", links.report_url), ("job", links.run_url)]
    shown = [f"[{name}]({url})" for name, url in found if _URL.fullmatch(url)]
    return f"Everything: {', '.join(shown)}." if shown else "Everything is in report.md."


def headline(report: Report, comparison: Comparison | None) -> str:
    """The verdict in one line of plain words."""
    solved, present = sum(row.solved for row in report.cells), len(report.in_state("present"))
    told = f"{solved} of {present} graded runs solved" if present else "no run has a score"
    if comparison is None:
        return told
    return f"{VERDICTS[comparison.verdict]}; {told}"


def incomplete(report: Report) -> dict[CellState, int]:
    """How many cells have no score, by what became of them."""
    counts = Counter(row.state for row in report.cells if row.state != "present")
    return dict(sorted(counts.items()))


def _head(report: Report, comparison: Comparison | None, links: Links) -> Iterator[str]:
    line = headline(report, comparison)
    yield f"## NanoBench: {line}"
    if comparison is None:
        yield "There is no baseline: this is a first run, compared with nothing."
    else:
        yield _changed(comparison) if comparison.changes else "There is nothing to compare."
    states = [f"**{count} {_STATES[state]}**" for state, count in incomplete(report).items()]
    if states:
        yield f"{' · '.join(states)}, of {len(report.cells)} planned runs: not scored."
    yield pointer(links)


def _changed(comparison: Comparison) -> str:
    told = [
        f"- {VERDICTS[wide.verdict]}, all models {wide.mode}: "
        f"{estimated(wide.before)} before, {estimated(wide.after)} now"
        for wide in comparison.overall
    ]
    for verdict, words in VERDICTS.items():
        own = [change for change in comparison.changes if change.verdict == verdict]
        names = [f"{inert(str(c.model), _NAME_WIDTH)} {c.mode}" for c in own[:_NAMED]]
        more = f" and {len(own) - _NAMED} more" if len(own) > _NAMED else ""
        if own:
            told.append(f"- {words} ({len(own)}): {', '.join(names)}{more}")
    return "\n".join(["Against the baseline, by model and mode:", "", *told])


def _absent(report: Report) -> str:
    rows = [row for row in report.cells if row.state != "present"]
    if not rows:
        return ""
    lines = [f"- {_cause(row)}" for row in rows[:_LISTED]]
    if len(rows) > _LISTED:
        lines.append(f"- and {len(rows) - _LISTED} more")
    return titled("Runs without a score", "\n".join(lines))


def _cause(row: Row) -> str:
    name = inert(row.cell_id, 120)
    if row.state == "missing":
        return f"{name}: missing, its job left no record"
    causes = [inert(cause, 160) for cause in (row.reason, *row.infrastructure[:1]) if cause]
    return f"{name}: infrastructure trouble, {'; '.join(causes) or 'unknown cause'}"


def _notes(report: Report, comparison: Comparison | None) -> str:
    present = report.in_state("present")
    loose = sum(row.non_deterministic for row in present)
    notes = []
    if loose:
        notes.append(
            f"{loose} of {len(present)} runs are non-deterministic: their temperature could not "
            "be pinned to 0."
        )
    notes += _cautions(comparison) if comparison else []
    left_out = _left_out(comparison) if comparison else []
    notes += left_out[:_LISTED]
    if len(left_out) > _LISTED:
        notes.append(f"and {len(left_out) - _LISTED} more that are not compared")
    foreign = (*report.notes, *report.problems)
    notes += [inert(note, 300) for note in foreign[:_LISTED]]
    if len(foreign) > _LISTED:
        notes.append(f"and {len(foreign) - _LISTED} more")
    return titled("Notes", "\n".join(f"- {note}" for note in notes)) if notes else ""


def _cautions(comparison: Comparison) -> list[str]:
    return [
        f"{inert(str(change.model), _NAME_WIDTH)} {change.mode}: {change.caution}."
        for change in comparison.changes
        if change.caution
    ]


def _left_out(comparison: Comparison) -> list[str]:
    return [
        f"Not compared: {inert(str(change.model), _NAME_WIDTH)} {change.mode}: {inert(reason, 300)}"
        for change in comparison.changes
        for reason in change.reasons
    ]


def _provenance(report: Report, links: Links) -> str:
    held = [("commit", links.commit[:12])]
    held += [(name, str(report.provenance.get(name) or "")) for name in ("nanocoder", "nanobench")]
    held += [("ruleset", ", ".join(report.rulesets)), ("dataset", ", ".join(report.datasets))]
    told = " · ".join(f"{name} {inert(value, 60)}" for name, value in held if plain(value))
    return f"<sub>{told}</sub>" if told else ""


def _joined(blocks: Iterator[str]) -> str:
    return "\n\n".join(blocks)
