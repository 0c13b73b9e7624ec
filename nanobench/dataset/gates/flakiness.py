"""The flakiness gate: every test does the same in every run, at base and at the golden state."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from nanobench.dataset.gates.findings import Findings
from nanobench.dataset.gates.states import Runs, State
from nanobench.verify.expected import some

RUNS = 3
"""Of each state (SPEC 11); the verification gate's own is the first."""
_ABSENT = "absent"
_REMEDY = (
    "leave the test out of the suite's command, or pin what it depends on (time, random numbers, "
    "order, ports, network); a task with a flaky target is not taken"
)
_UNRUN = "make the suite run first; the verification gate tells how it ended"


def flakiness_gate(states: Mapping[State, Sequence[Runs]], findings: Findings) -> None:
    """Compare the runs of each state, suite by suite and test by test.

    At base a suite need not come to results (its golden tests may not compile); at the golden
    state, one that never does leaves nothing to compare, and the gate was not run.
    """
    for state, repeats in states.items():
        for suites in zip(*repeats, strict=True):
            name = suites[0].suite.name
            endings = [f"{run.state}, exit code {run.exit_code}" for run in suites]
            if len(set(endings)) > 1:
                findings.add(
                    "suites", f"{state}: suite {name} ended as: {'; '.join(endings)}", _REMEDY
                )
            outcomes = [{test.id: test.status for test in run.tests} for run in suites]
            if state == "golden" and not any(outcomes):
                findings.has_nothing(
                    "suites", f"golden: suite {name} gave no results to compare", _UNRUN
                )
            _compare(f"{state}: suite {name}", outcomes, findings)


def _compare(where: str, outcomes: Sequence[Mapping[str, str]], findings: Findings) -> None:
    seen: dict[str, list[str]] = defaultdict(list)
    for test in sorted({test for run in outcomes for test in run}):
        results = [run.get(test, _ABSENT) for run in outcomes]
        if len(set(results)) > 1:
            seen[", ".join(results)].append(test)
    for told, tests in sorted(seen.items()):
        findings.add(
            "suites",
            f"{where}: {len(tests)} tests change from run to run ({told}): {some(tests)}",
            _REMEDY,
        )
