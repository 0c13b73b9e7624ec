"""The verification gate: the tests fail at base and pass with the golden patch."""

from nanobench.dataset.gates.findings import Findings
from nanobench.dataset.gates.states import Runs
from nanobench.model.task import Expected, Task
from nanobench.verify.expected import REMEDY, UntoldError, compute_expected, some


def verification_gate(base: Runs, golden: Runs, findings: Findings) -> Expected | None:
    """What the tests do on one run of each state; null if it does not tell the two apart."""
    try:
        return compute_expected(base, golden)
    except UntoldError as error:
        for reason in error.reasons:
            findings.add("suites", reason, REMEDY)
        return None


def check_written(task: Task, expected: Expected, findings: Findings) -> None:
    """The file's `expected` is what the tests do."""
    remedy = "write it with `nanobench task gate --write`; it is never written by hand"
    if task.expected is None:
        told = f"the file does not say which tests must pass; seen: {_summary(expected)}"
        findings.add("expected", told, remedy)
        return
    for kind in ("fail_to_pass", "pass_to_pass"):
        seen, stated = getattr(expected, kind), getattr(task.expected, kind)
        for suite in sorted(seen.keys() | stated.keys()):
            have, want = set(seen.get(suite, ())), set(stated.get(suite, ()))
            parts = (("seen, not stated", have - want), ("stated, not seen", want - have))
            told = "; ".join(f"{what}: {some(sorted(ids))}" for what, ids in parts if ids)
            if told:
                count = len(have ^ want)
                findings.add(f"expected.{kind}.{suite}", f"{count} tests differ: {told}", remedy)


def _summary(expected: Expected) -> str:
    targets = [test for suite in expected.fail_to_pass.values() for test in suite]
    others = sum(map(len, expected.pass_to_pass.values()))
    verb = "fails" if len(targets) == 1 else "fail"
    return f"{len(targets)} {verb} without the patch ({some(targets)}), {others} pass either way"
