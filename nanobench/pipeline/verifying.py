"""The verification of a cell: a tree the agent never touched, and the target's own tests."""

from dataclasses import dataclass
from pathlib import Path

from nanobench.environment.protocol import Prepared
from nanobench.model.record import CommandSummary
from nanobench.model.signals import VerificationSignals
from nanobench.pipeline.bench import Material
from nanobench.pipeline.places import Places
from nanobench.pipeline.store import OUTPUTS
from nanobench.verify.assess import assess, verification_signals
from nanobench.verify.canary import Label, trusted
from nanobench.verify.outputs import OutputStore
from nanobench.verify.protection import protection
from nanobench.verify.suites import Purpose, SuiteRun, run_suites
from nanobench.verify.suspicion import suspicious_words
from nanobench.verify.symbols import SymbolContext
from nanobench.verify.tree import TreeReport, build_tree
from nanobench.workspace.changes import Change, apply_changes
from nanobench.workspace.diff import WorkspaceDiff


@dataclass(frozen=True)
class Verified:
    """The tests' signals, what was not taken over from the agent, and what was run.

    `suspect`: see `suspicious_words`.
    """

    signals: VerificationSignals
    tree: TreeReport
    troubles: tuple[str, ...]
    commands: tuple[CommandSummary, ...]
    suspect: tuple[str, ...] = ()


def verify(
    material: Material, dependencies: Prepared, diff: WorkspaceDiff, rooms: Places, directory: Path
) -> Verified:
    """Run all suites on base, agent's changes and golden tests; outputs go to `directory`.

    Raises:
        NanobenchError: the tree cannot be built or a suite cannot be started.
    """
    lab = Lab(material, dependencies, rooms, OutputStore(directory / OUTPUTS))
    tree, runs = lab.run("verify", diff.changes, Purpose("suite"))
    suspect = _suspicious_words(material, diff)
    checks: list[SuiteRun] = []
    if suspect:
        runs = tuple(_checked(run, diff.changes, lab, checks) for run in runs)

    def control(name: str) -> SuiteRun:
        purpose = Purpose("control", frozenset({name}))
        _, (run,) = lab.run(f"control-{name}", material.golden.changes, purpose)
        checks.append(run)
        return run

    assessment = assess(material.task, runs, control)
    context = SymbolContext(
        snapshot=material.snapshot,
        required_files=material.task.required_files,
        golden=material.golden.changes,
        agent=diff.changes,
    )
    return Verified(
        signals=verification_signals(assessment, context),
        tree=tree,
        troubles=assessment.infrastructure,
        commands=tuple(run.summary for run in (*runs, *checks)),
        suspect=suspect,
    )


def _suspicious_words(material: Material, diff: WorkspaceDiff) -> tuple[str, ...]:
    snapshot, guard = material.snapshot, protection(material.task, material.golden.changes)
    held = [change.path for change in diff.changes if change.path in snapshot.entries]
    return suspicious_words(diff.changes, snapshot.blobs(held), guard)


def _checked(
    run: SuiteRun, changes: tuple[Change, ...], lab: "Lab", checks: list[SuiteRun]
) -> SuiteRun:
    """The run, without its results if its runner cannot be trusted; `checks` get what it took."""
    golden, trees = lab.material.golden.changes, {"canary": changes}
    guard = protection(lab.material.task, golden)

    def again(label: Label, tests: tuple[Change, ...]) -> SuiteRun:
        purpose = Purpose(label, frozenset({run.suite.name}))
        tree = trees.get(label, golden)
        _, (check,) = lab.run(f"{label}-{run.suite.name}", tree, purpose, tests=tests)
        checks.append(check)
        return check

    return trusted(run, [change for change in golden if guard.covers(change.path)], again)


@dataclass(frozen=True)
class Lab:
    """Runs the suites of a task on trees of its own making."""

    material: Material
    dependencies: Prepared
    rooms: Places
    outputs: OutputStore

    def run(
        self,
        name: str,
        changes: tuple[Change, ...],
        purpose: Purpose,
        tests: tuple[Change, ...] = (),
    ) -> tuple[TreeReport, tuple[SuiteRun, ...]]:
        """Build base + changes + golden tests in a fresh workspace and run suites there.

        `tests` go over the golden ones.

        Raises:
            NanobenchError: the tree cannot be built or a suite cannot be started.
        """
        workspace, run_dir = self.rooms.verification(name)
        material = self.material
        tree = build_tree(material.snapshot, workspace, changes, material.golden, material.task)
        apply_changes(workspace, tests)
        with self.dependencies.open(workspace, run_dir) as room:
            return tree, run_suites(room, material.task, run_dir, self.outputs, purpose)
