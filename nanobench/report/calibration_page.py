"""The calibration as a Markdown page and as lines for a terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nanobench.agent.scripted.behaviours import BEHAVIOURS
from nanobench.agent.scripted.labels import LABELS
from nanobench.report.calibration import Calibration, Check, Tally
from nanobench.report.escape import inert, plain

_INTRODUCTION = """Scripted models behave in known ways through the real Nanocoder; the real suites
judge what they leave. The label that each must get follows from the rules, and stands with its
reason in one table, `nanobench/agent/scripted/labels.py`. Each run is judged by every ruleset from
the same record. A label that differs, a score that differs, or a wrong reason is a miss.

    nanobench calibrate --tasks sample --out DIR

`scripts/generate-calibration DIR...` writes this page from such results, and judges them anew."""


def render_calibration(found: Calibration) -> str:
    """The page of docs/calibration.md."""
    blocks = ["# Calibration", _INTRODUCTION, _run(found)]
    for tally in found.tallies:
        blocks += _ruleset(tally, found.checks)
    blocks += ["## Misses", _misses(found.misses) if found.misses else "None."]
    blocks += list(_expectations(found))
    blocks += ["## Not applicable", _left_out(found)]
    return "\n\n".join(blocks) + "\n"


def terminal_lines(found: Calibration) -> Iterator[str]:
    """What a reader at a terminal needs: the confusion, every miss, what was not tried."""
    for tally in found.tallies:
        yield _headline(tally)
        for (wanted, label), count in _confusion(tally, found.checks).items():
            yield f"  {count:4}  {wanted} -> {label}"
        yield f"  never seen: {', '.join(tally.never_seen) or 'none'}"
    for check in found.misses:
        yield (
            f"MISS {check.task_id} {check.behaviour} {check.mode} {check.ruleset}: "
            f"expected {_either(check)}, {plain(check.problem or '')}"
        )
        yield f"  {check.because}"
        yield from (f"  {plain(line)}" for line in check.evidence)
        yield f"  cell {check.cell_id}"
    for one in found.not_applicable:
        yield f"not applicable: {one.task_id} {one.behaviour}: {plain(one.reason)}"


def _run(found: Calibration) -> str:
    tasks = dict.fromkeys(check.task_id for check in found.checks)
    lines = [f"Run on {found.ran_on or 'no day'}, tasks: {', '.join(map(inert, tasks))}."]
    versions = (f"{name} {', '.join(values)}" for name, values in found.versions.items())
    return "\n".join([*lines, f"Versions: {', '.join(versions)}."])


def _headline(tally: Tally) -> str:
    coverage = "none failed" if tally.coverage is None else f"{tally.coverage:.1%}"
    return (
        f"ruleset {tally.ruleset}: {tally.checks - tally.misses} of {tally.checks} labels right, "
        f"{tally.misses} {'miss' if tally.misses == 1 else 'misses'}; coverage of the taxonomy: "
        f"{coverage}"
    )


def _ruleset(tally: Tally, checks: Sequence[Check]) -> Iterator[str]:
    yield f"## Ruleset {tally.ruleset}"
    yield (
        f"{_headline(tally).partition(': ')[2]} of the failed runs. Labels seen: "
        f"{len(tally.seen)} of {len(LABELS)}; never: {', '.join(tally.never_seen) or 'none'}."
    )
    confusion = _confusion(tally, checks)
    columns = [label for label in LABELS if any(got == label for _, got in confusion)]
    columns += ["no record"] if any(got == "no record" for _, got in confusion) else []
    rows = (
        [wanted, *(str(confusion.get((wanted, got), "")) for got in columns)]
        for wanted in dict.fromkeys(wanted for wanted, _ in confusion)
    )
    yield _table(["expected \\ got", *columns], rows)


def _confusion(tally: Tally, checks: Sequence[Check]) -> dict[tuple[str, str], int]:
    pairs = Counter(
        (_either(check), check.label or "no record")
        for check in checks
        if check.ruleset == tally.ruleset
    )
    return dict(sorted(pairs.items(), key=lambda pair: _rank(pair[0])))


def _rank(pair: tuple[str, str]) -> tuple[int, str, int]:
    order = {label: index for index, label in enumerate(LABELS)}
    return order[pair[0].split(" or ")[0]], pair[0], order.get(pair[1], len(order))


def _misses(misses: Sequence[Check]) -> str:
    columns = ["task", "model", "mode", "ruleset", "expected", "problem", "evidence"]
    return _table(
        columns,
        (
            [
                inert(check.task_id),
                check.behaviour,
                check.mode,
                check.ruleset,
                _either(check),
                inert(check.problem or ""),
                "<br>".join(inert(line) for line in check.evidence),
            ]
            for check in misses
        ),
    )


def _expectations(found: Calibration) -> Iterator[str]:
    """One table for each task: what every model was called."""
    for task_id in dict.fromkeys(check.task_id for check in found.checks):
        yield f"## Task {inert(task_id)}"
        yield _table(
            ["model", "it", "mode", "ruleset", "label", "score", "rule", "reason", "because"],
            (
                [
                    check.behaviour,
                    BEHAVIOURS[check.behaviour].summary,
                    check.mode,
                    check.ruleset,
                    f"**miss:** {check.label}" if check.problem else str(check.label),
                    "" if check.score is None else f"{check.score:.1f}",
                    str(check.rule or ""),
                    inert(check.reason or ""),
                    check.because,
                ]
                for check in found.checks
                if check.task_id == task_id
            ),
        )


def _left_out(found: Calibration) -> str:
    if not found.not_applicable:
        return "Every model could play every task."
    return _table(
        ["task", "model", "reason"],
        ([inert(o.task_id), o.behaviour, inert(o.reason)] for o in found.not_applicable),
    )


def _either(check: Check) -> str:
    return " or ".join(check.expected)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
