"""What the gates found, as Markdown: which failed, what was seen, how to put it right."""

from collections.abc import Iterator

from nanobench.model.gate import GateOutcome, GateProblem, GateResult, TaskGates
from nanobench.report.budget import Part
from nanobench.report.escape import inert
from nanobench.report.tables import NONE, table

_STATUS = {"passed": "passed", "failed": "**failed**", "not_run": "**not run**"}
_SEEN_WIDTH = 400
_PROBLEMS_SHOWN = 20


def gate_parts(result: GateResult) -> list[Part]:
    """A head that never goes, the table, and the problems of each task; the last tasks go first."""
    failed = [task for task in result.tasks if not task.passed]
    parts = [Part("verdict", _head(result, failed))]
    if result.tasks:
        parts.append(Part("table of gates", _overview(result), len(result.tasks)))
    for number, task in enumerate(result.tasks):
        text = "\n\n".join(_problems(task))
        if text:
            parts.append(Part(f"problems of {inert(task.task, 20)}", text, -number))
    return parts


def _head(result: GateResult, failed: list[TaskGates]) -> str:
    if not result.tasks:
        return "## NanoBench gates: nothing to gate\n\nNo task file was changed."
    if not failed:
        return f"## NanoBench gates: all {len(result.tasks)} passed"
    names = ", ".join(inert(task.task, 60) for task in failed[:5])
    more = f" and {len(failed) - 5} more" if len(failed) > 5 else ""
    return (
        f"## NanoBench gates: {len(failed)} of {len(result.tasks)} did not pass\n\n{names}{more}. "
        "A gate that was not run has not passed."
    )


def _overview(result: GateResult) -> str:
    names = list(dict.fromkeys(gate.gate for task in result.tasks for gate in task.gates))
    rows = []
    for task in result.tasks:
        status = {gate.gate: _STATUS[gate.status] for gate in task.gates}
        rows.append([inert(task.task, 60), *(status.get(name, NONE) for name in names)])
    return table(" | ".join(["task", *(name.replace("_", " ") for name in names)]), rows)


def _problems(task: TaskGates) -> Iterator[str]:
    told = [gate for gate in task.gates if gate.status != "passed" or gate.problems]
    if not told:
        return
    yield f"### {inert(task.task, 60)}"
    for gate in told:
        yield "\n".join(_gate(gate))


def _gate(gate: GateOutcome) -> Iterator[str]:
    yield f"**{gate.gate.replace('_', ' ')}**: {gate.status.replace('_', ' ')}"
    yield ""
    for problem in gate.problems[:_PROBLEMS_SHOWN]:
        yield from _problem(problem)
    if len(gate.problems) > _PROBLEMS_SHOWN:
        yield f"- and {len(gate.problems) - _PROBLEMS_SHOWN} more"


def _problem(problem: GateProblem) -> Iterator[str]:
    place = ": ".join(inert(text, 120) for text in (problem.file, problem.field) if text)
    level = "" if problem.severity == "error" else f" ({problem.severity})"
    yield f"- {place}{level}: {inert(problem.seen, _SEEN_WIDTH)}"
    yield f"  - to do: {inert(problem.remedy, _SEEN_WIDTH)}"
