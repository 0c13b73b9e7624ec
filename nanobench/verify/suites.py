"""Running the suites of a task and saying how each ended (SPEC X9, 6)."""

import shlex
import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from nanobench.errors import EnvironmentSetupError
from nanobench.model.record import CommandSummary
from nanobench.model.signals import SuiteState, TestOutcome
from nanobench.model.task import Suite, Task
from nanobench.verify.adapters import Adapted, adapt
from nanobench.verify.failures import build_error, last_of, whole_error, with_node_causes
from nanobench.verify.formats import parse
from nanobench.verify.outputs import CommandOutput, Finished, OutputStore
from nanobench.verify.results import ParsedResult, ParseError, SuiteError
from nanobench.workspace.teardown import remove_tree

_SHELL_SIGNAL = 128  # a shell reports a child that a signal killed as 128 + signal
_PYTEST_INTERNAL_ERROR = 3
_PYTEST_NO_TESTS = 5  # also if every module skips itself


class RoomResult(Finished, Protocol):
    """How a command in a room ended."""

    @property
    def launched(self) -> bool:
        """False when the sandbox itself failed, so that the command never ran."""


class Room(Protocol):
    """What running suites needs of an environment's room."""

    @property
    def workspace(self) -> str:
        """The tree, as commands see it."""

    @property
    def run_path(self) -> str:
        """The run directory, as commands see it."""

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] = {},
        timeout_seconds: float,
        stdout: Path,
        stderr: Path,
        network: Literal["host", "none"],
    ) -> RoomResult:
        """Run a command; `cwd` is relative to the workspace."""


@dataclass(frozen=True)
class SuiteRun:
    """One suite that was run: how it ended, its tests, and the errors that belong to none."""

    suite: Suite
    state: SuiteState
    removed_options: tuple[str, ...]
    tests: tuple[TestOutcome, ...]
    errors: tuple[SuiteError, ...]
    summary: CommandSummary

    @property
    def exit_code(self) -> int | None:
        """Of the test command; negative if a signal killed it."""
        return self.summary.exit_code

    @property
    def duration_seconds(self) -> float:
        """Of the test command."""
        return self.summary.duration_seconds


@dataclass(frozen=True)
class Purpose:
    """Why suites are run: `label` begins the ids of their outputs, `only` chooses by name."""

    label: str = "suite"
    only: Collection[str] | None = None


def run_suites(
    room: Room, task: Task, run_dir: Path, outputs: OutputStore, purpose: Purpose = Purpose()
) -> tuple[SuiteRun, ...]:
    """Run the suites in order, each as `sh -c` in the room, and read their result files.

    Args:
        room: an open room over the verification tree.
        task: gives the suites, their environment and their network policy.
        run_dir: the room's run directory on this machine; results appear in it.
        outputs: receives the whole outputs as `<label>-<suite name>`.
        purpose: which suites, and the label.

    Raises:
        InvalidInputError: a command is opaque, or a format is unknown.
        EnvironmentSetupError: the sandbox could not start a command.
        StateError: an output cannot be stored.
    """
    chosen = [s for s in task.all_suites() if purpose.only is None or s.name in purpose.only]
    adapted = [adapt(suite, f"{room.run_path}/{_result_name(suite)}") for suite in chosen]
    return tuple(
        _run(room, task, plan, _Files(run_dir / _result_name(plan.suite), outputs, purpose.label))
        for plan in (_Plan(suite, command) for suite, command in zip(chosen, adapted, strict=True))
    )


def _result_name(suite: Suite) -> str:
    return f"results-{suite.name}"


@dataclass(frozen=True)
class _Plan:
    suite: Suite
    adapted: Adapted

    def script(self, workspace: str) -> str:
        """The command; a result file of the task's own is fetched from the workspace after it.

        The room copies it, not this process: a link to elsewhere leads nowhere in there.
        """
        own = self.suite.result_path
        if own is None:
            return self.adapted.script()
        source = shlex.quote(f"{workspace}/{own}")
        target = shlex.quote(self.adapted.result_path)
        copy = f"cp -RH -- {source} {target} 2>/dev/null"
        return replace(self.adapted, before=f"rm -rf -- {source}", after=copy).script()


@dataclass(frozen=True)
class _Files:
    result: Path
    outputs: OutputStore
    label: str


