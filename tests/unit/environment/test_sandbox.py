import errno
from collections.abc import Sequence

from nanobench.environment.limits import confinement
from nanobench.environment.sandbox import (
    Command,
    CommandResult,
    Mount,
    SandboxName,
    best_sandbox,
    first_working,
    probe_sandboxes,
)


class Scripted:
    name: SandboxName = "bubblewrap"
    fixed_paths = True
    isolates_network = True
    resources = confinement().told()

    def __init__(self, exit_code: int | None, launched: bool, says: str = "") -> None:
        self.result = CommandResult(exit_code, False, 0.0, launched)
        self.says = says

    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        command.stderr.write_text(self.says)
        return self.result


class Absent(Scripted):
    def run(self, command: Command, mounts: Sequence[Mount]) -> CommandResult:
        raise FileNotFoundError(errno.ENOENT, "no bwrap")


def test_first_candidate_that_runs_the_probe_is_chosen() -> None:
    broken, works = Scripted(None, False, "Can't mount proc\n"), Scripted(7, True)
    assert first_working([broken, Absent(7, True), works]) == (works, "")


def test_refusal_is_told_in_the_sandbox_s_own_words() -> None:
    chosen, problem = first_working([Scripted(None, False, "Can't mount proc\n")])
    assert chosen is None
    assert problem == "Can't mount proc"
    assert first_working([])[1] == "not installed"


def test_wrong_exit_code_is_no_proof_that_a_sandbox_works() -> None:
    assert first_working([Scripted(0, True)]) == (None, "the probe ended with 0")


def test_best_sandbox_is_the_first_that_works() -> None:
    working = [probe.sandbox for probe in probe_sandboxes() if probe.sandbox]
    assert best_sandbox() is working[0]
    assert [probe.name for probe in probe_sandboxes()] == ["bubblewrap", "namespaces", "none"]
