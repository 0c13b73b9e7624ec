"""Why a suite or a test has no result: what its compiler, else its runner, wrote elsewhere."""

from dataclasses import replace
from pathlib import Path

from nanobench.model.signals import TestOutcome
from nanobench.scoring.diagnostics import diagnostics
from nanobench.verify import traces
from nanobench.verify.outputs import CommandOutput
from nanobench.verify.results import (
    DETAILS_LIMIT,
    Failure,
    ParsedResult,
    SuiteError,
    bounded,
    outcome,
)

COMPILE_ERROR = "CompileError"
_LAST_BYTES = 256 * 1024  # of an output, in which an error is looked for


def whole_error(language: str, output: CommandOutput, reason: str, root: str) -> SuiteError:
    """What a suite without usable results says of itself.

    That is what its compiler says, else its last exception, else the reason.
    """
    error = build_error(language, output) or _last_exception(output, reason)
    return ParsedResult((), (error,)).without(root).suite_errors[0]


def build_error(language: str, output: CommandOutput) -> SuiteError | None:
    """The compiler's errors in a command's output; None if there are none."""
    texts = (last_of(path) for path in (output.stderr, output.stdout))
    return next((error for text in texts if (error := of_build(language, text))), None)


def of_build(language: str, text: str) -> SuiteError | None:
    """The compiler's errors in a text as one error of the suite; None if it reports none.

    The message is the first error's own line. The details hold the errors whole, as many as fit,
    without what the build tool wrote around them.
    """
    found = diagnostics(language, text)
    if not found:
        return None
    kept: list[str] = []
    room = DETAILS_LIMIT
    for diagnostic in found:
        block = "\n".join(diagnostic.lines)
        room -= len(block) + 2
        if room < 0 and kept:
            break
        kept.append(block)
    return SuiteError(None, COMPILE_ERROR, found[0].lines[0].strip(), "\n\n".join(kept))


def last_of(path: Path) -> str:
    """The end of a file as text; hostile bytes are replaced."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - _LAST_BYTES))
            return stream.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _last_exception(output: CommandOutput, reason: str) -> SuiteError:
    texts = [last_of(path) for path in (output.stderr, output.stdout)]
    for text in texts:
        named = traces.of_output(text)
        if named is not None:
            return SuiteError(None, *named, bounded(text[-DETAILS_LIMIT:], DETAILS_LIMIT))
    said = next((text for text in texts if text.strip()), "")
    return SuiteError(None, None, reason, bounded(said[-DETAILS_LIMIT:], DETAILS_LIMIT))


def with_node_causes(parsed: ParsedResult, stdout: str, root: str) -> ParsedResult:
    """The result with the exceptions that Node's report leaves out."""
    suites = traces.of_node_suites(stdout)

    def lost(error: SuiteError) -> SuiteError:
        cause = traces.of_node_file(stdout, error.file) if error.file else None
        if cause is None:
            return error
        kind, message, text = cause
        details = bounded(text, DETAILS_LIMIT)
        return replace(error, type=kind, message=message, details=details)

    def cancelled(test: TestOutcome) -> TestOutcome:
        cause = next((s for s in suites if s.holds(test.id)), None)
        if test.status != "error" or cause is None:
            return test
        return outcome(
            test.id,
            test.status,
            test.duration_seconds,
            Failure(cause.type, cause.message, cause.text),
        )

    return ParsedResult(
        tuple(cancelled(test) for test in parsed.tests),
        tuple(lost(error) for error in parsed.suite_errors),
    ).without(root)