def _run(room: Room, task: Task, plan: _Plan, files: _Files) -> SuiteRun:
    suite = plan.suite
    remove_tree(files.result)  # an earlier suite may have left one to be believed
    output_id = f"{files.label}-{suite.name}"
    with files.outputs.spool(output_id) as (stdout, stderr):
        result = room.run(
            ("/bin/sh", "-c", plan.script(room.workspace)),
            cwd=suite.cwd,
            env={**task.environment.env, **suite.env},
            timeout_seconds=suite.timeout_seconds,
            stdout=stdout,
            stderr=stderr,
            network=task.environment.network.verify,
        )
        if not result.launched:
            raise EnvironmentSetupError(
                f"suite {suite.name!r} could not be started",
                where=f"sandbox: {last_of(stderr).strip()[-500:] or 'no message'}",
                remedy="run `nanobench doctor`",
            )
        output = CommandOutput(suite.command, result, stdout, stderr)
        summary = files.outputs.store(output_id, output)
        ending = _read_ending(plan, room.workspace, files.result, output)
    parsed = ending.parsed.without(room.run_path)
    return SuiteRun(
        suite=suite,
        state=ending.state,
        removed_options=plan.adapted.removed_options,
        tests=parsed.tests,
        errors=parsed.suite_errors,
        summary=summary,
    )


@dataclass(frozen=True)
class _Ending:
    state: SuiteState
    parsed: ParsedResult


def _read_ending(plan: _Plan, root: str, result: Path, output: CommandOutput) -> _Ending:
    parsed, unreadable = _parse(plan.adapted, result, root)
    ended = _ended_badly(plan, output.result, parsed, unreadable)
    if ended is not None:
        state, reason = ended
        tests = parsed.tests if parsed else ()
        errors = parsed.suite_errors if parsed else ()
        whole = whole_error(plan.suite.language, output, reason, root)
        return _Ending(state, ParsedResult(tests, (*errors, whole)))
    assert parsed is not None  # noqa: S101 - without a result a suite ended badly
    if plan.adapted.runner == "node":
        parsed = with_node_causes(parsed, last_of(output.stdout), root)
    parsed = _with_build(plan.suite.language, output, parsed, root)
    agrees = (output.result.exit_code == 0) != _has_failures(parsed)
    return _Ending("ok" if agrees else "inconsistent", parsed)


def _parse(
    adapted: Adapted, result: Path, root: str
) -> tuple[ParsedResult | None, ParseError | None]:
    try:
        return parse(adapted.format, result, root), None
    except FileNotFoundError:
        return None, None
    except ParseError as error:
        return None, error


def _ended_badly(
    plan: _Plan, result: Finished, parsed: ParsedResult | None, unreadable: ParseError | None
) -> tuple[SuiteState, str] | None:
    """The state, and why in a phrase, of a suite whose results do not stand for the whole."""
    code = result.exit_code
    if result.timed_out:
        return "timed_out", f"the suite ran longer than {plan.suite.timeout_seconds} s"
    killed_by = _signal(code)
    if killed_by is not None and not _counts_failures(code, parsed):
        return "crashed", f"the suite was killed by {killed_by}"
    if parsed is None:
        if unreadable is not None and not (unreadable.truncated and code != 0):
            return "malformed_result", str(unreadable)
        if code != 0:
            said = "only a part of its results" if unreadable else "no results"
            return "crashed", f"the suite exited with {code} and wrote {said}"
        return "no_result", "the suite exited with 0 and wrote no results"
    if plan.adapted.runner == "pytest" and code == _PYTEST_INTERNAL_ERROR:
        return "crashed", "pytest had an internal error"
    none = plan.adapted.runner == "pytest" and code == _PYTEST_NO_TESTS
    if none or (not parsed.tests and not parsed.suite_errors):
        return "nothing_collected", "the suite ran no tests"
    return None


def _has_failures(parsed: ParsedResult) -> bool:
    failed = any(test.status in ("failed", "error") for test in parsed.tests)
    return failed or bool(parsed.suite_errors)


def _counts_failures(code: int | None, parsed: ParsedResult | None) -> bool:
    """Whether an exit code is the number of failures, as of Mocha and of Perl's tests."""
    if parsed is None:
        return False
    failed = sum(test.status in ("failed", "error") for test in parsed.tests)
    return code == failed + len(parsed.suite_errors)


def _signal(code: int | None) -> str | None:
    """The name of the signal that ended a command; null if none did."""
    number = None
    if code is not None and code < 0:
        number = -code
    elif code is not None and _SHELL_SIGNAL < code <= _SHELL_SIGNAL + max(signal.valid_signals()):
        number = code - _SHELL_SIGNAL
    if number is None:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _with_build(
    language: str, output: CommandOutput, parsed: ParsedResult, root: str
) -> ParsedResult:
    """The result of a part of the suite, with why the build of another part failed."""
    if output.result.exit_code == 0 or parsed.suite_errors:
        return parsed
    error = build_error(language, output)
    return replace(parsed, suite_errors=(error,)).without(root) if error else parsed
