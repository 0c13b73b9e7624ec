"""Suites after the agent's work, held against what the gate expects (SPEC 6)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nanobench.errors import InvalidInputError
from nanobench.model.signals import SuiteSignals, SuiteState, TestOutcome, VerificationSignals
from nanobench.model.task import Expected, Task
from nanobench.scoring.symptoms import find_symptoms
from nanobench.verify.results import DETAILS_LIMIT, MESSAGE_LIMIT, SuiteError, bounded
from nanobench.verify.suites import SuiteRun
from nanobench.verify.symbols import SymbolContext, complete

Control = Callable[[str], SuiteRun]
"""Runs the suite of this name once on the golden state."""

_NEEDS_CONTROL: frozenset[SuiteState] = frozenset(
    {"crashed", "timed_out", "no_result", "nothing_collected", "malformed_result"}
)

_ERRORS_SHOWN = 50


@dataclass(frozen=True)
class Assessment:
    """Signals of each suite, and what went wrong outside agent and model."""

    suites: tuple[SuiteSignals, ...]
    infrastructure: tuple[str, ...]


def expected_of(task: Task) -> Expected:
    """What the gate found out about the task's tests.

    Raises:
        InvalidInputError: the task has not been through its gate, or has no target tests.
    """
    if task.expected is None or not any(task.expected.fail_to_pass.values()):
        raise InvalidInputError(
            f"task {task.task_id} cannot be scored: it does not say which tests must pass",
            where="task.expected",
            remedy=f"run its gate: nanobench task gate {task.task_id}",
        )
    return task.expected


def assess(task: Task, runs: Sequence[SuiteRun], control: Control) -> Assessment:
    """Compare what ran with what is expected.

    A suite that crashed, timed out or wrote no usable result is run once on the golden state.
    If that passes, the agent's targets there failed with the suite's error; if not, the cause
    is infrastructure.

    Args:
        task: with `expected`.
        runs: of all suites of the task, on the agent's tree.
        control: called at most once per suite.

    Raises:
        InvalidInputError: the task has no `expected`.
    """
    expected = expected_of(task)
    suites, infrastructure = [], []
    for run in runs:
        signals = _suite(run, expected)
        if run.state in _NEEDS_CONTROL:
            passed = _passes(control(run.suite.name), expected)
            signals = signals.model_copy(update={"control": "passed" if passed else "failed"})
            if not passed:
                infrastructure.append(f"suite {run.suite.name}: {run.state}, golden state as well")
        suites.append(signals)
    return Assessment(tuple(suites), tuple(infrastructure))


def _suite(run: SuiteRun, expected: Expected) -> SuiteSignals:
    name = run.suite.name
    by_id = {test.id: test for test in run.tests}
    whole = run.errors[-1] if run.state in _NEEDS_CONTROL else None
    targets = tuple(
        _with_error(test_id, whole, "error") if whole else _outcome(test_id, by_id, run.errors)
        for test_id in expected.fail_to_pass.get(name, ())
    )
    kept = (_outcome(i, by_id, run.errors) for i in expected.pass_to_pass.get(name, ()))
    return SuiteSignals(
        name=name,
        language=run.suite.language,
        state=run.state,
        exit_code=run.exit_code,
        duration_seconds=run.duration_seconds,
        removed_options=run.removed_options,
        targets=targets,
        regressions=tuple(test for test in kept if test.status != "passed"),
        counts=dict(sorted(Counter(test.status for test in run.tests).items())),
        suite_errors=_lines(run.errors),
        output_id=run.summary.output_id,
    )


def _lines(errors: Sequence[SuiteError]) -> tuple[str, ...]:
    """One line for each error; of very many, the first ones and how many more there are."""
    lines = [error.line() for error in errors[:_ERRORS_SHOWN]]
    more = len(errors) - _ERRORS_SHOWN
    return (*lines, f"and {more} more") if more > 0 else tuple(lines)


def _outcome(
    test_id: str, by_id: dict[str, TestOutcome], errors: Sequence[SuiteError]
) -> TestOutcome:
    """The test as it ended; if it never ran, with the error that took its file away.

    Vitest calls the tests skipped that a failed hook of their file kept from running.
    """
    found = by_id.get(test_id)
    unexplained = found is not None and found.status == "skipped" and not found.message
    if found is not None and not unexplained:
        return found
    for error in errors:
        if error.concerns(test_id) and (error.file or not unexplained):
            return _with_error(test_id, error, "missing")
    return found or TestOutcome(id=test_id, status="missing")


def _with_error(test_id: str, error: SuiteError, status: str) -> TestOutcome:
    return TestOutcome.model_validate(
        {
            "id": test_id,
            "status": status,
            "error_type": error.type,
            "message": bounded(error.message, MESSAGE_LIMIT),
            "details": bounded(error.details, DETAILS_LIMIT),
        }
    )


def _passes(run: SuiteRun, expected: Expected) -> bool:
    """Whether a run is what the gate saw of the golden state."""
    passed = {test.id for test in run.tests if test.status == "passed"}
    name = run.suite.name
    wanted = {*expected.fail_to_pass.get(name, ()), *expected.pass_to_pass.get(name, ())}
    return run.state == "ok" and run.exit_code == 0 and wanted <= passed


def verification_signals(assessment: Assessment, context: SymbolContext) -> VerificationSignals:
    """The signals of a verification that took place, with the symptoms of its failed targets."""
    found = [
        symptom
        for suite in assessment.suites
        for symptom in find_symptoms(suite.language, suite.name, suite.targets)
    ]
    found.sort(key=lambda raw: (raw.kind != "missing_symbol", -len(raw.test_ids), raw.test_ids))
    return VerificationSignals(
        possible=True, suites=assessment.suites, symptoms=complete(found, context)
    )
