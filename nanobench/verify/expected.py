"""Which tests must pass: the base state with golden tests, compared with the golden state."""

from collections.abc import Sequence

from nanobench.errors import GateError
from nanobench.model.record import CommandSummary
from nanobench.model.task import Expected
from nanobench.model.text import clean
from nanobench.verify.failures import COMPILE_ERROR
from nanobench.verify.ids import unstable_ids
from nanobench.verify.results import LINE_LIMIT
from nanobench.verify.suites import SuiteRun

_LISTED = 5
_LAST_LINES = 4
_FAILED = ("failed", "error")
REMEDY = "check the suites' commands, the test files and the environment of the task"


class UntoldError(GateError):
    """The two states are not told apart as they must be; `reasons` are why, one each."""

    reasons: tuple[str, ...] = ()


def compute_expected(base: Sequence[SuiteRun], golden: Sequence[SuiteRun]) -> Expected:
    """Fail-to-pass: passed at golden, not at base. Pass-to-pass: passed at both.

    Args:
        base: all suites on the base source with the golden test files.
        golden: the same suites on the golden state.

    Raises:
        UntoldError: the golden state does not pass as a whole, a suite at base does not come to
            results, ids change from run to run, or no test tells the two states apart. It names
            every reason. At base a suite may fail to compile: then none of its tests passes.
    """
    reasons = [reason for run in golden for reason in _golden_problems(run)]
    reasons += [f"base: {_state(run)}" for run in base if run.state != "ok" and not _unbuilt(run)]
    reasons += _unstable(base, golden)
    at_base = {run.suite.name: _passed(run) for run in base}
    at_golden = {run.suite.name: _passed(run) for run in golden}
    if set(at_base) != set(at_golden):
        raise ValueError("base and golden runs are of different suites")
    expected = Expected(
        fail_to_pass={n: tuple(sorted(ids - at_base[n])) for n, ids in sorted(at_golden.items())},
        pass_to_pass={n: tuple(sorted(ids & at_base[n])) for n, ids in sorted(at_golden.items())},
    )
    if not reasons and not any(expected.fail_to_pass.values()):
        always = sum(map(len, expected.pass_to_pass.values()))
        reasons.append(
            f"no test fails at base and passes at the golden state; {always} pass at both"
        )
    if reasons:
        error = UntoldError("verification gate failed", where="; ".join(reasons), remedy=REMEDY)
        error.reasons = tuple(reasons)
        raise error
    return expected


def _golden_problems(run: SuiteRun) -> list[str]:
    failed = sorted(test.id for test in run.tests if test.status in _FAILED)
    problems = []
    if run.state != "ok" or (run.exit_code != 0 and not failed and not run.errors):
        problems.append(f"golden: {_state(run)}")
    if failed:
        problems.append(f"golden: suite {run.suite.name}: {len(failed)} fail: {some(failed)}")
    if run.state == "ok" and run.errors:
        lines = [error.line() for error in run.errors]
        problems.append(f"golden: suite {run.suite.name}: {some(lines)}")
    return problems


def _unstable(base: Sequence[SuiteRun], golden: Sequence[SuiteRun]) -> list[str]:
    """Suites with ids that hold an address or the like and that only one of the two states has."""
    at_base = {run.suite.name: {test.id for test in run.tests} for run in base}
    problems = []
    for run in golden:
        name = run.suite.name
        ids = {test.id for test in run.tests if test.status == "passed"}
        found = unstable_ids(ids - at_base.get(name, set()))
        if found:
            problems.append(f"suite {name}: {len(found)} ids change with every run: {some(found)}")
    return problems


def _unbuilt(run: SuiteRun) -> bool:
    """Whether a suite has no results because golden tests do not compile with the base source."""
    return run.state == "crashed" and any(error.type == COMPILE_ERROR for error in run.errors)


def _state(run: SuiteRun) -> str:
    said = f" ({run.errors[-1].line()})" if run.errors else ""
    if run.state == "inconsistent" and run.tests:
        failed = sum(test.status in _FAILED for test in run.tests)
        said += f" although {failed or 'none'} of {len(run.tests)} tests failed"
    last = _last_words(run.summary) if run.state == "inconsistent" or not run.tests else ""
    ended = f"; its output ends: {last}" if last else ""
    return f"suite {run.suite.name}: {run.state}, exit code {run.exit_code}{said}{ended}"


def _last_words(summary: CommandSummary) -> str:
    lines = [line.strip() for line in f"{summary.head}\n{summary.tail}".splitlines()]
    last = " / ".join([line for line in lines if line][-_LAST_LINES:])
    return clean(last[-LINE_LIMIT:])


def some(items: Sequence[str], most: int = _LISTED) -> str:
    """The first of `items`, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _passed(run: SuiteRun) -> set[str]:
    return {test.id for test in run.tests if test.status == "passed"}
