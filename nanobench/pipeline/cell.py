"""One cell: from a fresh workspace to a record, and nothing left behind (SPEC X1)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nanobench.agent.attachments import check_capability, is_image, offer_attachments
from nanobench.agent.trajectory import trajectory_signals
from nanobench.environment.cancel import cancelled
from nanobench.environment.protocol import Prepared
from nanobench.errors import InterruptedRunError, NanobenchError, StateError
from nanobench.files import write_atomic
from nanobench.model.plan import Cell, Plan
from nanobench.model.record import Record, Timing
from nanobench.model.signals import (
    AgentSignals,
    EditSignals,
    Signals,
    ToolSignals,
    TrajectorySignals,
    VerificationSignals,
)
from nanobench.model.task import Task
from nanobench.pipeline.acting import Acted, act
from nanobench.pipeline.bench import Bench
from nanobench.pipeline.edits import edit_signals
from nanobench.pipeline.keeping import keep_artifacts
from nanobench.pipeline.places import Places, places
from nanobench.pipeline.provenance import completion, provenance
from nanobench.pipeline.records import RECORD
from nanobench.pipeline.verifying import Verified, verify
from nanobench.pipeline.watch import Watch
from nanobench.scoring.judge import judge
from nanobench.workspace.diff import WorkspaceDiff, diff_workspace

_NOT_STARTED = AgentSignals(ending="not_started", exit_code=None, report="missing", report_bytes=0)


@dataclass
class Progressing:
    """What is known of the run so far; trouble can end it after any phase."""

    dependencies: Prepared | None = None
    acted: Acted | None = None
    diff: WorkspaceDiff | None = None
    verified: Verified | None = None
    troubles: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Phases:
    """Times each phase, shows it, and ends the run between two of them where that is due."""

    cell: Cell
    bench: Bench
    rooms: Places
    watch: Watch
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """One phase.

        Raises:
            InterruptedRunError: the run was cancelled.
            StateError: the directories are gone, so that nothing which the phase found counts.
            EndedByUserError: the user ended this run alone.
        """
        cancelled.check()
        self.watch.phase(name)
        self.bench.progress.phase(self.cell, name)
        before = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(time.monotonic() - before, 3)
            cancelled.check()
            self.rooms.check()
            self.watch.check()


def run_cell(cell: Cell, bench: Bench) -> Record:
    """Run one cell and keep its record.

    Trouble with the machine, a registry or the repository makes the record
    `infrastructure_error`, as does the user's wish to end this run; it never becomes a score.

    Raises:
        StateError: the state or output directory cannot be written.
        InterruptedRunError: the run was cancelled; nothing is kept.
    """
    started = datetime.now(UTC)
    run = Progressing()
    with (
        bench.store.attempt(cell) as (number, directory),
        places(bench.services.state.runs) as rooms,
    ):
        watch = Watch(directory, rooms.root)
        phases = Phases(cell, bench, rooms, watch)
        with _troubles(run), watch:
            _work(run, phases, directory)
        with phases.phase("judge"):
            signals = _signals(cell, bench, run)
            verdict = judge(signals, bench.plan.ruleset)
        artifacts = keep_artifacts(directory, run.acted, run.diff)
        record = Record(
            cell=cell,
            attempt=number,
            provenance=provenance(cell, bench, run.dependencies, run.acted),
            signals=signals,
            verdict=verdict,
            completion=completion(signals, run.acted, run.verified, artifacts.names),
            agent_patch_sha256=artifacts.patch_sha256,
            timing=Timing(
                started_at=started,
                phases_seconds=phases.seconds,
                install_seconds=run.dependencies.install_seconds if run.dependencies else None,
            ),
        )
        write_atomic(directory / RECORD, record.to_json())
    bench.progress.done(cell, record)
    return record


def _work(run: Progressing, phases: Phases, directory: Path) -> None:
    """All that can meet trouble; what was reached stands in `run`."""
    cell, bench, rooms = phases.cell, phases.bench, phases.rooms
    with phases.phase("prepare"):
        material = bench.material(cell.task_id)
        check_capability(material.task, bench.plan.agent.nanocoder)
        run.dependencies = dependencies = bench.environment(cell.task_id)
    with phases.phase("agent"):
        run.acted = act(cell, material, dependencies, rooms, bench, phases.watch)
    with phases.phase("diff"):
        run.diff = diff_workspace(
            rooms.agent_workspace,
            material.snapshot,
            rooms.scratch,
            hidden=run.acted.hidden,
            residue=run.acted.residue,
        )
    with phases.phase("verify"):
        run.verified = verify(material, dependencies, run.diff, rooms, directory)


@contextmanager
def _troubles(run: Progressing) -> Iterator[None]:
    """Note what ended the phases early; a full disk and Ctrl-C end the whole bench instead."""
    try:
        yield
    except (StateError, InterruptedRunError):
        raise
    except NanobenchError as error:
        run.troubles.append(": ".join(filter(None, (error.what, error.where))))


def _signals(cell: Cell, bench: Bench, run: Progressing) -> Signals:
    task = bench.tasks[cell.task_id].task
    outcome = run.acted.outcome if run.acted else None
    return Signals(
        mode=cell.mode,
        required_files=task.required_files,
        agent=outcome.signals if outcome else _NOT_STARTED,
        tools=outcome.tools if outcome else ToolSignals(),
        trajectory=_trajectory(run.acted, task, bench.plan) if run.acted else TrajectorySignals(),
        edits=edit_signals(run.diff, outcome, run.verified, task.required_files)
        if outcome
        else EditSignals(source="diff", reported=None),
        verification=run.verified.signals
        if run.verified
        else VerificationSignals(possible=False, impossible_because="it was not reached"),
        infrastructure=tuple(run.troubles) + (run.verified.troubles if run.verified else ()),
    )


def _trajectory(acted: Acted, task: Task, plan: Plan) -> TrajectorySignals:
    given = offer_attachments(task, plan.agent.nanocoder).given
    return trajectory_signals(
        acted.outcome.report,
        acted.exchanges,
        acted.outcome.signals.ending,
        acted.run.workspace,
        images_given=any(is_image(one) for one in given),
    )
