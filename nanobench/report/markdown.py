"""The report as a Markdown page that reads well on GitHub and in a terminal."""

from collections.abc import Iterator, Sequence

from nanobench.report.document import Report, Row, Section, Trajectory
from nanobench.report.escape import inert
from nanobench.report.figures import MERGED
from nanobench.report.markdown_breakdowns import breakdowns, efforts
from nanobench.report.markdown_scores import scores, shown_taxonomy
from nanobench.report.tables import NONE, listed, number, shortened, table

TITLES = {
    "models": "Models",
    "sample": "Models on the built-in sample task",
    "scripted": "Scripted models",
}
_ASIDE = {
    "models": "",
    "sample": "The sample task shows that everything works; it is no part of the dataset.",
    "scripted": "Scripted models behave instead of thinking: they check the instrument. "
    "They are not compared with real models.",
}
_RUNS_SHOWN = 200
_EVIDENCE_SHOWN = 3
_EVIDENCE_LIMIT = 160


def render_markdown(report: Report, verdict: Sequence[str] = ()) -> str:
    """Render the whole page; only `inert` text of others stands in it.

    Args:
        report: the results.
        verdict: blocks of Markdown to stand before them: what `comparison_blocks` says of these
            results and a baseline.
    """
    blocks: list[str] = ["# NanoBench report"]
    if verdict:
        blocks += [*verdict, "# These results"]
    blocks.append(_headline(report))
    blocks += listed("Problems", [inert(p, 400) for p in report.problems])
    for section in report.sections:
        blocks += _section(section, report.cells)
    blocks += _absent(report)
    blocks += listed("Notes", [inert(note, 400) for note in report.notes])
    blocks += _provenance(report)
    return "\n\n".join(blocks) + "\n"


def _headline(report: Report) -> str:
    present, missing = len(report.in_state("present")), len(report.in_state("missing"))
    infrastructure = len(report.in_state("infrastructure"))
    solved = sum(row.solved for row in report.in_state("present"))
    parts = [f"**{solved} of {present} graded runs solved**"]
    if missing:
        parts.append(f"**{missing} missing**")
    if infrastructure:
        parts.append(f"**{infrastructure} ended in infrastructure trouble** (not scored)")
    if report.problems:
        parts.append(f"**{len(report.problems)} unreadable**")
    names = [("ruleset", report.rulesets), ("dataset", report.datasets)]
    parts += [f"{what} {', '.join(map(inert, values))}" for what, values in names if values]
    return " · ".join(parts)


def _section(section: Section, cells: Sequence[Row]) -> Iterator[str]:
    yield f"## {TITLES[section.kind]}"
    if _ASIDE[section.kind]:
        yield _ASIDE[section.kind]
    yield from scores(section)
    yield from shown_taxonomy(section.taxonomy)
    yield from breakdowns(section)
    yield from efforts(section)
    rows = [row for row in cells if row.section == section.kind]
    if len(rows) > _RUNS_SHOWN:
        rows.sort(key=lambda row: row.solved)  # what went wrong is what is looked for
    yield "### Runs"
    yield from shortened(
        "run | score | label | category | rule | level | target tests | regressions | marks | "
        "evidence",
        rows,
        _run,
        _RUNS_SHOWN,
        "report.json; here the unsolved ones come first",
    )
    yield from _trajectories(rows)


def _run(row: Row) -> list[str]:
    name = _name(row)
    if row.state != "present":
        return [name, row.state, *[NONE] * 7, _evidence(row.infrastructure)]
    named = row.failure_mode if row.failure_mode == MERGED else row.category
    category = f"`{named}`" if named else NONE
    if row.reason:
        category += f" ({inert(row.reason)})"
    return [
        name,
        number(row.score),
        row.label or NONE,
        category,
        str(row.rule or NONE),
        row.level or NONE,
        f"{row.targets_passed}/{row.targets}",
        str(row.regressions),
        _marks(row),
        _evidence(row.evidence),
    ]


def _marks(row: Row) -> str:
    marks = (
        ("non-deterministic", row.non_deterministic),
        ("possibly contaminated", row.possibly_contaminated),
    )
    return ", ".join(name for name, holds in marks if holds) or NONE


def _name(row: Row) -> str:
    cell = row.cell
    return f"{inert(str(cell.model))} {inert(cell.task_id)} {cell.mode} run {cell.run}"


def _evidence(items: Sequence[str]) -> str:
    shown = [inert(item, _EVIDENCE_LIMIT) for item in items[:_EVIDENCE_SHOWN]]
    if len(items) > _EVIDENCE_SHOWN:
        shown.append(f"and {len(items) - _EVIDENCE_SHOWN} more in report.json")
    return "<br>".join(shown) or NONE


def _trajectories(rows: Sequence[Row]) -> Iterator[str]:
    told = [(row, row.trajectory) for row in rows if row.trajectory is not None]
    if not told:
        return
    yield "### Trajectories"
    yield from shortened(
        "run | calls | files read | required read | re-reads | loops | claims unverified success | "
        "used | network attempts | history attempts | pollution | edits not reported / not seen",
        told,
        lambda pair: _trajectory(*pair),
        _RUNS_SHOWN,
        "report.json",
    )
    yield "### Model or harness?"
    evident = [(row, seen) for row, seen in told if seen.harness or seen.model]
    if not evident:
        yield "No run shows signs of either."
        return
    yield from shortened(
        "run | points at the harness | points at the model",
        evident,
        lambda pair: [_name(pair[0]), _evidence(pair[1].harness), _evidence(pair[1].model)],
        _RUNS_SHOWN,
        "report.json",
    )
    yield "Signs, not judgements: they change no score, and some have either cause."


def _trajectory(row: Row, seen: Trajectory) -> list[str]:
    edits = [NONE if n is None else str(n) for n in (seen.unreported_edits, seen.unobserved_edits)]
    around = [str(seen.pollution), " / ".join(edits)]
    if not seen.known:
        return [_name(row), *[NONE] * 9, *around]
    return [
        _name(row),
        str(seen.calls),
        str(seen.files_read),
        f"{seen.required_read}/{seen.required_files}",
        str(seen.rereads),
        str(seen.loops),
        "yes" if seen.unverified_claim else "no",
        ", ".join(seen.used) or NONE,
        str(seen.network_attempts),
        str(seen.history_attempts),
        *around,
    ]


def _absent(report: Report) -> Iterator[str]:
    yield from listed("Missing runs", [inert(row.cell_id) for row in report.in_state("missing")])
    yield from listed(
        "Infrastructure trouble",
        [_trouble(row) for row in report.in_state("infrastructure")],
    )


def _trouble(row: Row) -> str:
    causes = [inert(cause, 400) for cause in (*row.infrastructure, *row.evidence)]
    named = f"{inert(row.cell_id)}, attempt {row.attempt}: {inert(row.reason or 'unknown cause')}"
    kept = "" if row.observed_score is None else f"; observed score {number(row.observed_score)}"
    return f"{named}{kept}" + "".join(f"\n  - {cause}" for cause in dict.fromkeys(causes))


def _provenance(report: Report) -> Iterator[str]:
    if report.provenance:
        yield "## Held in all runs"
        yield table(
            "what | value",
            ([f"`{name}`", inert(_flat(value))] for name, value in report.provenance.items()),
        )


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_flat(part)}" for key, part in value.items()) or NONE
    if isinstance(value, list):
        return ", ".join(map(_flat, value)) or NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unknown" if value is None else str(value)
