"""A test that must fail, put beside the real ones: does the runner still say so?

Product code runs in the process of its tests and can replace what the runner or an assertion
does. Then nothing that the suite says can be relied upon. The test's name is a hash of the golden
tests, which no agent has seen, so that no product code can make an exception of it.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nanobench.verify.adapters import adapt
from nanobench.verify.results import SuiteError
from nanobench.verify.suites import SuiteRun
from nanobench.workspace.changes import Change

Label = Literal["canary", "canary-golden"]
_PYTHON = (b".py",)
_JAVASCRIPT = (b".js", b".mjs", b".cjs", b".jsx", b".ts", b".mts", b".cts", b".tsx")
_PYTEST = "\n\ndef test_{name}():\n    assert 1 == 2\n"
_NODE_MODULE = (
    '\nimport {name}_test from "node:test";\nimport {name}_assert from "node:assert/strict";\n'
    '{name}_test("{name}", () => {{ {name}_assert.equal(1, 2); }});\n'
)
_NODE_SCRIPT = (
    '\nrequire("node:test")("{name}", () => {{ require("node:assert/strict").equal(1, 2); }});\n'
)
_VITEST = (
    '\nimport {{ expect as {name}_expect, test as {name}_test }} from "vitest";\n'
    '{name}_test("{name}", () => {{ {name}_expect(1).toBe(2); }});\n'
)
_JEST = '\ntest("{name}", () => {{ expect(1).toBe(2); }});\n'
_UNRELIABLE = (
    "a test that fails was not reported as failed: the code under test changes what its runner says"
)


@dataclass(frozen=True)
class Canary:
    """The failing test of one suite: its name, and the golden tests that hold it."""

    name: str
    tests: tuple[Change, ...]

    def sings(self, run: SuiteRun) -> bool:
        """Whether the suite with it says that it failed, in its results and by its exit code."""
        seen = [test.status for test in run.tests if self.name in test.id]
        failed = bool(seen) and all(status in ("failed", "error") for status in seen)
        return failed and run.state == "ok" and run.exit_code != 0


def canary_of(run: SuiteRun, tests: Iterable[Change]) -> Canary | None:
    """The canary for a suite that has run; null for a runner without one.

    Args:
        run: its results are what is in doubt.
        tests: the golden test files.
    """
    tests = tuple(tests)
    runner = adapt(run.suite, "result").runner or ""
    name = f"canary_{_digest(tests)}"
    changed = tuple(
        replace(test, content=test.content + text.format(name=name).encode())
        for test in tests
        if test.content is not None and (text := _text(runner, test))
    )
    return Canary(name, changed) if changed else None


def trusted(
    run: SuiteRun,
    tests: Sequence[Change],
    again: Callable[[Label, tuple[Change, ...]], SuiteRun],
) -> SuiteRun:
    """The run, or one without results if its runner does not say that a test has failed.

    Without a passing test, or with an ending that tells by itself, there is nothing to doubt. A
    canary that is silent on the golden state too (the command selects tests by name) tells
    nothing.

    Args:
        run: of the agent's tree.
        tests: the golden test files.
        again: runs the suite with these tests on the agent's tree, or on the golden state.
    """
    if run.state not in ("ok", "inconsistent") or all(one.status != "passed" for one in run.tests):
        return run
    canary = canary_of(run, tests)
    if canary is None or canary.sings(again("canary", canary.tests)):
        return run
    return without_trust(run) if canary.sings(again("canary-golden", canary.tests)) else run


def without_trust(run: SuiteRun) -> SuiteRun:
    """The run without its results, since they cannot be relied upon."""
    return replace(
        run, state="inconsistent", tests=(), errors=(SuiteError(None, None, _UNRELIABLE),)
    )


def _digest(tests: Iterable[Change]) -> str:
    return hashlib.sha256(b"\0".join(test.content or b"" for test in tests)).hexdigest()[:12]


def _text(runner: str, test: Change) -> str | None:
    if runner == "pytest":
        return _PYTEST if test.path.endswith(_PYTHON) else None
    if not test.path.endswith(_JAVASCRIPT):
        return None
    if runner == "node":
        is_script = test.path.endswith(b".cjs") or b"require(" in (test.content or b"")
        return _NODE_SCRIPT if is_script else _NODE_MODULE
    return {"vitest": _VITEST, "jest": _JEST}.get(runner)
